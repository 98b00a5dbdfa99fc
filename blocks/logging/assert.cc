// Assert and Print: values in the message of a failed run, or in the log.
#include <mutex>

#include "blocks/element_moves.h"
#include "blocks/limits.h"
#include "blocks/logging/tensor_text.h"
#include "weft/block/block.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {
namespace {

constexpr Attr<int64_t> summarize{"summarize", "3", "how many values of each tensor to show; all where negative. A message has a megabyte of them at most"};

namespace assertion {

constexpr In<0> condition{"condition", "DT_BOOL", "a scalar: what must hold"};
constexpr InTuple<1> data{"data", "T", "tensors of any shapes and types, at least one: what to show where it does not hold"};
constexpr Attr<DTypes> T{"T", kRequired, "the type of each tensor of data; follows from the wires", nullptr, 1};

struct Shown {
  DTypes types;
  int64_t limit = 3;
};

Result<Shown> Plan(PlanContext& ctx) {
  if (!ctx.shape(condition).scalar()) return ctx.Error(condition, "needs a scalar, found ", ctx.shape(condition));
  if (ctx.count(data) == 0) return ctx.Error(data, "needs at least one tensor to show, found none");
  return Shown{DTypesOf(ctx, data), ctx.attr(summarize)};
}

constexpr auto Run = [](const Shown& shown, RunContext& ctx) -> Status {
  if (ctx.in<bool>(condition)[0]) return {};
  return ctx.Error(condition, "assertion failed: ", TensorTexts(ctx, data, shown.types, shown.limit, " "));
};

}  // namespace assertion

namespace print {

constexpr In<0> input{"input", "T", "any shape: what to pass on"};
constexpr InTuple<1> data{"data", "U", "tensors of any shapes and types: what to print"};
constexpr Out<0> output{"output", "T", "the input as it is"};
constexpr Attr<DTypes> U{"U", kRequired, "the type of each tensor of data; follows from the wires", nullptr, 0};
constexpr Attr<std::string> message{"message", "", "the text before the values"};
constexpr Attr<int64_t> first_n{"first_n", "-1", "how many times to print, counted from the first run of a page; always where negative"};

struct Printed {
  DType type = DType::kInvalid;
  DTypes types;
  std::string message;
  int64_t first_n = -1, limit = 3;
};

/// How often a block has printed. Thread-safe.
class Counter : public Resource, public StoredState {
 public:
  std::string_view kind() const override { return "print counter"; }
  /// Whether this time is among the first `most`.
  bool Next(int64_t most) {
    std::lock_guard lock(mutex_);
    return most < 0 || count_++ < most;
  }

  Status Save(StateWriter& out) const override {
    std::lock_guard lock(mutex_);
    out.PutSigned(count_);
    return {};
  }
  Result<std::function<void()>> Load(StateReader& in) override {
    WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.NumberUpTo(INT64_MAX / 2));
    return std::function<void()>([this, count] { Set(static_cast<int64_t>(count)); });
  }
  void Reset() override { Set(0); }

 private:
  void Set(int64_t count) {
    std::lock_guard lock(mutex_);
    count_ = count;
  }

  mutable std::mutex mutex_;
  int64_t count_ = 0;
};

Result<Printed> Plan(PlanContext& ctx) {
  ctx.set(output, ctx.shape(input));
  return Printed{ctx.dtype(input), DTypesOf(ctx, data), ctx.attr(message), ctx.attr(first_n), ctx.attr(summarize)};
}

constexpr auto Run = [](const Printed& printed, RunContext& ctx) {
  // First the text: the output may lie where the data is.
  if (ctx.state<Counter>().Next(printed.first_n)) ctx.log().Print(Cat(printed.message, TensorTexts(ctx, data, printed.types, printed.limit, "")));
  const std::byte* from = ctx.in<std::byte>(input).data();
  const auto to = ctx.out<std::byte>(output);
  if (to.data() != from) MovesOf(printed.type).CopyLong(from, to.data(), static_cast<int64_t>(to.size()), ctx.workers());
};

constexpr auto Bind = [](const Printed&, BindContext& ctx) {
  return ctx.Own([]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Counter>()); });
};

void Gradient(GradientBuilder& g) { g.Set(input, g.grad(output)); }

}  // namespace print

}  // namespace

BlockDef Assert() {
  return Block("Assert", "Fails the run, with the given data in the message, where a condition does not hold.")
      .Ports(assertion::condition, assertion::data).Attrs(assertion::T, summarize).Inferred(assertion::T)
      .Types("T", kAllTypes)
      .Stateful().NotDifferentiable().Kernel(assertion::Plan, assertion::Run);
}

BlockDef Print() {
  return Block("Print", "Passes a tensor on and prints data to the log.")
      .Ports(print::input, print::data, print::output).Types("T", kAllTypes)
      .Attrs(print::U, print::message, print::first_n, summarize).Inferred(print::U).Types("U", kAllTypes)
      .Elementwise().Gradient(print::Gradient).Kernel(print::Plan, print::Run, print::Bind);
}

}  // namespace weft::blocks
