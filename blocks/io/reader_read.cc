// ReaderRead and ReaderReadUpTo: records out of a reader. ReaderNumRecordsProduced, ReaderNumWorkUnitsCompleted and ReaderReset: how
// far it is, and back to its start. ReaderSerializeState and ReaderRestoreState: what is to be kept of it, as a string.
#include "blocks/data_flow/queue_blocks.h"
#include "blocks/io/record_reader.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> reader_handle{"reader_handle", "DT_RESOURCE", "[], the reader"};
constexpr In<1> queue_handle{"queue_handle", "DT_RESOURCE", "[], a queue of file names, one string an element"};
constexpr In<2> num_records{"num_records", "DT_INT64", "one number: the most records to read"};
constexpr Out<0> key{"key", "DT_STRING", "[], which record it is"};
constexpr Out<1> value{"value", "DT_STRING", "[], the record"};
constexpr Out<0> keys{"keys", "DT_STRING", "[N], which records they are"};
constexpr Out<1> values{"values", "DT_STRING", "[N], the records, of one file; N is at most num_records"};
constexpr Out<0> records_produced{"records_produced", "DT_INT64", "[], records read since the start or a reset"};
constexpr In<1> restored_state{"state", "DT_STRING", "[], what ReaderSerializeState gave of a reader of the same kind"};
constexpr Out<0> state{"state", "DT_STRING", "[], the counts of the reader and the file that it is in"};
constexpr Out<0> units_completed{"units_completed", "DT_INT64", "[], files read to their end"};

Status PlanRead(PlanContext& ctx) { return CheckHandles(ctx, reader_handle, queue_handle); }

Status PlanReadUpTo(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, reader_handle, queue_handle));
  if (ctx.shape(num_records).count() != 1) return ctx.Error(num_records, "needs one number, found the shape ", ctx.shape(num_records));
  WEFT_ASSIGN_OR_RETURN(PartialShape any, PartialShape::Make({-1}));
  ctx.set_unknown(keys, 0, any);
  ctx.set_unknown(values, 0, any);
  return {};
}

constexpr auto RunRead = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(queue_handle));
  WEFT_ASSIGN_OR_RETURN(FileRecord record, reader->Read(*queue, ctx.services()));
  return Emitted(ctx, key, Tensor::Scalar<String>(std::move(record.key)), value, Tensor::Scalar<String>(std::move(record.value)));
};

constexpr auto RunReadUpTo = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  WEFT_ASSIGN_OR_RETURN(Queue * queue, ctx.Find<Queue>(queue_handle));
  const int64_t most = ctx.in<int64_t>(num_records)[0];
  if (most < 0) return ctx.Error(num_records, "needs 0 or more, found ", most);
  WEFT_ASSIGN_OR_RETURN(auto records, reader->ReadUpTo(*queue, most, ctx.services()));
  const Shape shape{static_cast<int64_t>(records.size())};
  WEFT_ASSIGN_OR_RETURN(Tensor all_keys, ctx.Allocate(DType::kString, shape));
  WEFT_ASSIGN_OR_RETURN(Tensor all_values, ctx.Allocate(DType::kString, shape));
  for (size_t i = 0; i < records.size(); ++i) {
    all_keys.values<String>()[i] = std::move(records[i].key);
    all_values.values<String>()[i] = std::move(records[i].value);
  }
  return Emitted(ctx, keys, std::move(all_keys), values, std::move(all_values));
};

Status PlanReader(PlanContext& ctx) { return CheckHandles(ctx, reader_handle); }

template <int64_t (RecordReader::*count)() const>
constexpr auto RunCount = [](const NoParameters&, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  ctx.out<int64_t>(records_produced)[0] = (reader->*count)();
  return {};
};

constexpr auto RunReset = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  return reader->Reset(ctx.services());
};

constexpr auto RunSerialize = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  WEFT_ASSIGN_OR_RETURN(String kept, AtPort(reader_handle, reader->Serialize(ctx.services())));
  return Emitted(ctx, state, Tensor::Scalar<String>(std::move(kept)));
};

Status PlanRestore(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, reader_handle));
  return CheckScalars(ctx, restored_state);
}

constexpr auto RunRestore = [](const NoParameters&, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(RecordReader * reader, ctx.Find<RecordReader>(reader_handle));
  Status status = reader->Restore(ctx.in<String>(restored_state)[0], ctx.services());
  const bool state_at_fault = status.code() == Code::kInvalidArgument;
  return std::move(status).WithPort(state_at_fault ? restored_state.name : reader_handle.name);
};

}  // namespace

BlockDef ReaderRead() {
  return StateBlock("ReaderRead", "Reads the next record, from a file that the queue names where a new one is needed.")
      .Ports(reader_handle, queue_handle, key, value)
      .Alias("ReaderReadV2")
      .Waits()
      .Producer(PlanRead, RunRead);
}

BlockDef ReaderReadUpTo() {
  return StateBlock("ReaderReadUpTo", "Reads up to a number of records of one file.")
      .Ports(reader_handle, queue_handle, num_records, keys, values)
      .Alias("ReaderReadUpToV2")
      .Waits()
      .Producer(PlanReadUpTo, RunReadUpTo);
}

BlockDef ReaderNumRecordsProduced() {
  return StateBlock("ReaderNumRecordsProduced", "How many records a reader has given.")
      .Ports(reader_handle, records_produced)
      .Alias("ReaderNumRecordsProducedV2")
      .Kernel(PlanReader, RunCount<&RecordReader::records_produced>);
}

BlockDef ReaderNumWorkUnitsCompleted() {
  return StateBlock("ReaderNumWorkUnitsCompleted", "How many files a reader has read to their end.")
      .Ports(reader_handle, units_completed)
      .Alias("ReaderNumWorkUnitsCompletedV2")
      .Kernel(PlanReader, RunCount<&RecordReader::files_completed>);
}

BlockDef ReaderReset() {
  return StateBlock("ReaderReset", "Makes a reader as new: it forgets the file it is in, and its counts.")
      .Ports(reader_handle)
      .Alias("ReaderResetV2")
      .Producer(PlanReader, RunReset);
}

BlockDef ReaderSerializeState() {
  return StateBlock("ReaderSerializeState", "The state of a reader as a string, for ReaderRestoreState.")
      .Details("Only an IdentityReader and a WholeFileReader can tell theirs so; a snapshot of the page keeps that of each reader.")
      .Ports(reader_handle, state)
      .Alias("ReaderSerializeStateV2")
      .Producer(PlanReader, RunSerialize);
}

BlockDef ReaderRestoreState() {
  return StateBlock("ReaderRestoreState",
                    "Brings a reader to the state that ReaderSerializeState kept, also one of another reader of its kind.")
      .Details("Where the state is refused the reader is as new.")
      .Ports(reader_handle, restored_state)
      .Alias("ReaderRestoreStateV2")
      .Producer(PlanRestore, RunRestore);
}

}  // namespace weft::blocks
