// RecordInput: batches of the records of files, in random order, without an end.
#include "blocks/io/reader_blocks.h"
#include "blocks/io/record_yielder.h"
#include "blocks/io/tf_record.h"

namespace weft::blocks {
namespace {

constexpr Out<0> records{"records", "DT_STRING", "[batch_size], the records"};
constexpr Attr<std::string> file_pattern{"file_pattern", kRequired, "names or patterns of files of TensorFlow's records, between commas"};
constexpr Attr<int64_t> file_random_seed{"file_random_seed", "301", "the seed of the order"};
constexpr Attr<float> file_shuffle_shift_ratio{"file_shuffle_shift_ratio", "0",
                                               "by which part of them the files are rotated after they were shuffled, from 0 up to 1"};
constexpr Attr<int64_t> file_buffer_size{"file_buffer_size", "10000", "records that are shuffled among one another"};
constexpr Attr<int64_t> file_parallelism{"file_parallelism", "16", "files that are read by turns"};
constexpr Attr<int64_t> batch_size{"batch_size", "32", "records in a batch"};
constexpr Attr<std::string> compression_type{"compression_type", "\"\"", "how files are compressed: ZLIB, GZIP, or empty for not at all"};

struct Parameters {
  YieldSpec spec;
  Encoding encoding;
};

Result<Parameters> Plan(PlanContext& ctx) {
  for (const Attr<int64_t>* attr : {&file_buffer_size, &file_parallelism, &batch_size}) {
    if (ctx.attr(*attr) < 1) return ctx.Error(*attr, "needs 1 or more, found ", ctx.attr(*attr));
  }
  WEFT_ASSIGN_OR_RETURN(const Encoding encoding, readers::EncodingOf(ctx, compression_type));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(records, std::vector<int64_t>{ctx.attr(batch_size)}, batch_size));
  return Parameters{{ctx.attr(file_pattern), ctx.attr(file_random_seed), ctx.attr(file_shuffle_shift_ratio), ctx.attr(file_buffer_size),
                     ctx.attr(file_parallelism)},
                    encoding};
}

constexpr auto Bind = [](const Parameters& p, BindContext& ctx) {
  return ctx.Own([&]() -> Result<ResourceHandle> {
    return ResourceHandle(std::make_shared<RecordYielder>(p.spec, [encoding = p.encoding] { return MakeTFRecordSource(encoding); }));
  });
};

constexpr auto Run = [](const Parameters&, RunContext& ctx) -> Status {
  return ctx.state<RecordYielder>().Yield(ctx.out<String>(records), *FrameOf(ctx).services);
};

}  // namespace

BlockDef RecordInput() {
  return Block("RecordInput", "Batches of the records of TensorFlow's record files, in random order, again and again.")
      .Details("The same seed gives the same order, TensorFlow's own for one file whose records all fit in half the buffer.")
      .Ports(records)
      .Attrs(file_pattern, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, file_parallelism, batch_size, compression_type)
      .Stateful()
      .NotDifferentiable()
      .Kernel(Plan, Run, Bind);
}

}  // namespace weft::blocks
