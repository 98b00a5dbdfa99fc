// MergeV2Checkpoints: one checkpoint out of several.
#include "blocks/io/checkpoint_v2/bundle_merge.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> checkpoint_prefixes{"checkpoint_prefixes", "DT_STRING", "[N], the names of the checkpoints"};
constexpr In<1> destination_prefix{"destination_prefix", "DT_STRING", "a scalar: the name of the checkpoint that they become"};
constexpr Attr<bool> delete_old_dirs{"delete_old_dirs", "true", "remove the folders of the checkpoints where they are empty then"};
constexpr Attr<bool> allow_missing_files{"allow_missing_files", "false", "pass over checkpoints that are not there"};

Result<checkpoint_v2::MergeOptions> Plan(PlanContext& ctx) {
  if (ctx.shape(checkpoint_prefixes).rank() != 1) {
    return ctx.Error(checkpoint_prefixes, "needs a vector, found ", ctx.shape(checkpoint_prefixes));
  }
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, destination_prefix));
  return checkpoint_v2::MergeOptions{ctx.attr(delete_old_dirs), ctx.attr(allow_missing_files)};
}

constexpr auto Run = [](const checkpoint_v2::MergeOptions& options, ProduceContext& ctx) -> Status {
  std::vector<std::string> prefixes;
  for (const String& prefix : ctx.in<String>(checkpoint_prefixes)) prefixes.emplace_back(prefix.view());
  const std::string to(ctx.in<String>(destination_prefix)[0]);
  return checkpoint_v2::MergeBundles(ctx.files(), prefixes, to, options, ctx.services()).WithPort(checkpoint_prefixes.name);
};

}  // namespace

BlockDef MergeV2Checkpoints() {
  return Block("MergeV2Checkpoints", "Makes one checkpoint of several that SaveV2 wrote, by moving their files.")
      .Details("Parts of one tensor may lie in several of them. The checkpoints that were merged are gone then.")
      .Ports(checkpoint_prefixes, destination_prefix)
      .Attrs(delete_old_dirs, allow_missing_files)
      .Stateful()
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
