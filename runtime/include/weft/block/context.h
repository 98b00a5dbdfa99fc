// The contexts that a block sees: PlanContext while its plan is made, RunContext (or ProduceContext) while it runs, BindContext when it
// finds its state. A plan cannot write an output and a run cannot set a shape: these classes make it impossible. A context is used by one
// thread at a time and is valid during the call it is passed to; so are the spans and references it gives.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "weft/block/attr.h"
#include "weft/block/port.h"
#include "weft/block/services.h"

namespace weft {

struct BlockDef;

/// What the page declares of a variable, independent of its value.
struct VariableInfo {
  PartialShape declared;  // the shapes it may take; an update may change it (validate_shape = false)
  std::string temporary;  // the name of a TemporaryVariable; empty for others
};

/// What is known of one input value when Plan is called.
struct InputInfo {
  DType dtype = DType::kInvalid;
  const Shape* shape = nullptr;   // known when Plan is called; null only for a variable without a value (MayBeUninitialized)
  const Tensor* value = nullptr;  // known for ports that the block declares in ShapedBy
  const VariableInfo* variable = nullptr;  // of references; null where there is no page (a block tested alone)
};

/// The signature of one block: inputs in port order, list ports expanded. `in_first[p]` is the first value of port p, in_first[ports] the
/// number of values; the same for outputs.
struct BlockSignature {
  std::span<const InputInfo> inputs;
  std::span<const DType> outputs;
  std::span<const uint32_t> in_first;
  std::span<const uint32_t> out_first;
};

/// What the Plan of a block set.
struct PlannedShapes {
  std::vector<Shape> outputs;           // by output value; unset ones stay scalars
  std::vector<bool> unknown;            // outputs whose shape depends on data (ProduceContext); empty where there are none
  std::vector<PartialShape> partial;    // what is known of those; empty where there are none
  std::vector<std::pair<uint32_t, Shape>> variables;  // input value -> new shape of its variable, where an update changes it
  int64_t scratch_bytes = 0;            // 0: no scratch memory
};

/// What Plan reads (types, shapes, attributes) and sets (output shapes, scratch memory).
class PlanContext {
 public:
  PlanContext(const BlockDef& def, std::span<const AttrValue> attrs, const BlockSignature& signature);

  template <InputPort P>
  DType dtype(const P&, int k = 0) const { return input(P::index, k).dtype; }
  template <OutputPort P>
  DType dtype(const P&, int k = 0) const { return signature_.outputs[signature_.out_first[P::index] + k]; }
  template <InputPort P>
  const Shape& shape(const P&, int k = 0) const { return *input(P::index, k).shape; }
  /// False for a variable that has neither a value nor a shape yet; only where the block says MayBeUninitialized.
  template <int I>
  bool has_shape(const RefIn<I>&) const { return input(I, 0).shape != nullptr; }
  /// What the page declares of a variable.
  template <int I>
  VariableInfo variable(const RefIn<I>&) const { return VariableOf(input(I, 0)); }
  /// How many values a list port has (1 for others).
  template <InputPort P>
  int count(const P&) const { return static_cast<int>(signature_.in_first[P::index + 1] - signature_.in_first[P::index]); }
  template <OutputPort P>
  int count(const P&) const { return static_cast<int>(signature_.out_first[P::index + 1] - signature_.out_first[P::index]); }

  /// The value of an input that the block declares in ShapedBy.
  template <InputPort P>
  const Tensor& value(const P&, int k = 0) const { return *input(P::index, k).value; }
  /// Its elements as integers, where it is of an integer type.
  template <InputPort P>
  std::vector<int64_t> ints(const P& port, int k = 0) const { return IntsOf(value(port, k)); }

  template <class V>
  V attr(const Attr<V>& a) const { return AttrAs<V>(attr_value(a.name)); }
  /// std::monostate for an inferred attribute that was not given.
  const AttrValue& attr_value(std::string_view name) const;
  /// What a type attribute stands for: its value, or the type of the first port that carries it.
  DType type(std::string_view type_attr) const;

  /// An output that is neither set nor set_unknown is a scalar.
  template <OutputPort P>
  void set(const P&, Shape shape, int k = 0) { SetShape(signature_.out_first[P::index] + k, std::move(shape)); }
  /// A reference output may be missing: the block's resource variant has none.
  template <int I, int Of>
  void set(const RefOut<I, Of>&, Shape shape) {
    if (I + 1 < signature_.out_first.size()) planned_.outputs[signature_.out_first[I]] = std::move(shape);
  }
  /// For sizes that came from data: invalid_argument where they are no valid shape, placed at `blame`.
  template <OutputPort P, class B>
  Status set_checked(const P& port, std::span<const int64_t> dims, const B& blame, int k = 0) {
    auto shape = Shape::Make(dims);
    if (!shape.ok()) return std::move(shape).status().WithPort(blame.name);
    set(port, std::move(*shape), k);
    return {};
  }
  /// For Producer blocks: the shape depends on data.
  template <OutputPort P>
  void set_unknown(const P&, int k = 0, PartialShape partial = {}) { SetUnknown(signature_.out_first[P::index] + k, std::move(partial)); }
  /// The shape that an update gives to the variable of a reference input, where it is not the one it has.
  template <int I>
  void set_variable(const RefIn<I>&, Shape shape) { planned_.variables.emplace_back(signature_.in_first[I], std::move(shape)); }

