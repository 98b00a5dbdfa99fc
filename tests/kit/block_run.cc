#include "tests/kit/block_run.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/state/thread_pool.h"
#include "tests/kit/test_services.h"

namespace weft::kit {
namespace {

TestWorkers& WorkersWith(int threads) {
  static TestWorkers one(1), two(2), five(5);
  return threads == 1 ? one : threads == 2 ? two : five;
}

/// The memory and the contexts of one run.
class Run {
 public:
  Run(const PlannedCase& planned, const RunOptions& options) : planned_(planned), options_(options), def_(planned.def), files_(options.folder) {}

  BlockResult operator()() {
    BlockResult result;
    MakeInputs();
    result.status = MakeOutputs();
    if (result.status.ok()) result.status = GuardedBuffer::CheckSize(DType::kUInt8, Shape{planned_.shapes.scratch_bytes}, options_.memory_limit);
    if (result.status.ok()) result.status = Compute();
    Status memory = CheckMemory();
    if (!memory.ok()) result.status = std::move(memory);
    result.log = log_.text();
    if (result.status.ok()) result.status = Collect(result);
    return result;
  }

 private:
  bool updates(int port) const { return std::ranges::find(def_.updates, port) != def_.updates.end(); }
  size_t input_count() const { return planned_.inputs.size(); }
  std::string OutputName(size_t value) const {
    size_t port = 0;
    while (planned_.types.out_first[port + 1] <= value) ++port;
    const PortSpec& spec = def_.outputs[port];
    return spec.list == PortList::kSingle ? spec.name : Cat(spec.name, "[", value - planned_.types.out_first[port], "]");
  }
  const PortSpec& OutputPort(size_t value) const {
    size_t port = 0;
    while (planned_.types.out_first[port + 1] <= value) ++port;
    return def_.outputs[port];
  }

  void MakeInputs() {
    for (size_t i = 0; i < input_count(); ++i) {
      input_memory_.push_back(std::make_unique<GuardedBuffer>(planned_.inputs[i]));
      values_.push_back({input_memory_[i]->data(), planned_.inputs[i].count(), &planned_.inputs[i].shape()});
      slots_.push_back(static_cast<uint32_t>(i));
    }
    updates_.resize(input_count());
    update_memory_.resize(input_count());
    for (size_t i = 0; i < input_count(); ++i) {
      if (!updates(planned_.input_port[i])) continue;
      update_shapes_.push_back(std::make_unique<Shape>(planned_.inputs[i].shape()));
      for (const auto& [value, shape] : planned_.shapes.variables) {
        if (value == i) *update_shapes_.back() = shape;
      }
      const Shape& shape = *update_shapes_.back();
      update_memory_[i] = std::make_unique<GuardedBuffer>(planned_.inputs[i].dtype(), shape, options_.fill);
      updates_[i] = {update_memory_[i]->data(), shape.count(), &shape};
    }
  }

  Status MakeOutputs() {
    size_t count = planned_.types.outputs.size();
    output_memory_.resize(count);
    const bool chooses = def_.flow == Flow::kSelect || def_.flow == Flow::kMerge;  // the output is the input's memory
    if (planned_.block.produce == nullptr && !chooses && std::ranges::find(planned_.shapes.unknown, true) != planned_.shapes.unknown.end()) {
      return Internal("the plan left the shape of an output open, and the block is no producer");
    }
    for (size_t i = 0; i < count; ++i) {
      slots_.push_back(static_cast<uint32_t>(values_.size()));
      const Shape& shape = planned_.shapes.outputs[i];
      const PortSpec& port = OutputPort(i);
      if (port.reference_of >= 0) {
        uint32_t var = planned_.types.in_first[port.reference_of];
        values_.push_back(update_memory_[var] ? updates_[var] : values_[var]);
      } else if (i == 0 && options_.overlap >= 0) {
        values_.push_back({input_memory_[options_.overlap]->data(), shape.count(), &shape});
      } else if (planned_.block.produce != nullptr) {
        values_.push_back({});
      } else {
        WEFT_RETURN_IF_ERROR(GuardedBuffer::CheckSize(planned_.types.outputs[i], shape, options_.memory_limit).WithPort(port.name));
        output_memory_[i] = std::make_unique<GuardedBuffer>(planned_.types.outputs[i], shape, options_.fill);
        values_.push_back({output_memory_[i]->data(), shape.count(), &shape});
      }
    }
    return {};
  }

