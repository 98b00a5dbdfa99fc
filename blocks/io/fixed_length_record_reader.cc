// FixedLengthRecordReader: a reader of files whose records are all of one size.
#include <algorithm>

#include "blocks/io/byte_window.h"
#include "blocks/io/reader_blocks.h"
#include "blocks/kernels/stop_check.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using namespace readers;

constexpr Attr<int64_t> header_bytes{"header_bytes", "0", "bytes before the first record of a file", nullptr, 0};
constexpr Attr<int64_t> record_bytes{"record_bytes", kRequired, "bytes of a record", nullptr, 0};
constexpr Attr<int64_t> footer_bytes{"footer_bytes", "0", "bytes after the last record of a file", nullptr, 0};
constexpr Attr<int64_t> hop_bytes{"hop_bytes", "0", "bytes from one record's start to the next one's; 0 means record_bytes", nullptr, 0};
constexpr Attr<std::string> encoding{"encoding", "\"\"", "how files are compressed: ZLIB, GZIP, or empty for not at all"};

struct RecordLayout {
  int64_t header, record, footer, hop;
  Encoding encoding;
};

class FixedLengthSource final : public PlacedSource {
 public:
  explicit FixedLengthSource(const RecordLayout& layout) : layout_(layout) {}

  void Stop() override {
    stream_ = nullptr;
    ahead_ = {};
  }

 private:
  std::unique_ptr<PlacedSource> Fresh() const override { return std::make_unique<FixedLengthSource>(layout_); }
  Status Open(const Files& files, const std::string& name) override {
    WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(files, name));
    file_bytes_ = static_cast<int64_t>(file.size());
    WEFT_ASSIGN_OR_RETURN(stream_, OpenByteStream(std::move(file), layout_.encoding));
    ahead_ = {};
    before_next_ = layout_.header;
    return {};
  }
  Status PassHead(const Services& services) override {
    WEFT_ASSIGN_OR_RETURN(const bool found, Advance(services));
    return found ? Status() : OutOfRange("needs ", layout_.header, " header bytes in '", name_, "', found fewer");
  }
  int64_t LastPlace() const override {
    constexpr int64_t kMostBytes = INT64_MAX / 2;  // of what a compressed file is when expanded
    const int64_t bytes = layout_.encoding == Encoding::kPlain ? file_bytes_ : kMostBytes;
    const int64_t before_last = bytes - layout_.header - layout_.record - layout_.footer;
    return before_last < 0 ? 0 : before_last / layout_.hop + 1;
  }
  /// Over all records but the last one at once; that one tells whether the file has it.
  Result<bool> GoTo(int64_t place, const Services& services) override {
    if (place == 0) return Advance(services);
    if (place_ == 0) {
      place_ = place - 1;
      before_next_ += place_ * layout_.hop;
    }
    FileRecord passed;
    return NextRecord(passed, services);
  }

  Result<bool> NextRecord(FileRecord& record, const Services& services) override {
    WEFT_ASSIGN_OR_RETURN(bool found, Advance(services));
    if (!found) return false;
    // The footer is read along, to know that the record is not part of it.
    WEFT_ASSIGN_OR_RETURN(found, ahead_.Fill(*stream_, layout_.record + layout_.footer, services));
    if (!found) return false;
    WEFT_ASSIGN_OR_RETURN(record.value, ahead_.Front(layout_.record, services));
    WEFT_ASSIGN_OR_RETURN(record.key, KeyOf(place_, services));
    ++place_;
    before_next_ = layout_.hop;
    return true;
  }

  /// Drops what lies before the next record; false where the file ends there. What was dropped stays so where that fails.
  Result<bool> Advance(const Services& services) {
    const int64_t held = std::min(before_next_, ahead_.size());
    ahead_.Drop(held);
    before_next_ -= held;
    for (bool first = true; before_next_ > 0; first = false) {
      if (!first && IsStopped(services)) return kernels::RunStopped();
      const int64_t part = std::min(before_next_, ByteWindow::kPieceBytes);
      int64_t left = part;
      const Result<bool> found = stream_->Skip(left, services.workers);
      before_next_ -= part - left;
      if (!found.ok() || !*found) return found;
    }
    return true;
  }

  const RecordLayout layout_;
  int64_t file_bytes_ = 0;
  std::unique_ptr<ByteStream> stream_;
  ByteWindow ahead_;         // what was read from the start of the last record on
  int64_t before_next_ = 0;  // bytes, the window's included
};

Result<ReaderPlan<RecordLayout>> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Encoding encoded, EncodingOf(ctx, encoding));
  RecordLayout layout{ctx.attr(header_bytes), ctx.attr(record_bytes), ctx.attr(footer_bytes), ctx.attr(hop_bytes), encoded};
  if (std::max(layout.record, layout.footer) > kMostRecordBytes) {
    return ctx.Error(record_bytes, "needs records and footers of at most ", kMostRecordBytes, " bytes");
  }
  if (layout.hop == 0) layout.hop = layout.record;
  if (layout.hop == 0) return ctx.Error(record_bytes, "needs 1 or more, found 0: the records of a file would never end");
  return ReaderPlan<RecordLayout>{layout, NameOf(ctx)};
}

}  // namespace

BlockDef FixedLengthRecordReader() {
  return ReaderBlock("FixedLengthRecordReader", "A reader that gives the records, all of one size, of the files whose names a queue holds.")
      .Details("The key of a record is the file's name, a colon and the number of the record in it, from 0.")
      .Attrs(header_bytes, record_bytes, footer_bytes, hop_bytes, container, shared_name, encoding)
      .Alias("FixedLengthRecordReaderV2")
      .Kernel(Plan, RunReader, BindSource<FixedLengthSource>);
}

}  // namespace weft::blocks