  /// Requests memory that Run gets as ctx.scratch(): aligned to 64 bytes, uninitialised, shared with other blocks between runs.
  void set_scratch(int64_t bytes) { planned_.scratch_bytes = bytes; }

  /// invalid_argument at a port or attribute: Error(value, "needs rank 2 or more, found ", shape).
  template <class P, class... Parts>
  Status Error(const P& port, const Parts&... parts) const { return ErrorOf(Code::kInvalidArgument, port, parts...); }
  template <class P, class... Parts>
  Status ErrorOf(Code code, const P& port, const Parts&... parts) const { return Status(code, Cat(parts...)).WithPort(port.name); }

  const PlannedShapes& planned() const { return planned_; }
  PlannedShapes&& take_planned() { return std::move(planned_); }
  const BlockDef& def() const { return def_; }

 private:
  const InputInfo& input(int port, int k) const { return signature_.inputs[signature_.in_first[port] + k]; }
  static std::vector<int64_t> IntsOf(const Tensor& tensor);
  static VariableInfo VariableOf(const InputInfo& input);
  void SetShape(uint32_t output, Shape shape);
  void SetUnknown(uint32_t output, PartialShape partial);

  const BlockDef& def_;
  std::span<const AttrValue> attrs_;
  const BlockSignature& signature_;
  PlannedShapes planned_;
};

/// One value during a run. Owns nothing: the executor keeps the memory while a step may read or write it.
struct Value {
  void* data = nullptr;
  int64_t count = 0;
  const Shape* shape = nullptr;
  bool dead = false;  // a Switch did not send it
};

/// What the executor sets before each step; blocks read it through RunContext. Tables are indexed by value, list ports expanded; in_first[p]
/// is the first value of input port p, in_first[ports] the number of input values, and out_first the same for outputs.
struct StepFrame {
  Value* values = nullptr;            // by slot
  const uint32_t* inputs = nullptr;   // slot of each input value
  const uint32_t* outputs = nullptr;  // slot of each output value
  const uint32_t* in_first = nullptr;
  const uint32_t* out_first = nullptr;
  Value* updates = nullptr;  // by input value: the new elements of its variable
  std::byte* scratch_data = nullptr;
  int64_t scratch_bytes = 0;
  const ResourceHandle* resource = nullptr;  // the block's state
  const Services* services = nullptr;
};

/// What a block sees while it runs. Small, so that the executor sets one up again for each step.
class RunContext : private StepFrame {
 public:
  RunContext() = default;
  explicit RunContext(const StepFrame& frame) : StepFrame(frame) {}
  /// For the engine, not for blocks: what the next step uses.
  friend StepFrame& FrameOf(RunContext& ctx) { return ctx; }
  friend const StepFrame& FrameOf(const RunContext& ctx) { return ctx; }

  /// The elements of an input; T is the storage type of its dtype. (std::byte gives the address of the first and the number of elements.)
  template <class T, InputPort P>
  std::span<const T> in(const P&, int k = 0) const { return Span<const T>(in_value(P::index, k)); }
  template <class T, OutputPort P>
  std::span<T> out(const P&, int k = 0) const { return Span<T>(out_value(P::index, k)); }
  template <InputPort P>
  const Shape& shape(const P&, int k = 0) const { return *in_value(P::index, k).shape; }
  template <InputPort P>
  int count(const P&) const { return static_cast<int>(in_first[P::index + 1] - in_first[P::index]); }
  template <OutputPort P>
  int count(const P&) const { return static_cast<int>(out_first[P::index + 1] - out_first[P::index]); }

  /// The variable's new elements, to be written in full; in() keeps giving the present ones. They become the variable's value when the
  /// run succeeds, and at once that of its RefOut.
  template <class T, int I>
  std::span<T> update(const RefIn<I>&) const { return Span<T>(updates[in_first[I]]); }

  /// False for a variable without a value; only where the block says MayBeUninitialized.
  template <int I>
  bool has_value(const RefIn<I>&) const { return HasElements(in_value(I, 0)); }

  /// The memory that Plan asked for.
  template <class T = std::byte>
  std::span<T> scratch() const { return {reinterpret_cast<T*>(scratch_data), static_cast<size_t>(scratch_bytes) / sizeof(T)}; }

  /// The state that the block's Bind gave; S must be what it gave.
  template <class S>
  S& state() const { return *static_cast<S*>(resource->get()); }
  const ResourceHandle& state_handle() const { return *resource; }

