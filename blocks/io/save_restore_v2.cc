// SaveV2 and RestoreV2: tensors to a version 2 checkpoint and back. RestoreV2 reads version 1 checkpoints, too.
#include "blocks/io/checkpoint_v1/checkpoint_reader.h"
#include "blocks/io/checkpoint_v2/bundle_reader.h"
#include "blocks/io/checkpoint_v2/bundle_writer.h"
#include "blocks/io/saved_tensors.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using checkpoint_v1::CheckpointReader;
using checkpoint_v2::BundleReader;

constexpr In<0> prefix{"prefix", "DT_STRING", "one name: that of the files, without .index and .data-00000-of-00001"};
constexpr In<1> tensor_names{"tensor_names", "DT_STRING", "[N], a name for each tensor"};
constexpr In<2> shape_and_slices{"shape_and_slices", "DT_STRING",
                                 "[N]: which part of which whole each tensor is, as in '4 3 0,2:-' (rows 0 and 1 of 4); empty: the whole"};
constexpr InTuple<3> saved{"tensors", "dtypes", "the N tensors to save"};
constexpr Attr<DTypes> saved_types{"dtypes", kRequired, "the types of the tensors; follow from the wires", nullptr, 1};

constexpr OutTuple<0> restored{"tensors", "dtypes", "the N tensors, or parts of them"};
constexpr Attr<DTypes> dtypes{"dtypes", kRequired, "the types of the tensors, which must be those of the saved ones", nullptr, 1};

Result<DTypes> PlanSave(PlanContext& ctx) {
  if (ctx.shape(prefix).count() != 1) return ctx.Error(prefix, "needs one name, found the shape ", ctx.shape(prefix));
  WEFT_ASSIGN_OR_RETURN(DTypes types, PlanSaved(ctx, tensor_names, saved));
  if (ctx.shape(tensor_names).rank() != 1) return ctx.Error(tensor_names, "needs a vector, found ", ctx.shape(tensor_names));
  WEFT_RETURN_IF_ERROR(CheckSpecs(ctx, shape_and_slices, ctx.count(saved)));
  for (DType dtype : types) {
    if (dtype == DType::kResource) return ctx.Error(saved, "needs values, found a handle");
  }
  return types;
}

/// The folder of the files is made where it is missing, but not the one that it lies in, as TensorFlow has it.
Status CheckFolder(const ProduceContext& ctx, std::string_view name) {
  WEFT_ASSIGN_OR_RETURN(const auto path, ctx.files().Resolve(checkpoint_v2::IndexName(name), Files::Access::kWrite));
  std::error_code error;
  const auto outer = path.parent_path().parent_path();
  if (outer.empty() || std::filesystem::exists(outer, error) || error) return {};
  return NotFound("needs the folder of '", name, "' in a folder that is there, found none");
}

constexpr auto RunSave = [](const DTypes& types, ProduceContext& ctx) -> Status {
  auto tensors = SavedTensors(ctx, types, tensor_names, saved);
  WEFT_RETURN_IF_ERROR(AddParts(ctx, shape_and_slices, tensors));
  const std::string name(ctx.in<String>(prefix)[0]);
  WEFT_RETURN_IF_ERROR(checkpoint::CheckNames(tensors).WithPort(tensor_names.name));
  WEFT_RETURN_IF_ERROR(CheckFolder(ctx, name).WithPort(prefix.name));
  Status status = checkpoint_v2::WriteBundle(ctx.files(), name, tensors, ctx.workers());
  const bool names_at_fault = status.code() == Code::kInvalidArgument;
  return std::move(status).WithPort(names_at_fault ? tensor_names.name : prefix.name);
};

Result<DTypes> PlanRestore(PlanContext& ctx) {
  if (ctx.shape(prefix).count() != 1) return ctx.Error(prefix, "needs one name, found the shape ", ctx.shape(prefix));
  const int count = ctx.count(restored);
  if (ctx.shape(tensor_names) != Shape{count}) {
    return ctx.Error(tensor_names, "needs a name for each of the ", count, " types, found the shape ", ctx.shape(tensor_names));
  }
  WEFT_RETURN_IF_ERROR(CheckSpecs(ctx, shape_and_slices, count));
  for (int k = 0; k < count; ++k) ctx.set_unknown(restored, k);
  return ctx.attr(dtypes);
}

