// Bitcast: the same bytes as elements of another type.
#include <cstring>

#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "any shape; where elements of the result are N times as wide, the last axis has size N"};
constexpr Out<0> output{"output", "type", "the shape of input; with an axis of N at the end where its elements are N times as wide, "
                                          "without the last axis where those of the result are"};
constexpr Attr<DType> type{"type", kRequired, "the type of the result"};

constexpr auto kPlainTypes = kNumbers + kQuantized;

Result<int64_t> Plan(PlanContext& ctx) {
  const auto from = static_cast<int64_t>(ElementSize(ctx.dtype(input))), to = static_cast<int64_t>(ElementSize(ctx.attr(type)));
  const Shape& shape = ctx.shape(input);
  std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
  if (from > to) {
    sizes.push_back(from / to);
  } else if (from < to) {
    if (sizes.empty() || sizes.back() != to / from) {
      return ctx.Error(input, "needs a last axis of size ", to / from, " to be made ", ctx.attr(type), ", found ", shape);
    }
    sizes.pop_back();
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, sizes, input));
  return shape.count() * from;
}

constexpr auto Run = []<class T>(const int64_t& bytes, RunContext& ctx) {
  const auto* from = reinterpret_cast<const std::byte*>(ctx.in<T>(input).data());
  std::byte* to = ctx.out<std::byte>(output).data();
  ctx.workers().For(bytes, 1 << 18, [&](int64_t begin, int64_t end) { std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin)); });
};

}  // namespace

BlockDef Bitcast() {
  return Block("Bitcast", "The same bytes as elements of another type, in the machine's order.")
      .Ports(input, output).Types("T", kPlainTypes).Attrs(type).Types("type", kPlainTypes).Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