  /// The resource behind a DT_RESOURCE input. failed_precondition for a handle of nothing, invalid_argument for one of another kind.
  template <class S, InputPort P>
  Result<S*> Find(const P& port) const {
    const ResourceHandle& handle = in<ResourceHandle>(port)[0];
    if (!handle) return FailedPrecondition("needs a handle, found none").WithPort(port.name);
    S* found = dynamic_cast<S*>(handle.get());
    if (found == nullptr) return InvalidArgument("needs a ", S::kKind, ", found a ", handle->kind()).WithPort(port.name);
    return found;
  }

  Workers& workers() const { return *services->workers; }
  Log& log() const { return *services->log; }
  /// Of the page; null: no limit. For memory that grows with the values of inputs: the engine counts that of outputs.
  const std::shared_ptr<MemoryBudget>& budget() const { return services->budget; }
  /// Whether the run was cancelled or is past its deadline: asked by kernels with more than some milliseconds of work between two tasks of
  /// their loops. Outputs of such a run are discarded.
  bool cancelled() const { return services->workers->Stopped(); }

  /// A failure that only data can show, at a port: Error(indices, Code::kOutOfRange, ...).
  template <class P, class... Parts>
  Status Error(const P& port, const Parts&... parts) const { return InvalidArgument(parts...).WithPort(port.name); }
  template <class P, class... Parts>
  Status ErrorOf(Code code, const P& port, const Parts&... parts) const { return Status(code, Cat(parts...)).WithPort(port.name); }

 private:
  const Value& in_value(int port, int k) const { return values[inputs[in_first[port] + k]]; }
  const Value& out_value(int port, int k) const { return values[outputs[out_first[port] + k]]; }
  static bool HasElements(const Value& v) { return v.data != nullptr || (v.shape != nullptr && v.shape->count() == 0); }
  template <class T>
  static std::span<T> Span(const Value& v) { return {static_cast<T*>(v.data), static_cast<size_t>(v.count)}; }
};

/// For blocks whose output shapes depend on data (a queue's element, the records of a file): outputs are emitted as tensors.
class ProduceContext {
 public:
  ProduceContext(const RunContext& run, std::span<Tensor> emitted) : run_(run), emitted_(emitted) {}

  template <class T, InputPort P>
  std::span<const T> in(const P& port, int k = 0) const { return run_.in<T>(port, k); }
  template <InputPort P>
  const Shape& shape(const P& port, int k = 0) const { return run_.shape(port, k); }
  template <class P>
  int count(const P& port) const { return run_.count(port); }
  template <class S>
  S& state() const { return run_.state<S>(); }
  const ResourceHandle& state_handle() const { return run_.state_handle(); }
  template <class S, InputPort P>
  Result<S*> Find(const P& port) const { return run_.Find<S>(port); }
  const Services& services() const { return *FrameOf(run_).services; }
  const Files& files() const { return *services().files; }
  Workers& workers() const { return run_.workers(); }
  bool cancelled() const { return run_.cancelled(); }

  /// A tensor to fill and emit, within the memory limit.
  Result<Tensor> Allocate(DType dtype, Shape shape) const { return Tensor::Allocate(dtype, std::move(shape), services().budget); }
  /// The input as a tensor of its own: a copy, since input memory is reused after the step. cancelled where the run is to end.
  template <InputPort P>
  Result<Tensor> Copy(const P&, DType dtype, int k = 0) const {
    const StepFrame& frame = FrameOf(run_);
    return CopyOf(frame.values[frame.inputs[frame.in_first[P::index] + k]], dtype);
  }

  /// The output's value. The tensor's memory must not be written afterwards.
  template <OutputPort P>
  void Emit(const P&, Tensor tensor, int k = 0) { emitted_[FrameOf(run_).out_first[P::index] + k] = std::move(tensor); }

  template <class P, class... Parts>
  Status Error(const P& port, const Parts&... parts) const { return run_.Error(port, parts...); }
  template <class P, class... Parts>
  Status ErrorOf(Code code, const P& port, const Parts&... parts) const { return run_.ErrorOf(code, port, parts...); }

 private:
  Result<Tensor> CopyOf(const Value& value, DType dtype) const;

  const RunContext& run_;
  std::span<Tensor> emitted_;
};

/// Finds or makes a block's state in the page's scope, which owns it. Called before the block's first run in a scope, not in every run.
class BindContext {
 public:
  using Factory = std::function<Result<ResourceHandle>()>;
  virtual ~BindContext() = default;
  /// State of this block alone.
  virtual Result<ResourceHandle> Own(const Factory& make) = 0;
  /// State that blocks of one `container` and `shared_name` share; an empty shared_name means the block's id.
  virtual Result<ResourceHandle> Shared(std::string_view container, std::string_view shared_name, const Factory& make) = 0;
};

}  // namespace weft
