// Save and Restore: tensors to a version 1 checkpoint and back.
#include <algorithm>

#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using checkpoint_v1::CheckpointReader;
using checkpoint_v1::TensorSlice;

constexpr In<0> filename{"filename", "DT_STRING", "one name: the file to write"};
constexpr In<1> tensor_names{"tensor_names", "DT_STRING", "[N], a name for each tensor"};
constexpr InTuple<2> data{"data", "T", "the N tensors to save"};
constexpr Attr<DTypes> types{"T", kRequired, "the types of the tensors; follow from the wires", nullptr, 1};

constexpr In<0> file_pattern{"file_pattern", "DT_STRING",
                             "one name: the file, or a pattern (* ? [a-z]) that all files of the checkpoint match"};
constexpr In<1> tensor_name{"tensor_name", "DT_STRING", "one name: the tensor to read"};
constexpr Out<0> tensor{"tensor", "dt", "the tensor, as it was saved"};
constexpr Attr<DType> dt{"dt", kRequired, "the type of the tensor, which must be that of the saved one"};
constexpr Attr<int64_t> preferred_shard{"preferred_shard", "-1",
                                        "the file, by its place among those that match, to look into first; -1 for all"};

Result<DTypes> PlanSave(PlanContext& ctx) {
  if (ctx.shape(filename).count() != 1) return ctx.Error(filename, "needs one name, found the shape ", ctx.shape(filename));
  const int count = ctx.count(data);
  if (count == 0) return ctx.Error(data, "needs at least one tensor, found none");
  if (ctx.shape(tensor_names).count() != count) {
    return ctx.Error(tensor_names, "needs a name for each of the ", count, " tensors, found the shape ", ctx.shape(tensor_names));
  }
  DTypes saved = DTypesOf(ctx, data);
  for (DType dtype : saved) {
    if (Status status = checkpoint_v1::CheckSavable(dtype); !status.ok()) return std::move(status).WithPort(data.name);
  }
  return saved;
}

constexpr auto RunSave = [](const DTypes& dtypes, ProduceContext& ctx) -> Status {
  std::vector<checkpoint_v1::NamedTensor> tensors;
  const auto names = ctx.in<String>(tensor_names);
  for (int k = 0; k < ctx.count(data); ++k) {
    if (std::find(names.begin(), names.begin() + k, names[k]) != names.begin() + k) {
      return ctx.Error(tensor_names, "needs names that differ, found '", names[k], "' twice");
    }
    // A view: the writer is done with it before this call ends.
    void* elements = const_cast<std::byte*>(ctx.in<std::byte>(data, k).data());
    tensors.push_back({std::string(names[k]), Tensor::View(dtypes[k], ctx.shape(data, k), elements, nullptr)});
  }
  WEFT_ASSIGN_OR_RETURN(AtomicFile file, AtPort(filename, AtomicFile::Create(ctx.files(), ctx.in<String>(filename)[0])));
  Status status = checkpoint_v1::WriteCheckpoint(file, tensors, &ctx.workers(), ctx.services().budget);
  const bool tensor_at_fault = status.code() == Code::kInvalidArgument;
  return std::move(status).WithPort(tensor_at_fault ? data.name : filename.name);
};

struct RestoreParameters {
  DType dtype;
  int64_t preferred_shard;
};

Result<RestoreParameters> PlanRestore(PlanContext& ctx) {
  if (ctx.shape(file_pattern).count() != 1) return ctx.Error(file_pattern, "needs one name, found the shape ", ctx.shape(file_pattern));
  if (ctx.shape(tensor_name).count() < 1) return ctx.Error(tensor_name, "needs a name, found none");
  ctx.set_unknown(tensor);
  return RestoreParameters{ctx.attr(dt), ctx.attr(preferred_shard)};
}

Result<Tensor> ReadWhole(const std::vector<std::filesystem::path>& files, const std::string& name, const RestoreParameters& p,
                         ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(CheckpointReader reader,
                        AtPort(file_pattern, CheckpointReader::Open(files, &ctx.workers(), ctx.services().budget)));
  const auto* saved = reader.Find(name);
  if (saved != nullptr && saved->dtype != p.dtype && saved->dtype != DType::kInvalid) {
    return ctx.Error(dt, "needs the type of the saved tensor '", name, "', ", saved->dtype, ", found ", p.dtype);
  }
  auto read = reader.Read(name, TensorSlice::Whole(saved == nullptr ? 0 : saved->shape.rank()), ctx.services().budget);
  if (!read.ok()) return std::move(read).status().WithPort(saved == nullptr ? tensor_name.name : file_pattern.name);
  return read;
}

constexpr auto RunRestore = [](const RestoreParameters& p, ProduceContext& ctx) -> Status {
  const std::string pattern(ctx.in<String>(file_pattern)[0]);
  const std::string name(ctx.in<String>(tensor_name)[0]);
  WEFT_ASSIGN_OR_RETURN(const auto files, AtPort(file_pattern, MatchFiles(ctx.files(), pattern, &ctx.workers())));
  if (files.empty()) return ctx.ErrorOf(Code::kNotFound, file_pattern, "needs a checkpoint, found no file '", pattern, "'");
  if (p.preferred_shard >= 0 && p.preferred_shard < static_cast<int64_t>(files.size()) && files.size() > 1) {
    auto read = ReadWhole({files[static_cast<size_t>(p.preferred_shard)]}, name, p, ctx);
    if (read.ok()) {
      ctx.Emit(tensor, std::move(*read));
      return {};
    }
  }
  WEFT_ASSIGN_OR_RETURN(Tensor read, ReadWhole(files, name, p, ctx));
  ctx.Emit(tensor, std::move(read));
  return {};
};

}  // namespace

BlockDef Save() {
  return Block("Save", "Writes tensors to a file, which it replaces at once when all is written.")
      .Details("The file is a version 1 checkpoint, which Restore and TensorFlow read.")
      .Ports(filename, tensor_names, data)
      .Attrs(types)
      .Inferred(types)
      .Stateful()
      .NotDifferentiable()
      .Producer(PlanSave, RunSave);
}

BlockDef Restore() {
  return Block("Restore", "Reads a tensor from the files of a checkpoint that Save wrote.")
      .Details("The files are version 1 checkpoints, as Save and TensorFlow's Save write them.")
      .Ports(file_pattern, tensor_name, tensor)
      .Attrs(dt, preferred_shard)
      .Stateful()
      .NotDifferentiable()
      .Producer(PlanRestore, RunRestore);
}

}  // namespace weft::blocks
