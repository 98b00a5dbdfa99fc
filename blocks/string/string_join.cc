// StringJoin and ReduceJoin: strings one after the other, with a separator between them.
#include "blocks/kernels/index/walk.h"
#include "blocks/limits.h"
#include "blocks/reduction.h"
#include "blocks/string/elements.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> output{"output", "DT_STRING", "the joined strings"};
constexpr Attr<std::string> separator{"separator", "", "the bytes between two strings"};

/// for_each(visit) calls visit(string) for each of the strings to join, in their order, the same in every call.
template <class ForEach>
Result<String> Joined(std::string_view between, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop, const ForEach& for_each) {
  size_t size = 0, count = 0;
  for_each([&](const String& text) {
    size += text.size() + (count++ > 0 ? between.size() : 0);
  });
  if (stop(static_cast<int64_t>(count))) return String();
  WEFT_ASSIGN_OR_RETURN(StringWriter writer, StringWriter::Make(size, budget, stop));
  count = 0;
  for_each([&](const String& text) {
    if (count++ > 0) writer.Put(between);
    writer.Put(text);
  });
  return writer.Take();
}

namespace string_join {

constexpr InList<0> inputs{"inputs", "DT_STRING", "N", "tensors of one shape; scalars among them serve every element"};

constexpr Attr<int64_t> length{"N", kRequired, "how many tensors there are", nullptr, 0};

Result<std::string> Plan(PlanContext& ctx) {
  Shape shape;
  for (int k = 0; k < ctx.count(inputs); ++k) {
    const Shape& found = ctx.shape(inputs, k);
    if (found.scalar()) continue;
    if (!shape.scalar() && found != shape) return ctx.Error(inputs, "needs tensors of one shape, or scalars, found ", shape, " and ", found);
    shape = found;
  }
  ctx.set(output, std::move(shape));
  return ctx.attr(separator);
}

constexpr auto Run = [](const std::string& between, RunContext& ctx) -> Status {
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) {
    const auto for_each = [&](auto&& visit) {
      for (int k = 0; k < ctx.count(inputs); ++k) {
        const auto texts = ctx.in<String>(inputs, k);
        visit(texts[ctx.shape(inputs, k).scalar() ? 0 : static_cast<size_t>(i)]);
      }
    };
    return Joined(between, ctx.budget(), stop, for_each);
  });
};

}  // namespace string_join

namespace reduce_join {

constexpr In<0> inputs{"inputs", "DT_STRING", "of any shape"};
constexpr In<1> reduction_indices{"reduction_indices", "DT_INT32",
                                  "a scalar or a vector: the axes to join over, each in [-rank, rank) and named once; the first varies fastest"};
constexpr Attr<bool> keep_dims{"keep_dims", "false", "keep the joined axes, with size 1"};

struct Axis {
  int64_t size, stride;
  int64_t step(int) const { return stride; }
};
struct Layout {
  std::vector<Axis> kept, joined;  // of size 2 or more, outermost first
  int64_t strings = 1;             // that make one result
  std::string separator;
};

Result<Layout> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(inputs);
  if (ctx.shape(reduction_indices).rank() > 1) {
    return ctx.Error(reduction_indices, "needs a scalar or a vector, found shape ", ctx.shape(reduction_indices));
  }
  WEFT_ASSIGN_OR_RETURN(const auto is_joined, reduction::ReducedAxes(ctx.value(reduction_indices), reduction_indices.name, shape.rank()));
  Layout layout;
  layout.separator = ctx.attr(separator);
  const auto axis_of = [&](int d) { return Axis{shape[d], shape.count(d + 1, shape.rank())}; };
  for (int d = 0; d < shape.rank(); ++d) {
    if (!is_joined[static_cast<size_t>(d)] && shape[d] > 1) layout.kept.push_back(axis_of(d));
  }
  const auto named = ctx.ints(reduction_indices);
  for (size_t k = named.size(); k-- > 0;) {
    const auto d = static_cast<int>(named[k] < 0 ? named[k] + shape.rank() : named[k]);
    layout.strings *= shape[d];
    if (shape[d] > 1) layout.joined.push_back(axis_of(d));
  }
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, reduction::ReducedDims(shape, is_joined, ctx.attr(keep_dims)), inputs));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.planned().outputs[0], inputs.name));
  return layout;
}

constexpr auto Run = [](const Layout& layout, RunContext& ctx) -> Status {
  const String* texts = ctx.in<String>(inputs).data();
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) {
    const int64_t first = kernels::Walk<Axis, 1>(layout.kept, i).offset();
    const auto for_each = [&](auto&& visit) {
      kernels::Walk<Axis, 1> walk(layout.joined, 0);
      for (int64_t n = 0; n < layout.strings && !stop(); ++n, walk.Next()) visit(texts[first + walk.offset()]);
    };
    return Joined(layout.separator, ctx.budget(), stop, for_each);
  });
};

}  // namespace reduce_join

}  // namespace

BlockDef StringJoin() {
  return Block("StringJoin", "Joins the strings of several tensors, element by element.")
      .Ports(string_join::inputs, output)
      .Attrs(string_join::length, separator)
      .Inferred(string_join::length)
      .NotDifferentiable()
      .Kernel(string_join::Plan, string_join::Run);
}

BlockDef ReduceJoin() {
  return Block("ReduceJoin", "Joins the strings of a tensor along axes.")
      .Details("Without axes nothing is joined. A result of no strings is empty.")
      .Ports(reduce_join::inputs, reduce_join::reduction_indices, output)
      .Attrs(reduce_join::keep_dims, separator)
      .PortAlias("input", "inputs")
      .ShapedBy(reduce_join::reduction_indices)
      .NotDifferentiable()
      .Kernel(reduce_join::Plan, reduce_join::Run);
}

}  // namespace weft::blocks
