// The blocks of barriers: Barrier makes one; BarrierInsertMany gives keys a component, BarrierTakeMany takes elements that have all;
// BarrierClose, BarrierReadySize and BarrierIncompleteSize.
#include "blocks/data_flow/barrier.h"
#include "blocks/data_flow/element_rows.h"
#include "blocks/data_flow/named_handles.h"
#include "blocks/data_flow/queue_blocks.h"

namespace weft::blocks {
namespace {

constexpr In<0> handle{"handle", "DT_STRING", "[2], the barrier"};

namespace make {

constexpr Out<0> made{"handle", "DT_STRING", "[2], the handle of the barrier: its container and its name"};
constexpr Attr<Shapes> shapes{"shapes", "{}", "the shape of each component"};
constexpr Attr<int64_t> capacity{"capacity", "-1", "-1: no limit. To have one, feed the barrier by a queue"};
constexpr Attr<std::string> container{"container", "\"\"", "name space of the barrier's name"};
constexpr Attr<std::string> shared_name{"shared_name", "\"\"", "blocks of one shared name share the barrier; empty means the block's id"};

struct Parameters {
  DTypes types;
  Shapes shapes;
  std::string container, shared_name;
};

Result<Parameters> Plan(PlanContext& ctx) {
  Parameters p{ctx.attr(kComponentTypes), ctx.attr(shapes), ctx.attr(container), ctx.attr(shared_name)};
  if (p.shapes.size() != p.types.size()) {
    return ctx.Error(shapes, "needs a shape for each of the ", p.types.size(), " components, found ", p.shapes.size());
  }
  for (const PartialShape& shape : p.shapes) {
    if (!shape.complete()) return ctx.Error(shapes, "needs shapes known in full, found ", shape);
  }
  if (ctx.attr(capacity) != -1) return ctx.Error(capacity, "needs -1, no limit, found ", ctx.attr(capacity));
  ctx.set(made, Shape{2});
  return p;
}

constexpr auto Run = [](const Parameters&, RunContext& ctx) { PutNamedHandle(ctx, made); };

constexpr auto Bind = [](const Parameters& p, BindContext& ctx) -> Result<ResourceHandle> {
  auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<ElementBarrier>(p.types, p.shapes)); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle named, BindNamed(ctx, p.container, p.shared_name, make));
  WEFT_ASSIGN_OR_RETURN(const ElementBarrier* barrier, FoundAs<ElementBarrier>(static_cast<const NamedResource&>(*named).target));
  WEFT_RETURN_IF_ERROR(barrier->CheckSame(p.types, p.shapes));
  return named;
};

}  // namespace make

namespace insert {

constexpr In<1> keys{"keys", "DT_STRING", "[N], the keys"};
constexpr In<2> values{"values", "T", "[N, ...], the component of each key"};
constexpr Attr<int64_t> component_index{"component_index", kRequired, "which of the components is given"};

struct Parameters {
  DType dtype;
  int64_t component;
};

Result<Parameters> Plan(PlanContext& ctx) {
  if (ctx.shape(keys).rank() != 1) return ctx.Error(keys, "needs a vector, found ", ctx.shape(keys));
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  const Shape& shape = ctx.shape(values);
  const int64_t count = ctx.shape(keys)[0];
  if (shape.rank() == 0 || shape[0] != count) return ctx.Error(values, "needs a row for each of the ", count, " keys, found ", shape);
  if (count > 0 && shape.count() == 0) return ctx.Error(values, "needs rows with elements, found ", shape);
  const Parameters p{ctx.dtype(values), ctx.attr(component_index)};
  if (p.component < 0) return ctx.Error(component_index, "needs 0 or more, found ", p.component);
  return p;
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto barrier, FindNamed<ElementBarrier>(ctx, handle));
  WEFT_ASSIGN_OR_RETURN(Tensor whole, ctx.Copy(values, p.dtype));
  WEFT_ASSIGN_OR_RETURN(auto elements, AtPort(values, CutRows(std::span(&whole, 1), ctx.services().budget, ctx.workers())));
  return barrier->Insert(ctx.in<String>(keys), p.component, std::move(elements), ctx.services());
};

}  // namespace insert

namespace take {

constexpr In<1> num_elements{"num_elements", "DT_INT32", "a scalar, 0 or more: how many to take"};
constexpr Out<0> indices{"indices", "DT_INT64", "[n], the order in which they began; those of one insert have the same"};
constexpr Out<1> keys{"keys", "DT_STRING", "[n], their keys"};
constexpr OutTuple<2> values{"values", "component_types", "[n, ...] each, their components"};
constexpr Attr<bool> allow_small_batch{"allow_small_batch", "false", "a closed barrier gives fewer where it has no more ready"};
constexpr Attr<bool> wait_for_incomplete{"wait_for_incomplete", "false", "TensorFlow takes no notice of it, nor does this"};
constexpr Attr<int64_t> timeout_ms{"timeout_ms", "-1", "-1: a time limit is not supported"};

struct Parameters {
  DTypes types;
  bool small;
};

Result<Parameters> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, num_elements));
  if (ctx.attr(timeout_ms) != -1) return ctx.Error(timeout_ms, "needs -1, found ", ctx.attr(timeout_ms));
  ctx.set_unknown(indices);
  ctx.set_unknown(keys);
  for (int k = 0; k < ctx.count(values); ++k) ctx.set_unknown(values, k);
  return Parameters{ctx.attr(kComponentTypes), ctx.attr(allow_small_batch)};
}

