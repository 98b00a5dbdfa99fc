// MatchingFiles: the names of files that match patterns. ShardedFilename and ShardedFilespec: the names of the parts of a file.
#include <algorithm>
#include <cstdio>

#include "blocks/io/file_access.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> pattern{"pattern", "DT_STRING", "a scalar or [N]: patterns of names (* ? [a-z], none of which matches a slash)"};
constexpr Out<0> filenames{"filenames", "DT_STRING", "[M], the names, sorted; one that several patterns match comes as often"};

constexpr In<0> basename{"basename", "DT_STRING", "a scalar: the name before the number of the part"};
constexpr In<1> shard{"shard", "DT_INT32", "a scalar: the number of the part, from 0"};
constexpr In<2> num_shards{"num_shards", "DT_INT32", "a scalar: how many parts there are"};
constexpr In<1> all_shards{"num_shards", "DT_INT32", "a scalar: how many parts there are"};
constexpr Out<0> filename{"filename", "DT_STRING", "a scalar: the name of the part"};
constexpr Out<0> filespec{"filename", "DT_STRING", "a scalar: the pattern"};

Status PlanMatching(PlanContext& ctx) {
  if (ctx.shape(pattern).rank() > 1) return ctx.Error(pattern, "needs a scalar or a vector, found ", ctx.shape(pattern));
  WEFT_ASSIGN_OR_RETURN(PartialShape any, PartialShape::Make({-1}));
  ctx.set_unknown(filenames, 0, any);
  return {};
}

constexpr auto RunMatching = [](const NoParameters&, ProduceContext& ctx) -> Status {
  std::vector<std::string> found;
  for (const String& each : ctx.in<String>(pattern)) {
    if (ctx.cancelled()) return kernels::RunStopped();
    WEFT_ASSIGN_OR_RETURN(std::vector<std::string> names, AtPort(pattern, MatchNames(ctx.files(), each, &ctx.workers())));
    std::move(names.begin(), names.end(), std::back_inserter(found));
  }
  std::sort(found.begin(), found.end());
  WEFT_ASSIGN_OR_RETURN(Tensor result, ctx.Allocate(DType::kString, Shape{static_cast<int64_t>(found.size())}));
  std::copy(found.begin(), found.end(), result.values<String>().begin());
  return Emitted(ctx, filenames, std::move(result));
};

/// Five digits at least, as printf's %05d.
std::string Digits(int32_t number) {
  char text[16];
  return std::string(text, static_cast<size_t>(std::snprintf(text, sizeof text, "%05d", number)));
}

constexpr auto PlanFilename = [](PlanContext& ctx) { return CheckScalars(ctx, basename, shard, num_shards); };
constexpr auto PlanFilespec = [](PlanContext& ctx) { return CheckScalars(ctx, basename, all_shards); };

constexpr auto RunFilename = [](const NoParameters&, RunContext& ctx) {
  const std::string part = Cat("-", Digits(ctx.in<int32_t>(shard)[0]), "-of-", Digits(ctx.in<int32_t>(num_shards)[0]));
  ctx.out<String>(filename)[0] = String(ctx.in<String>(basename)[0], part);
};
constexpr auto RunFilespec = [](const NoParameters&, RunContext& ctx) {
  ctx.out<String>(filespec)[0] = String(ctx.in<String>(basename)[0], Cat("-?\?\?\?\?-of-", Digits(ctx.in<int32_t>(all_shards)[0])));
};

}  // namespace

BlockDef MatchingFiles() {
  return Block("MatchingFiles", "The names of the files and folders that match patterns.")
      .Details("Names are spelled as the pattern is: relative ones stay relative to the page.")
      .Ports(pattern, filenames)
      .Stateful()
      .NotDifferentiable()
      .Producer(PlanMatching, RunMatching);
}

BlockDef ShardedFilename() {
  return Block("ShardedFilename", "The name of one part of a file in several: basename-00003-of-00010.")
      .Ports(basename, shard, num_shards, filename)
      .NotDifferentiable()
      .Kernel(PlanFilename, RunFilename);
}

BlockDef ShardedFilespec() {
  return Block("ShardedFilespec", "The pattern that the names of all parts of a file match: basename-?\?\?\?\?-of-00010.")
      .Ports(basename, all_shards, filespec)
      .NotDifferentiable()
      .Kernel(PlanFilespec, RunFilespec);
}

}  // namespace weft::blocks