  RunContext MakeContext() {
    StepFrame frame;
    frame.values = values_.data();
    frame.inputs = slots_.data();
    frame.outputs = slots_.data() + input_count();
    frame.in_first = planned_.types.in_first.data();
    frame.out_first = planned_.types.out_first.data();
    frame.updates = updates_.data();
    frame.scratch_bytes = planned_.shapes.scratch_bytes;
    scratch_ = std::make_unique<GuardedBuffer>(DType::kUInt8, Shape{std::max<int64_t>(frame.scratch_bytes, 0)}, options_.fill);
    frame.scratch_data = static_cast<std::byte*>(scratch_->data());
    frame.resource = &resource_;
    frame.services = &services_;
    return RunContext(frame);
  }

  Status Compute() {
    TestWorkers& workers = WorkersWith(options_.threads);
    workers.set_backwards(options_.backwards);
    services_ = {&workers, &files_, &waiter_, &log_, std::make_shared<MemoryBudget>(options_.memory_limit)};
    RunContext ctx = MakeContext();
    const void* parameters = planned_.block.parameters.get();
    FlushDenormals flush;
    if (planned_.block.bind != nullptr) {
      WEFT_ASSIGN_OR_RETURN(resource_, planned_.block.bind(parameters, state_));
    }
    if (planned_.block.produce != nullptr) {
      emitted_.resize(planned_.types.outputs.size());
      ProduceContext produce(ctx, emitted_);
      WEFT_RETURN_IF_ERROR(planned_.block.produce(parameters, produce));
      return CheckEmitted();
    }
    if (planned_.block.run != nullptr) return planned_.block.run(parameters, ctx);
    return MoveByFlow();
  }

  /// What the executor does for blocks without a function of their own.
  Status MoveByFlow() {
    auto copy = [&](size_t input, size_t output) {
      const Value &from = values_[input], &to = values_[input_count() + output];
      DType dtype = planned_.types.outputs[output];
      int64_t bytes = from.count * static_cast<int64_t>(ElementSize(planned_.inputs[input].dtype()));
      if (bytes != to.count * static_cast<int64_t>(ElementSize(dtype))) return Internal("the plan's shape has another size than the input");
      if (OutputPort(output).reference_of < 0) CopyElements(dtype, from.data, to.data, to.count);
      return Status();
    };
    switch (def_.flow) {
      case Flow::kForward:
      case Flow::kEnter:
      case Flow::kExit:
      case Flow::kNextIteration: return copy(0, 0);
      case Flow::kSwitch: {
        size_t sent = planned_.inputs[1].values<bool>()[0] ? 1 : 0;
        values_[input_count() + 1 - sent].dead = true;
        return copy(0, sent);
      }
      case Flow::kMerge:
        *static_cast<int32_t*>(values_[input_count() + 1].data) = 0;
        values_[input_count()] = values_[0];
        return {};
      case Flow::kSelect: {
        int64_t chosen = planned_.inputs[0].values<int32_t>()[0], count = static_cast<int64_t>(input_count()) - 1;
        if (chosen < 0 || chosen >= count) return InvalidArgument("needs an index of 0 to ", count - 1, ", found ", chosen).WithPort("index");
        values_[input_count()] = values_[static_cast<size_t>(chosen) + 1];
        return {};
      }
      case Flow::kPlain: break;
    }
    if (planned_.types.outputs.empty()) return {};
    return Internal("the plan chose no function to run");
  }