Result<std::vector<Tensor>> TakeJoined(ElementBarrier& barrier, int64_t count, bool small, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(auto elements, barrier.Take(count, small, ctx.services(), ctx.workers()));
  const DiscardAtEnd discard(elements);
  return MakeOrReturn(barrier, elements,
                      [&] { return JoinElements(elements, barrier.ready_spec(), ctx.services().budget, ctx.workers()); });
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto barrier, FindNamed<ElementBarrier>(ctx, handle));
  if (p.types != barrier->types()) return ctx.Error(kComponentTypes, "needs the component types of the barrier, found others");
  const int32_t count = ctx.in<int32_t>(num_elements)[0];
  if (count < 0) return ctx.Error(num_elements, "needs 0 or more, found ", count);
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> taken, TakeJoined(*barrier, count, p.small, ctx));
  ctx.Emit(indices, std::move(taken[0]));
  ctx.Emit(keys, std::move(taken[1]));
  for (size_t k = 2; k < taken.size(); ++k) ctx.Emit(values, std::move(taken[k]), static_cast<int>(k - 2));
  return {};
};

}  // namespace take

// ---- its state -----------------------------------------------------------------------------------------------------------------

constexpr Out<0> size{"size", "DT_INT32", "[], how many there are"};
constexpr Attr<bool> cancel_pending_enqueues{"cancel_pending_enqueues", "false",
                                             "whether elements that lack components are dropped, too, instead of waiting for those"};

Result<bool> PlanClose(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckNamedHandle(ctx, handle));
  return ctx.attr(cancel_pending_enqueues);
}

constexpr auto RunClose = [](const bool& cancel, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto barrier, FindNamed<ElementBarrier>(ctx, handle));
  return barrier->Close(cancel);
};

Status PlanSize(PlanContext& ctx) { return CheckNamedHandle(ctx, handle); }

template <int64_t (ElementBarrier::*count)() const>
constexpr auto RunSize = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const auto barrier, FindNamed<ElementBarrier>(ctx, handle));
  ctx.out<int32_t>(size)[0] = static_cast<int32_t>(std::min<int64_t>(((*barrier).*count)(), INT32_MAX));
  return {};
};

BlockDef DeclareSize(const char* name, const char* summary, auto run) {
  return StateBlock(name, summary).Ports(handle, size).Kernel(PlanSize, run, kBindHandles);
}

}  // namespace

BlockDef Barrier() {
  return StateBlock("Barrier", "Holds elements whose components come one by one, under a key, until they have all.")
      .Ports(make::made)
      .Attrs(kComponentTypes, make::shapes, make::capacity, make::container, make::shared_name)
      .Kernel(make::Plan, make::Run, make::Bind);
}

BlockDef BarrierInsertMany() {
  return StateBlock("BarrierInsertMany", "Gives each of some keys one of its components; a key is ready once it has all.")
      .Details(
          "Keys of one insert share an index, and come out in the order of a heap. After a key that is refused, those before it are in.")
      .Ports(handle, insert::keys, insert::values)
      .Types("T", kAllTypes)
      .Attrs(insert::component_index)
      .Producer(insert::Plan, insert::Run, kBindHandles);
}

BlockDef BarrierTakeMany() {
  return StateBlock("BarrierTakeMany",
                    "Takes elements that have all components, those first that began first; waits until there are so many.")
      .Ports(handle, take::num_elements, take::indices, take::keys, take::values)
      .Attrs(kComponentTypes, take::allow_small_batch, take::wait_for_incomplete, take::timeout_ms)
      .Waits()
      .Producer(take::Plan, take::Run, kBindHandles);
}

BlockDef BarrierClose() {
  return StateBlock("BarrierClose",
                    "Closes a barrier: no new keys go in, those that lack components may get them, and what is ready still comes out.")
      .Ports(handle)
      .Attrs(cancel_pending_enqueues)
      .Kernel(PlanClose, RunClose, kBindHandles);
}

BlockDef BarrierReadySize() {
  return DeclareSize("BarrierReadySize", "How many elements of a barrier have all their components.", RunSize<&ElementBarrier::ready_size>);
}

BlockDef BarrierIncompleteSize() {
  return DeclareSize("BarrierIncompleteSize", "How many elements of a barrier lack some of their components.",
                     RunSize<&ElementBarrier::incomplete_size>);
}

}  // namespace weft::blocks
