// AsString: each element as text, by the rules of C's printf.
#include <cmath>
#include <limits>

#include "blocks/string/elements.h"
#include "blocks/string/number_text.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "of any shape"};
constexpr Out<0> output{"output", "DT_STRING", "the shape of input"};
constexpr Attr<int64_t> precision{"precision", "-1", "digits after the point, or with shortest in all; for numbers that have a point; below 0: 6"};
constexpr Attr<bool> scientific{"scientific", "false", "with an exponent, as 1.5e+01"};
constexpr Attr<bool> shortest{"shortest", "false", "with an exponent only where that is shorter, and without zeros at the end"};
constexpr Attr<int64_t> width{"width", "-1", "the least number of bytes; below 0: any"};
constexpr Attr<std::string> fill{"fill", "", "blanks fill the width at the left; 0: zeros do; -: blanks at the right; + or a blank: stands before "
                                             "numbers that are not negative; #: a point, and zeros at the end, always"};

constexpr auto kPrinted = kNumbers + TypeList<bool, String>{};

struct Parameters {
  NumberFormat format;
  bool cuts = false;  // strings are cut at the precision
};

Result<Parameters> Plan(PlanContext& ctx) {
  const DType dtype = ctx.dtype(input);
  const int64_t digits = ctx.attr(precision), least = ctx.attr(width);
  const bool has_point = IsFloating(dtype) || IsComplex(dtype) || dtype == DType::kString;
  for (const auto& [attr, value] : {std::pair(&precision, digits), std::pair(&width, least)}) {
    if (value < INT32_MIN || value > INT32_MAX) return ctx.Error(*attr, "needs a number of 32 bits, found ", value);
  }
  if (ctx.attr(scientific) && ctx.attr(shortest)) return ctx.Error(shortest, "needs scientific to be false, found both true");
  if (!has_point && (ctx.attr(scientific) || ctx.attr(shortest))) {
    return ctx.Error(ctx.attr(scientific) ? scientific : shortest, "needs numbers that have a point, found ", dtype);
  }
  if (!has_point && digits >= 0) return ctx.Error(precision, "needs numbers that have a point, found ", dtype);
  const std::string flag = ctx.attr(fill);
  if (flag.size() > 1 || std::string_view(" +-0#").find(flag) == std::string_view::npos) {
    return ctx.Error(fill, "needs a blank, +, -, 0, # or nothing, found '", flag, "'");
  }
  Parameters p;
  p.format.notation = ctx.attr(shortest) ? Notation::kShortest : ctx.attr(scientific) ? Notation::kScientific : Notation::kFixed;
  p.format.flag = flag.empty() ? '\0' : flag[0];
  p.format.width = std::max<int64_t>(least, 0);
  if (digits >= 0) p.format.precision = digits;
  p.cuts = digits >= 0 && least > 0;
  ctx.set(output, ctx.shape(input));
  return p;
}

template <class T>
NumberText TextOf(const T& value, const NumberFormat& format) {
  if constexpr (Float<T>) {
    // Denormal numbers are 0, as in all arithmetic, whatever the processor is set to.
    const Accumulator<T> number = static_cast<Accumulator<T>>(value);
    const bool denormal = std::fabs(number) < std::numeric_limits<Accumulator<T>>::min();
    return NumberText(denormal ? std::copysign(0.0, std::signbit(number) ? -1.0 : 1.0) : static_cast<double>(number), format);
  } else {
    const bool negative = value < 0;
    const auto bits = static_cast<uint64_t>(value);
    return NumberText(negative ? uint64_t{0} - bits : bits, negative, std::is_signed_v<T>, format);
  }
}

template <class T>
Result<String> Printed(const T& value, const Parameters& p, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  if constexpr (std::is_same_v<T, bool>) {
    return String(value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, String>) {
    const std::string_view text = value;
    if (p.format.width <= static_cast<int64_t>(text.size()) && !p.cuts) return value;
    return PaddedText(p.cuts ? text.substr(0, static_cast<size_t>(p.format.precision)) : text, p.format, budget, stop);
  } else if constexpr (Complex<T>) {
    const NumberText real = TextOf(value.real(), p.format), imaginary = TextOf(value.imag(), p.format);
    WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(real.size() + imaginary.size() + 3, budget, stop));
    writer.Put("(");
    real.WriteTo(writer);
    writer.Put(",");
    imaginary.WriteTo(writer);
    writer.Put(")");
    return writer.Take();
  } else {
    const NumberText text = TextOf(value, p.format);
    WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(text.size(), budget, stop));
    text.WriteTo(writer);
    return writer.Take();
  }
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) -> Status {
  const auto values = ctx.in<T>(input);
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) {
    return Printed<T>(values[static_cast<size_t>(i)], p, ctx.budget(), stop);
  });
};

}  // namespace

BlockDef AsString() {
  return Block("AsString", "Each element as text.")
      .Details("Numbers with a point are written as printf's %f writes them, with scientific as %e and with shortest as %g; complex ones as "
               "(real,imaginary). Denormal numbers are 0. Strings are filled to the width, and cut at the precision where there is a width.")
      .Ports(input, output)
      .Types("T", kPrinted)
      .Attrs(precision, scientific, shortest, width, fill)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
