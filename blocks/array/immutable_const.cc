// ImmutableConst: a constant whose elements are the bytes of a file.
#include <algorithm>
#include <mutex>

#include "blocks/io/file_access.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/stoppable_lock.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Out<0> tensor{"tensor", "dtype", "the elements of the file, in the shape of the attribute"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the elements; strings, which have no fixed size, are refused when the file is read"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "the shape of the tensor, all sizes known"};
constexpr Attr<std::string> memory_region_name{"memory_region_name", kRequired, "the file: the elements in row-major order, little-endian"};

constexpr auto kStored = kNumbers + kQuantized + TypeList<bool, String>{};

/// The tensor once it was read; not mapped, since a mapped file that another program cuts short would end the process.
class Region : public Resource {
 public:
  std::string_view kind() const override { return "memory region"; }

  Result<Tensor> Get(const ProduceContext& ctx, DType type, const Shape& sizes, const std::string& name) {
    const auto lock = LockUnlessStopped(mutex_, ctx.workers());  // another session may read the file
    if (!lock) return kernels::RunStopped();
    if (!tensor_.defined()) {
      WEFT_ASSIGN_OR_RETURN(tensor_, Read(ctx, type, sizes, name));
    }
    return tensor_;
  }

 private:
  static Result<Tensor> Read(const ProduceContext& ctx, DType type, const Shape& sizes, const std::string& name) {
    if (name.empty()) return NotFound("needs the name of a file, found none").WithPort(memory_region_name.name);
    auto file = InputFile::Open(ctx.files(), name);
    if (!file.ok()) return std::move(file).status().WithPort(memory_region_name.name);
    if (type == DType::kString) return Unsupported("needs elements of a fixed size, found DT_STRING").WithPort(dtype.name);
    const auto bytes = CheckedMultiply(sizes.count(), static_cast<int64_t>(ElementSize(type)));
    if (!bytes || file->size() < static_cast<uint64_t>(*bytes)) {
      return DataLoss("needs a file of ", bytes.value_or(INT64_MAX), " bytes for ", sizes, " of ", type, ", found ", file->size())
          .WithPort(memory_region_name.name);
    }
    WEFT_ASSIGN_OR_RETURN(Tensor result, ctx.Allocate(type, sizes));
    const auto* first = static_cast<const char*>(result.data());
    auto* out = static_cast<char*>(result.data());
    WEFT_RETURN_IF_ERROR(file->ReadLong(0, {out, static_cast<size_t>(*bytes)}, &ctx.workers(), [&](std::string_view piece) {
      // Any byte may stand in the file, but a bool is 0 or 1.
      if (type == DType::kBool) std::ranges::transform(piece, out + (piece.data() - first), [](char byte) { return static_cast<char>(byte != 0); });
    }));
    return result;
  }

  std::mutex mutex_;
  Tensor tensor_;
};

struct Parameters {
  DType type;
  Shape shape;
  std::string file;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const auto sizes = ctx.attr(shape).shape();
  if (!sizes) return ctx.Error(shape, "needs a shape with all sizes known, found ", ctx.attr(shape));
  ctx.set(tensor, *sizes);
  return Parameters{ctx.attr(dtype), *sizes, ctx.attr(memory_region_name)};
}

constexpr auto Run = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(Tensor value, ctx.state<Region>().Get(ctx, p.type, p.shape, p.file));
  return Emitted(ctx, tensor, std::move(value));
};

constexpr auto Bind = [](const Parameters&, BindContext& ctx) {
  return ctx.Own([]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Region>()); });
};

}  // namespace

BlockDef ImmutableConst() {
  return Block("ImmutableConst", "A constant whose elements are the bytes of a file.")
      .Details("The file is read when the block first runs; later changes of it do not count.")
      .Ports(tensor).Attrs(dtype, shape, memory_region_name).Types("dtype", kStored)
      .NotDifferentiable().Producer(Plan, Run, Bind);
}

}  // namespace weft::blocks
