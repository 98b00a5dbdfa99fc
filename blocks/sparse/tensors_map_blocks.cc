// AddSparseToTensorsMap, AddManySparseToTensorsMap, TakeManySparseFromTensorsMap: sparse tensors handed on by number.
#include <algorithm>
#include <iterator>

#include "blocks/data_flow/named_handles.h"
#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/tensors_map.h"

namespace weft::blocks {
namespace {

constexpr In<0> sparse_indices{"sparse_indices", "DT_INT64", "[places, rank]"};
constexpr In<1> sparse_values{"sparse_values", "T", "[places]"};
constexpr In<2> sparse_shape{"sparse_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr Attr<std::string> container{"container", "\"\"", "name space of the map's name"};
constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the map; empty means the block's id"};

struct MapName {
  std::string container, shared_name;
};
MapName NameOf(PlanContext& ctx) { return {ctx.attr(container), ctx.attr(shared_name)}; }

template <class P>
struct Named : P {
  MapName name;
};
/// Finds or makes the map of that name in the page's scope.
constexpr auto Bind = [](const auto& p, BindContext& ctx) -> Result<ResourceHandle> {
  const auto make = []() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<SparseTensorsMap>()); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle found, ctx.Shared(p.name.container, p.name.shared_name, make));
  WEFT_RETURN_IF_ERROR(FoundAs<SparseTensorsMap>(found).status());
  return found;
};

// ---- AddSparseToTensorsMap -------------------------------------------------------------------------------------------------------

constexpr Out<0> handle{"sparse_handle", "DT_INT64", "a scalar: the number of the tensor in the map"};

struct One {
  DType dtype = DType::kInvalid;
};

Result<Named<One>> PlanOne(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Places places, PlanSparse(ctx, sparse_indices, sparse_values, sparse_shape));
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, places, sparse_shape));
  return Named<One>{{ctx.dtype(sparse_values)}, NameOf(ctx)};
}

constexpr auto RunOne = [](const Named<One>& p, RunContext& ctx) -> Status {
  SparseValue tensor;
  const auto copy = [&](Tensor& to, DType dtype, const auto& port) -> Status {
    WEFT_ASSIGN_OR_RETURN(to, Tensor::Allocate(dtype, ctx.shape(port), ctx.budget()));
    MovesOf(dtype).CopyLong(BytesOf(ctx, port), to.data(), to.count(), ctx.workers());
    return {};
  };
  WEFT_RETURN_IF_ERROR(copy(tensor.indices, DType::kInt64, sparse_indices));
  WEFT_RETURN_IF_ERROR(copy(tensor.values, p.dtype, sparse_values));
  WEFT_RETURN_IF_ERROR(copy(tensor.shape, DType::kInt64, sparse_shape));
  if (ctx.cancelled()) return kernels::RunStopped();
  std::vector<SparseValue> tensors;
  tensors.push_back(std::move(tensor));
  ctx.out<int64_t>(handle)[0] = ctx.state<SparseTensorsMap>().Add(std::move(tensors));
  return {};
};

// ---- AddManySparseToTensorsMap ---------------------------------------------------------------------------------------------------

constexpr In<0> batch_indices{"sparse_indices", "DT_INT64",
                              "[places, rank], in row-major order, of rank 2 or more; the first index names the element of the batch"};
constexpr Out<0> handles{"sparse_handles", "DT_INT64", "[N]: the number of each element of the batch in the map"};

Result<Named<Minibatch>> PlanMany(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Minibatch batch, PlanMinibatch(ctx, batch_indices, sparse_values, sparse_shape));
  const int64_t sizes[] = {batch.elements()};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(handles, sizes, sparse_shape));
  return Named<Minibatch>{std::move(batch), NameOf(ctx)};
}

/// Elements with places are numbered first and those without behind them, as TensorFlow does: a page may name a number by a constant.
constexpr auto RunMany = [](const Named<Minibatch>& p, RunContext& ctx) -> Status {
  const auto numbers = ctx.out<int64_t>(handles);
  std::vector<SparseValue> tensors, bare;
  const auto keep = [&](int64_t k, SparseValue element) -> Status {
    const bool is_bare = element.values.count() == 0;
    std::vector<SparseValue>& among = is_bare ? bare : tensors;
    numbers[static_cast<size_t>(k)] = is_bare ? -1 - std::ssize(bare) : std::ssize(tensors);
    among.push_back(std::move(element));
    return {};
  };
  WEFT_RETURN_IF_ERROR(
      p.ForElements(ctx.in<int64_t>(batch_indices).data(), BytesOf(ctx, sparse_values), ctx.workers(), ctx.budget(), keep));
  const int64_t with_places = std::ssize(tensors);
  std::ranges::move(bare, std::back_inserter(tensors));
  const int64_t first = ctx.state<SparseTensorsMap>().Add(std::move(tensors));
  for (int64_t& number : numbers) number = first + (number >= 0 ? number : with_places - 1 - number);
  return {};
};

// ---- TakeManySparseFromTensorsMap ------------------------------------------------------------------------------------------------

constexpr In<0> taken{"sparse_handles", "DT_INT64", "[N]: numbers of tensors in the map, each once"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the values"};

Result<Named<One>> PlanTake(PlanContext& ctx) {
  const Shape& shape = ctx.shape(taken);
  if (shape.rank() != 1) return ctx.Error(taken, "needs a vector, found shape ", shape);
  if (shape[0] == 0) return ctx.Error(taken, "needs 1 number or more, found none");
  SetStackedShapes(ctx);
  return Named<One>{{ctx.attr(dtype)}, NameOf(ctx)};
}

constexpr auto RunTake = [](const Named<One>& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const std::vector<SparseValue> tensors, AtPort(taken, ctx.state<SparseTensorsMap>().Take(ctx.in<int64_t>(taken))));
  return EmitStacked(tensors, p.dtype, taken.name, ctx);
};

}  // namespace

BlockDef AddManySparseToTensorsMap() {
  return Block("AddManySparseToTensorsMap", "Puts each element of a batch of sparse tensors into a map, under a number of its own.")
      .Ports(batch_indices, sparse_values, sparse_shape, handles)
      .Types("T", kAllTypes)
      .Attrs(container, shared_name)
      .ShapedBy(sparse_shape)
      .Kernel(PlanMany, RunMany, Bind);
}

BlockDef AddSparseToTensorsMap() {
  return Block("AddSparseToTensorsMap", "Puts a sparse tensor into a map, under a number of its own.")
      .Ports(sparse_indices, sparse_values, sparse_shape, handle)
      .Types("T", kAllTypes)
      .Attrs(container, shared_name)
      .ShapedBy(sparse_shape)
      .Kernel(PlanOne, RunOne, Bind);
}

BlockDef TakeManySparseFromTensorsMap() {
  return Block("TakeManySparseFromTensorsMap", "Takes sparse tensors out of a map and stacks them along a new first axis.")
      .Details(
          "The output is as large as the largest of them along each axis. shared_name is that of the blocks that put them in, or their id.")
      .Ports(taken, stacked::indices, stacked::values, stacked::shape)
      .Attrs(dtype, container, shared_name)
      .Types("dtype", kAllTypes)
      .Producer(PlanTake, RunTake, Bind);
}

}  // namespace weft::blocks
