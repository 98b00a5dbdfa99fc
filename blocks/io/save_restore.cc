// Save and Restore: tensors to a version 1 checkpoint and back. SaveSlices and RestoreSlice: parts of tensors.
#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "blocks/io/saved_tensors.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using checkpoint_v1::CheckpointReader;

constexpr In<0> filename{"filename", "DT_STRING", "one name: the file to write"};
constexpr In<1> tensor_names{"tensor_names", "DT_STRING", "[N], a name for each tensor"};
constexpr InTuple<2> data{"data", "T", "the N tensors to save"};
constexpr Attr<DTypes> types{"T", kRequired, "the types of the tensors; follow from the wires", nullptr, 1};

constexpr In<2> shapes_and_slices{"shapes_and_slices", "DT_STRING",
                                  "[N]: which part of which whole each tensor is, as in '4 3 0,2:-' (rows 0 and 1 of 4); empty: the whole"};
constexpr InTuple<3> slices_data{"data", "T", "the N tensors to save"};

constexpr In<0> file_pattern{"file_pattern", "DT_STRING",
                             "one name: the file, or a pattern (* ? [a-z]) that all files of the checkpoint match"};
constexpr In<1> tensor_name{"tensor_name", "DT_STRING", "one name: the tensor to read"};
constexpr In<2> shape_and_slice{"shape_and_slice", "DT_STRING",
                                "one text: the shape of the tensor and the part to read, as in '4 3 0,2:-'; empty: all"};
constexpr Out<0> tensor{"tensor", "dt", "the tensor, as it was saved"};
constexpr Attr<DType> dt{"dt", kRequired, "the type of the tensor, which must be that of the saved one"};
constexpr Attr<int64_t> preferred_shard{"preferred_shard", "-1",
                                        "the file, by its place among those that match, to look into first; -1 for all"};

Result<DTypes> PlanFile(const PlanContext& ctx, const auto& saved) {
  if (ctx.shape(filename).count() != 1) return ctx.Error(filename, "needs one name, found the shape ", ctx.shape(filename));
  WEFT_ASSIGN_OR_RETURN(DTypes dtypes, PlanSaved(ctx, tensor_names, saved));
  for (DType dtype : dtypes) {
    if (Status status = checkpoint_v1::CheckSavable(dtype); !status.ok()) return std::move(status).WithPort(saved.name);
  }
  return dtypes;
}

Result<DTypes> PlanSave(PlanContext& ctx) { return PlanFile(ctx, data); }
Result<DTypes> PlanSaveSlices(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSpecs(ctx, shapes_and_slices, ctx.count(slices_data)));
  return PlanFile(ctx, slices_data);
}

Status WriteFile(ProduceContext& ctx, std::span<const checkpoint::NamedTensor> tensors) {
  WEFT_RETURN_IF_ERROR(checkpoint::CheckNames(tensors).WithPort(tensor_names.name));
  WEFT_ASSIGN_OR_RETURN(AtomicFile file, AtPort(filename, AtomicFile::Create(ctx.files(), ctx.in<String>(filename)[0])));
  Status status = checkpoint_v1::WriteCheckpoint(file, tensors, &ctx.workers(), ctx.services().budget);
  const bool tensor_at_fault = status.code() == Code::kInvalidArgument;
  return std::move(status).WithPort(tensor_at_fault ? data.name : filename.name);
}

constexpr auto RunSave = [](const DTypes& dtypes, ProduceContext& ctx) {
  return WriteFile(ctx, SavedTensors(ctx, dtypes, tensor_names, data));
};

