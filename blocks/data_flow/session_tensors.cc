// GetSessionHandle keeps a tensor beyond its run and gives a handle to it, a text; GetSessionTensor reads it, DeleteSessionTensor lets it
// go. GetSessionHandleV2 gives a resource.
#include <map>
#include <mutex>
#include <string>

#include "blocks/data_flow/named_handles.h"
#include "blocks/limits.h"
#include "weft/block/block.h"
#include "weft/block/named_bind.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {
namespace {

/// The tensors that the runs of a page keep, by their handles. Thread-safe.
class SessionTensors final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "table of session tensors";
  std::string_view kind() const override { return kKind; }

  /// Gives the new handle of a tensor that nobody writes any more. `block` is the one that keeps it.
  std::string Add(std::string_view block, Tensor tensor);
  /// Undefined where the handle names nothing.
  Tensor Find(std::string_view handle) const;
  bool Remove(std::string_view handle);

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override { Replace({}, 0); }

 private:
  using Tensors = std::map<std::string, Tensor, std::less<>>;

  void Replace(Tensors tensors, uint64_t next);

  mutable std::mutex mutex_;
  Tensors tensors_;
  uint64_t next_ = 0;  // number of the next handle
};

std::string SessionTensors::Add(std::string_view block, Tensor tensor) {
  std::lock_guard lock(mutex_);
  std::string handle = Cat(block, ";", next_, ";/device:CPU:0");
  tensors_.insert_or_assign(handle, std::move(tensor));
  ++next_;
  return handle;
}

Tensor SessionTensors::Find(std::string_view handle) const {
  std::lock_guard lock(mutex_);
  const auto entry = tensors_.find(handle);
  return entry == tensors_.end() ? Tensor() : entry->second;
}

bool SessionTensors::Remove(std::string_view handle) {
  Tensors::node_type removed;  // whose memory is given back without the lock
  std::lock_guard lock(mutex_);
  const auto entry = tensors_.find(handle);
  if (entry == tensors_.end()) return false;
  removed = tensors_.extract(entry);
  return true;
}

Status SessionTensors::Save(StateWriter& out) const {
  Tensors tensors;
  {
    std::lock_guard lock(mutex_);
    out.Put(next_);
    tensors = tensors_;
  }
  out.Put(tensors.size());
  for (const auto& [handle, tensor] : tensors) {
    out.PutText(handle);
    WEFT_RETURN_IF_ERROR(out.PutTensor(tensor));
  }
  return {};
}

Result<std::function<void()>> SessionTensors::Load(StateReader& in) {
  WEFT_ASSIGN_OR_RETURN(const uint64_t next, in.Number());
  WEFT_ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  auto tensors = std::make_shared<Tensors>();
  for (uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(std::string handle, in.Text());
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, in.ReadTensor());
    tensors->insert_or_assign(std::move(handle), std::move(tensor));
  }
  return std::function<void()>([this, tensors, next] { Replace(std::move(*tensors), next); });
}

void SessionTensors::Replace(Tensors tensors, uint64_t next) {
  std::lock_guard lock(mutex_);
  tensors_.swap(tensors);
  next_ = next;
}

/// What a block binds: the page's table, and the block's id for those that add to it.
class BoundTensors final : public Resource {
 public:
  std::string_view kind() const override { return table().kind(); }
  SessionTensors& table() const { return static_cast<SessionTensors&>(*handle); }

  ResourceHandle handle;
  std::string block;
};

constexpr auto Bind = [](const auto&, BindContext& ctx) -> Result<ResourceHandle> {
  auto bound = std::make_shared<BoundTensors>();
  WEFT_ASSIGN_OR_RETURN(bound->handle, BindTable<SessionTensors>(ctx));
  bound->block = BlockIdOf(ctx);
  return ResourceHandle(std::move(bound));
};

/// One kept tensor, which lives as long as a handle to it.
class SessionTensor final : public Resource {
 public:
  explicit SessionTensor(Tensor value) : value_(std::move(value)) {}
  std::string_view kind() const override { return "session tensor"; }

 private:
  const Tensor value_;
};

// ---- the blocks ------------------------------------------------------------------------------------------------------------------------

constexpr In<0> value{"value", "T", "the tensor to keep"};
constexpr Out<0> made{"handle", "DT_STRING", "a scalar: the handle of the tensor"};
constexpr Out<0> made_resource{"handle", "DT_RESOURCE", "[], the handle of the tensor"};
constexpr In<0> handle{"handle", "DT_STRING", "a scalar: the handle that GetSessionHandle gave"};
constexpr Out<0> kept{"value", "dtype", "the tensor that was kept"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the tensor"};

Result<DType> PlanKeep(PlanContext& ctx) { return ctx.dtype(value); }

constexpr auto RunKeep = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Tensor copy, ctx.Copy(value, type));
  const BoundTensors& bound = ctx.state<BoundTensors>();
  return Emitted(ctx, made, Tensor::Scalar<String>(bound.table().Add(bound.block, std::move(copy))));
};

constexpr auto RunKeepV2 = [](const DType& type, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Tensor copy, ctx.Copy(value, type));
  return Emitted(ctx, made_resource, Tensor::Scalar<ResourceHandle>(std::make_shared<SessionTensor>(std::move(copy))));
};

Status NamesNothing(const auto& ctx) {
  return ctx.Error(handle, "needs the handle of a tensor that is kept, found \"", ctx.template in<String>(handle)[0],
                   "\", which names none");
}

Result<DType> PlanGet(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, handle));
  ctx.set_unknown(kept);
  return ctx.attr(dtype);
}

constexpr auto RunGet = [](const DType& type, ProduceContext& ctx) -> Status {
  Tensor found = ctx.state<BoundTensors>().table().Find(ctx.in<String>(handle)[0]);
  if (!found.defined()) return NamesNothing(ctx);
  if (found.dtype() != type) return ctx.Error(dtype, "needs the type of the tensor that is kept, ", found.dtype(), ", found ", type);
  return Emitted(ctx, kept, std::move(found));
};

Status PlanDelete(PlanContext& ctx) { return CheckScalars(ctx, handle); }

constexpr auto RunDelete = [](const NoParameters&, RunContext& ctx) -> Status {
  return ctx.state<BoundTensors>().table().Remove(ctx.in<String>(handle)[0]) ? Status() : NamesNothing(ctx);
};

}  // namespace

BlockDef GetSessionHandle() {
  return StateBlock("GetSessionHandle", "Keeps a tensor beyond the run, and gives a handle by which other runs of the page find it.")
      .Details("What is kept stays until DeleteSessionTensor lets it go, also where the run fails, and is part of snapshots.")
      .Ports(value, made)
      .Types("T", kAllTypes)
      .Producer(PlanKeep, RunKeep, Bind);
}

BlockDef GetSessionHandleV2() {
  return StateBlock("GetSessionHandleV2", "Keeps a tensor for as long as there is a handle to it, and gives that.")
      .Ports(value, made_resource)
      .Types("T", kAllTypes)
      .Producer(PlanKeep, RunKeepV2);
}

BlockDef GetSessionTensor() {
  return StateBlock("GetSessionTensor", "The tensor that GetSessionHandle kept under a handle.")
      .Ports(handle, kept)
      .Attrs(dtype)
      .Types("dtype", kAllTypes)
      .Producer(PlanGet, RunGet, Bind);
}

BlockDef DeleteSessionTensor() {
  return StateBlock("DeleteSessionTensor", "Lets go of the tensor that GetSessionHandle kept under a handle.")
      .Ports(handle)
      .Kernel(PlanDelete, RunDelete, Bind);
}

}  // namespace weft::blocks