  Status CheckEmitted() const {
    for (size_t i = 0; i < emitted_.size(); ++i) {
      if (OutputPort(i).reference_of >= 0) continue;
      const Tensor& tensor = emitted_[i];
      if (!tensor.defined()) return Internal("the block emitted nothing").WithPort(OutputName(i));
      if (tensor.dtype() != planned_.types.outputs[i]) return Internal("the block emitted ", tensor.dtype()).WithPort(OutputName(i));
      bool unknown = i < planned_.shapes.unknown.size() && planned_.shapes.unknown[i];
      PartialShape promised = unknown ? planned_.shapes.partial[i] : PartialShape(planned_.shapes.outputs[i]);
      if (!promised.Accepts(tensor.shape())) {
        return Internal("the plan promised ", promised, ", the block emitted ", tensor.shape()).WithPort(OutputName(i));
      }
    }
    return {};
  }

  Status CheckMemory() const {
    for (size_t i = 0; i < input_count(); ++i) {
      const std::string& name = def_.inputs[planned_.input_port[i]].name;
      if (!input_memory_[i]->intact()) return Internal("the memory round the input was overwritten").WithPort(name);
      bool same = static_cast<int>(i) == options_.overlap || SameBits(input_memory_[i]->view(), planned_.inputs[i]);
      if (!same) return Internal("the input was overwritten").WithPort(name);
      if (update_memory_[i] && !update_memory_[i]->intact()) return Internal("the memory round the update was overwritten").WithPort(name);
    }
    for (size_t i = 0; i < output_memory_.size(); ++i) {
      if (output_memory_[i] && !output_memory_[i]->intact()) return Internal("the memory round the output was overwritten").WithPort(OutputName(i));
    }
    if (scratch_ && !scratch_->intact()) return Internal("the memory round the scratch was overwritten");
    return {};
  }

  /// Copies what outlives the run.
  Status Collect(BlockResult& result) const {
    for (size_t i = 0; i < planned_.types.outputs.size(); ++i) {
      const Value& value = values_[input_count() + i];
      if (value.dead) continue;
      bool emitted = planned_.block.produce != nullptr && OutputPort(i).reference_of < 0;
      Tensor tensor = emitted ? emitted_[i] : Tensor::View(planned_.types.outputs[i], *value.shape, value.data, nullptr);
      WEFT_ASSIGN_OR_RETURN(result.outputs[OutputName(i)], tensor.Clone());
    }
    for (size_t i = 0; i < input_count(); ++i) {
      const PortSpec& port = def_.inputs[planned_.input_port[i]];
      if (port.kind != PortKind::kReference) continue;
      uint32_t first = planned_.types.in_first[planned_.input_port[i]];
      std::string name = port.list == PortList::kSingle ? port.name : Cat(port.name, "[", i - first, "]");
      WEFT_ASSIGN_OR_RETURN(result.variables[name], (update_memory_[i] ? update_memory_[i] : input_memory_[i])->view().Clone());
    }
    return {};
  }

  const PlannedCase& planned_;
  const RunOptions& options_;
  const BlockDef& def_;

  std::vector<std::unique_ptr<GuardedBuffer>> input_memory_, update_memory_, output_memory_;
  std::unique_ptr<GuardedBuffer> scratch_;
  std::vector<std::unique_ptr<Shape>> update_shapes_;
  std::vector<Value> values_, updates_;
  std::vector<uint32_t> slots_;
  std::vector<Tensor> emitted_;

  ResourceHandle resource_;
  TestFiles files_;
  TestWaiter waiter_;
  TestLog log_;
  TestState state_;
  Services services_;
};

}  // namespace

BlockResult RunOnce(const PlannedCase& planned, const RunOptions& options) { return Run(planned, options)(); }

}  // namespace weft::kit