constexpr auto RunSaveSlices = [](const DTypes& dtypes, ProduceContext& ctx) -> Status {
  auto tensors = SavedTensors(ctx, dtypes, tensor_names, slices_data);
  WEFT_RETURN_IF_ERROR(AddParts(ctx, shapes_and_slices, tensors));
  return WriteFile(ctx, tensors);
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

/// `spec` says which part is asked for, at shape_and_slice; all of it where it is empty.
Result<Tensor> ReadTensor(const std::vector<std::filesystem::path>& files, const std::string& name, std::string_view spec,
                          const RestoreParameters& p, ProduceContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(CheckpointReader reader,
                        AtPort(file_pattern, CheckpointReader::Open(files, &ctx.workers(), ctx.services().budget)));
  const auto* saved = reader.Find(name);
  if (saved != nullptr && saved->dtype != p.dtype && saved->dtype != DType::kInvalid) {
    return ctx.Error(dt, "needs the type of the saved tensor '", name, "', ", saved->dtype, ", found ", p.dtype);
  }
  WEFT_ASSIGN_OR_RETURN(const checkpoint::TensorSlice part,
                        AtPort(shape_and_slice, PartOf(saved == nullptr ? "" : spec, name, saved == nullptr ? Shape{} : saved->shape)));
  auto read = reader.Read(name, part, ctx.services().budget);
  if (!read.ok()) return std::move(read).status().WithPort(saved == nullptr ? tensor_name.name : file_pattern.name);
  return read;
}

Status RestoreTensor(const RestoreParameters& p, std::string_view spec, ProduceContext& ctx) {
  const std::string pattern(ctx.in<String>(file_pattern)[0]);
  const std::string name(ctx.in<String>(tensor_name)[0]);
  WEFT_ASSIGN_OR_RETURN(const auto files, AtPort(file_pattern, MatchFiles(ctx.files(), pattern, &ctx.workers())));
  if (files.empty()) return ctx.ErrorOf(Code::kNotFound, file_pattern, "needs a checkpoint, found no file '", pattern, "'");
  if (p.preferred_shard >= 0 && p.preferred_shard < static_cast<int64_t>(files.size()) && files.size() > 1) {
    auto read = ReadTensor({files[static_cast<size_t>(p.preferred_shard)]}, name, spec, p, ctx);
    if (read.ok()) {
      return Emitted(ctx, tensor, std::move(*read));
    }
  }
  WEFT_ASSIGN_OR_RETURN(Tensor read, ReadTensor(files, name, spec, p, ctx));
  return Emitted(ctx, tensor, std::move(read));
}

Result<RestoreParameters> PlanRestoreSlice(PlanContext& ctx) {
  if (ctx.shape(shape_and_slice).count() != 1) {
    return ctx.Error(shape_and_slice, "needs one text, found the shape ", ctx.shape(shape_and_slice));
  }
  return PlanRestore(ctx);
}

constexpr auto RunRestore = [](const RestoreParameters& p, ProduceContext& ctx) { return RestoreTensor(p, "", ctx); };
constexpr auto RunRestoreSlice = [](const RestoreParameters& p, ProduceContext& ctx) {
  return RestoreTensor(p, ctx.in<String>(shape_and_slice)[0], ctx);
};

}  // namespace

BlockDef Save() {
  return StateBlock("Save", "Writes tensors to a file, which it replaces at once when all is written.")
      .Details("The file is a version 1 checkpoint, which Restore and TensorFlow read.")
      .Ports(filename, tensor_names, data)
      .Attrs(types)
      .Inferred(types)
      .Producer(PlanSave, RunSave);
}

BlockDef Restore() {
  return StateBlock("Restore", "Reads a tensor from the files of a checkpoint that Save wrote.")
      .Details("The files are version 1 checkpoints, as Save and TensorFlow's Save write them.")
      .Ports(file_pattern, tensor_name, tensor)
      .Attrs(dt, preferred_shard)
      .Producer(PlanRestore, RunRestore);
}

BlockDef SaveSlices() {
  return StateBlock("SaveSlices", "Writes tensors, or parts of larger ones, to a file, which it replaces at once when all is written.")
      .Details("The file is a version 1 checkpoint. Parts of one tensor, in one file or several, have its name; Restore puts them together.")
      .Ports(filename, tensor_names, shapes_and_slices, slices_data)
      .Attrs(types)
      .Inferred(types)
      .Producer(PlanSaveSlices, RunSaveSlices);
}

BlockDef RestoreSlice() {
  return StateBlock("RestoreSlice", "Reads a part of a tensor from the files of a checkpoint that Save or SaveSlices wrote.")
      .Details("The part need not be one that was saved as such.")
      .Ports(file_pattern, tensor_name, shape_and_slice, tensor)
      .Attrs(dt, preferred_shard)
      .Producer(PlanRestoreSlice, RunRestoreSlice);
}

}  // namespace weft::blocks
