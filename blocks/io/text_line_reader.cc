// TextLineReader: a reader of files line by line.
#include <algorithm>

#include "blocks/io/byte_window.h"
#include "blocks/io/reader_blocks.h"
#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

using namespace readers;

constexpr Attr<int64_t> skip_header_lines{"skip_header_lines", "0", "lines at the start of each file that are passed over", nullptr, 0};

class TextLineSource final : public PlacedSource {
 public:
  explicit TextLineSource(int64_t header_lines) : header_lines_(header_lines) {}

  void Stop() override {
    stream_ = nullptr;
    line_ = {};
  }

 private:
  std::unique_ptr<PlacedSource> Fresh() const override { return std::make_unique<TextLineSource>(header_lines_); }
  Status Open(const Files& files, const std::string& name) override {
    WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(files, name));
    file_bytes_ = static_cast<int64_t>(file.size());
    WEFT_ASSIGN_OR_RETURN(stream_, OpenByteStream(std::move(file), Encoding::kPlain));
    line_ = {};
    BeginLine();
    return {};
  }
  Status PassHead(const Services& services) override { return PassLines(header_lines_, services); }
  int64_t LastPlace() const override { return file_bytes_; }  // a line has one byte at least
  Result<bool> GoTo(int64_t place, const Services& services) override {
    WEFT_RETURN_IF_ERROR(PassLines(place, services));
    return place_ >= place;
  }

  Result<bool> NextRecord(FileRecord& record, const Services& services) override {
    WEFT_ASSIGN_OR_RETURN(const bool found, ToLineEnd(true, services));
    if (!found) return false;
    WEFT_ASSIGN_OR_RETURN(record.value, line_.Front(line_.size() - ends_in_return_, services));
    WEFT_ASSIGN_OR_RETURN(record.key, KeyOf(place_ + 1, services));
    BeginLine();
    ++place_;
    return true;
  }

  /// Reads on until that many lines of the file are behind, or it ends.
  Status PassLines(int64_t lines, const Services& services) {
    constexpr int64_t kBetweenLooks = 4096;  // lines, which may be empty
    while (place_ < lines) {
      if (place_ % kBetweenLooks == kBetweenLooks - 1 && IsStopped(services)) return kernels::RunStopped();
      WEFT_ASSIGN_OR_RETURN(const bool found, ToLineEnd(false, services));
      if (!found) break;
      BeginLine();
      ++place_;
    }
    return {};
  }

  /// Reads on to the end of the line; false where the file ends before there is anything of it. The line is kept in line_ or dropped; what
  /// was read of it counts on where this fails.
  Result<bool> ToLineEnd(bool keep, const Services& services) {
    while (!at_line_end_) {
      WEFT_ASSIGN_OR_RETURN(const std::string_view ahead, stream_->Peek(services.workers));
      if (ahead.empty()) return line_.size() + dropped_ > ends_in_return_;
      const size_t end = std::min(ahead.find('\n'), ahead.size());
      const bool at_line_end = end < ahead.size(), in_return = end > 0 ? ahead[end - 1] == '\r' : ends_in_return_;
      const auto part = static_cast<int64_t>(end);
      if (keep) WEFT_RETURN_IF_ERROR(line_.Fill(*stream_, line_.size() + part, services).status());
      else dropped_ += part;
      int64_t rest = (keep ? 0 : part) + at_line_end;
      WEFT_RETURN_IF_ERROR(stream_->Skip(rest, services.workers).status());
      ends_in_return_ = in_return;
      at_line_end_ = at_line_end;
      if (!at_line_end && IsStopped(services)) return kernels::RunStopped();
    }
    return true;
  }

  void BeginLine() {
    line_.Drop(line_.size());
    dropped_ = 0;
    at_line_end_ = ends_in_return_ = false;
  }

  const int64_t header_lines_;
  int64_t file_bytes_ = 0;
  std::unique_ptr<ByteStream> stream_;
  // What was read of the next one:
  ByteWindow line_;
  int64_t dropped_ = 0;  // bytes that were not kept
  bool ends_in_return_ = false, at_line_end_ = false;
};

Result<ReaderPlan<int64_t>> Plan(PlanContext& ctx) { return ReaderPlan<int64_t>{ctx.attr(skip_header_lines), NameOf(ctx)}; }

}  // namespace

BlockDef TextLineReader() {
  return ReaderBlock("TextLineReader", "A reader that gives the lines of the files whose names a queue holds.")
      .Details("The key of a record is the file's name, a colon and the number of the line in it, from 1. A line end is no part of the line, nor "
               "is a carriage return before it.")
      .Attrs(skip_header_lines, container, shared_name)
      .Alias("TextLineReaderV2")
      .Kernel(Plan, RunReader, BindSource<TextLineSource>);
}

}  // namespace weft::blocks