/// Reads all tensors out of what Reader has: Find(name), which tells type and shape, and read(name, found, part).
Status RestoreAll(const DTypes& types, ProduceContext& ctx, auto&& find, auto&& read) {
  for (int k = 0; k < ctx.count(restored); ++k) {
    const std::string name(ctx.in<String>(tensor_names)[k]);
    const auto* found = find(name);
    if (found == nullptr) return ctx.ErrorOf(Code::kNotFound, tensor_names, "needs tensor '", name, "', found none of that name in the checkpoint");
    if (found->dtype != types[k] && found->dtype != DType::kInvalid) {
      return ctx.Error(dtypes, "needs the type of the saved tensor '", name, "', ", found->dtype, ", found ", types[k]);
    }
    WEFT_ASSIGN_OR_RETURN(const checkpoint::TensorSlice part,
                          AtPort(shape_and_slices, PartOf(ctx.in<String>(shape_and_slices)[k], name, found->shape)));
    WEFT_ASSIGN_OR_RETURN(Tensor value, AtPort(prefix, read(name, *found, part)));
    ctx.Emit(restored, std::move(value), k);
  }
  return {};
}

Status RestoreOlder(const DTypes& types, ProduceContext& ctx, const std::vector<std::filesystem::path>& files) {
  const auto& budget = ctx.services().budget;
  WEFT_ASSIGN_OR_RETURN(CheckpointReader reader, AtPort(prefix, CheckpointReader::Open(files, &ctx.workers(), budget)));
  return RestoreAll(
      types, ctx, [&](const std::string& name) { return reader.Find(name); },
      [&](const std::string& name, const auto&, const checkpoint::TensorSlice& part) { return reader.Read(name, part, budget); });
}

constexpr auto RunRestore = [](const DTypes& types, ProduceContext& ctx) -> Status {
  const std::string name(ctx.in<String>(prefix)[0]);
  auto reader = BundleReader::Open(ctx.files(), name, &ctx.workers(), ctx.services().budget);
  if (reader.status().code() == Code::kNotFound) {
    WEFT_ASSIGN_OR_RETURN(const auto older, AtPort(prefix, MatchFiles(ctx.files(), name, &ctx.workers())));
    if (!older.empty()) return RestoreOlder(types, ctx, older);
    return ctx.ErrorOf(Code::kNotFound, prefix, "needs a checkpoint, found neither '", name, ".index' nor a file '", name, "'");
  }
  if (!reader.ok()) return std::move(reader).status().WithPort(prefix.name);
  return RestoreAll(
      types, ctx, [&](const std::string& each) { return reader->Find(each); },
      [&](const std::string& each, const auto& entry, const checkpoint::TensorSlice& part) { return reader->Read(each, entry, part); });
};

}  // namespace

BlockDef SaveV2() {
  return StateBlock("SaveV2", "Writes tensors, or parts of larger ones, to a checkpoint, which it replaces when all is written.")
      .Details("The checkpoint is a version 2 one, of two files, which RestoreV2 and TensorFlow read. Parts of one tensor have its name; RestoreV2 "
               "puts them together.")
      .Ports(prefix, tensor_names, shape_and_slices, saved)
      .Attrs(saved_types)
      .Inferred(saved_types)
      .Producer(PlanSave, RunSave);
}

BlockDef RestoreV2() {
  return StateBlock("RestoreV2", "Reads tensors, or parts of them, from a checkpoint.")
      .Details("Where there is no version 2 checkpoint of that name, a version 1 checkpoint is read: the file of the name, or all files that match "
               "it as a pattern.")
      .Ports(prefix, tensor_names, shape_and_slices, restored)
      .Attrs(dtypes)
      .Producer(PlanRestore, RunRestore);
}

}  // namespace weft::blocks
