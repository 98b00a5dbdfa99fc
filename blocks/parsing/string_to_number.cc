// StringToNumber: each string as the number that it is written of.
#include "blocks/parsing/number.h"
#include "blocks/string/elements.h"
#include "blocks/string/quoted.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> string_tensor{"string_tensor", "DT_STRING", "of any shape"};
constexpr Out<0> output{"output", "out_type", "the shape of string_tensor"};
constexpr Attr<DType> out_type{"out_type", "DT_FLOAT", "the type of the numbers"};

constexpr TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t> kParsed;

Status Plan(PlanContext& ctx) {
  ctx.set(output, ctx.shape(string_tensor));
  return {};
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  const auto texts = ctx.in<String>(string_tensor);
  const auto out = ctx.out<T>(output);
  return ForElements(ctx.workers(), static_cast<int64_t>(texts.size()), [&](int64_t i, kernels::StopCheck& stop) -> Status {
    const std::string_view text = texts[static_cast<size_t>(i)];
    stop(static_cast<int64_t>(text.size()));
    if (ParseNumber(text, out[static_cast<size_t>(i)])) return {};
    return ctx.Error(string_tensor, "needs a number of ", kDTypeOf<T>, ", found ", Quoted(text), " in string ", i);
  });
};

}  // namespace

BlockDef StringToNumber() {
  return Block("StringToNumber", "The numbers that strings are written of.")
      .Details("Blanks at the ends do not count. Floats may be hexadecimal (0x1.8p3), inf or nan; one that is too large is infinite, an integer "
               "that is too large is refused.")
      .Ports(string_tensor, output)
      .Attrs(out_type)
      .Types("out_type", kParsed)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
