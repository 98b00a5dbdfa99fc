// Shared by plan, run and gradient calls of host blocks: ports by index, failures, attributes as C structs.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capi/dtypes.h"
#include "runtime/capi/host_block.h"
#include "runtime/state/host_call.h"

namespace weft::capi {

// Calls f with a port constant of a run-time index, since contexts take ports as types.

template <class R, template <int> class Port, class F, int... I>
R AtPort(int port, F&& f, std::integer_sequence<int, I...>) {
  R result{};
  (void)((port == I ? (result = f(Port<I>{}), true) : false) || ...);
  return result;
}
template <class R, class F>
R AtInput(int port, F&& f) {
  return AtPort<R, In>(port, std::forward<F>(f), std::make_integer_sequence<int, kMostHostPorts>());
}
template <class R, class F>
R AtOutput(int port, F&& f) {
  return AtPort<R, Out>(port, std::forward<F>(f), std::make_integer_sequence<int, kMostHostPorts>());
}

/// The values of a block's ports, lists expanded, and where those of each port begin.
template <class Value>
struct PortValues {
  std::vector<Value> inputs, outputs;
  std::vector<uint32_t> in_first{0}, out_first{0};

  /// Fills in input(port, k) and output(port, k) for every value that `context` has.
  template <class Context, class Input, class Output>
  void Read(const BlockDef& def, const Context& context, const Input& input, const Output& output) {
    for (int p = 0; p < static_cast<int>(def.inputs.size()); ++p) {
      const int count = AtInput<int>(p, [&](auto at) { return context.count(at); });
      for (int k = 0; k < count; ++k) inputs.push_back(input(p, k));
      in_first.push_back(static_cast<uint32_t>(inputs.size()));
    }
    for (int p = 0; p < static_cast<int>(def.outputs.size()); ++p) {
      const int count = AtOutput<int>(p, [&](auto at) { return context.count(at); });
      for (int k = 0; k < count; ++k) outputs.push_back(output(p, k));
      out_first.push_back(static_cast<uint32_t>(outputs.size()));
    }
  }
};

/// The failure that a callback reported. Thread-safe: tasks of one run may fail at the same time; the first failure is kept.
class Failure {
 public:
  int32_t Set(int32_t code, const char* port, const char* message, const char* hint) noexcept {
    if (code <= WEFT_OK || code > WEFT_INTERNAL) code = WEFT_INTERNAL;
    try {
      Status status(static_cast<Code>(code), message == nullptr ? "the block failed" : message);
      return Set(std::move(status).WithPort(port == nullptr ? "" : port).WithHint(hint == nullptr ? "" : hint));
    } catch (...) {
      return WEFT_RESOURCE_EXHAUSTED;
    }
  }
  int32_t Set(Status status) {
    std::lock_guard lock(mutex_);
    const int32_t code = CodeOf(status);
    if (status_.ok()) status_ = std::move(status);
    return code;
  }
  /// The code of the failure; WEFT_OK for none. Not while callbacks may run.
  int32_t code() const { return CodeOf(status_); }
  /// The status for a function that returned `code`: the recorded failure, where it has that code, or where the function overlooked it.
  Status Take(int32_t code) {
    if (code == WEFT_OK) return std::move(status_);
    if (CodeOf(status_) == code) return std::move(status_);
    if (code < WEFT_OK || code > WEFT_INTERNAL) return Internal("the block returned ", code, ", which is no status");
    return Status(static_cast<Code>(code), Cat("the block failed with ", CodeName(static_cast<Code>(code)), " and said no more"));
  }

 private:
  std::mutex mutex_;
  Status status_;
};

/// Values of attributes as C structs, and the memory they point to.
class AttrTable {
 public:
  /// `value(name)` is the value of an attribute, `type(name)` the type of a type attribute.
  template <class Value, class Type>
  AttrTable(const BlockDef& def, const Value& value, const Type& type) : storage_(def.attrs.size()) {
    for (size_t i = 0; i < def.attrs.size(); ++i) {
      const AttrSpec& spec = def.attrs[i];
      Add(spec, value(spec.name), spec.type == AttrType::kType ? type(spec.name) : DType::kInvalid, storage_[i]);
    }
  }
  const std::vector<weft_attr_value>& values() const { return values_; }

 private:
  struct Storage {
    std::string text, string;
    std::vector<int64_t> list;
    std::vector<double> reals;
  };

  void Add(const AttrSpec& spec, const AttrValue& value, DType type, Storage& storage) {
    weft_attr_value out = {spec.name.c_str(), "", 0, 0, nullptr, nullptr, nullptr, 0};
    storage.text = AttrText(value);
    if (auto* number = std::get_if<int64_t>(&value)) out.number = *number;
    if (auto* real = std::get_if<float>(&value)) out.real = static_cast<double>(*real);
    if (auto* flag = std::get_if<bool>(&value)) out.number = *flag ? 1 : 0;
    if (auto* text = std::get_if<std::string>(&value)) storage.string = *text, out.string = storage.string.c_str();
    if (type != DType::kInvalid) out.number = ToC(type), storage.text = DTypeName(type);
    if (auto* shape = std::get_if<PartialShape>(&value)) storage.list = shape->dims();
    if (auto* ints = std::get_if<Ints>(&value)) storage.list = *ints;
    if (auto* floats = std::get_if<FloatList>(&value)) storage.reals.assign(floats->begin(), floats->end());
    if (auto* types = std::get_if<DTypes>(&value)) {
      for (DType one : *types) storage.list.push_back(ToC(one));
    }
    out.text = storage.text.c_str();
    if (!storage.list.empty()) out.list = storage.list.data(), out.list_count = storage.list.size();
    if (!storage.reals.empty()) out.reals = storage.reals.data(), out.list_count = storage.reals.size();
    values_.push_back(out);
  }

  std::vector<Storage> storage_;
  std::vector<weft_attr_value> values_;
};

/// Calls a host's plan or gradient function, and marks this thread as inside it (see Object::MayCall).
template <class Call>
int32_t CallHost(const Call& call) {
  const HostCall calling;
  return call();
}

/// A call struct with the members that plan and gradient calls share: values by port, and attributes.
template <class Call, class Value>
Call CallOf(const PortValues<Value>& values, const AttrTable& attrs, void* engine) {
  Call call{};
  call.size = sizeof call;
  call.inputs = values.inputs.data();
  call.outputs = values.outputs.data();
  call.input_count = values.inputs.size();
  call.output_count = values.outputs.size();
  call.input_first = values.in_first.data();
  call.output_first = values.out_first.data();
  call.attrs = attrs.values().data();
  call.attr_count = attrs.values().size();
  call.engine = engine;
  return call;
}

}  // namespace weft::capi
