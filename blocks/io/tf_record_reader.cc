// TFRecordReader: a reader of TensorFlow's record files.
//
//   record  bytes of the data (uint64), masked CRC-32C of that, the data, its masked CRC-32C
#include <algorithm>

#include "blocks/io/byte_window.h"
#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/reader_blocks.h"
#include "blocks/io/tf_record.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks {
namespace {

using namespace readers;
using checkpoint::ExtendCrc32c;
using checkpoint::MaskCrc32c;
using protobuf::LoadFixed;

constexpr Attr<std::string> compression_type{"compression_type", "\"\"", "how files are compressed: ZLIB, GZIP, SNAPPY, or empty for not at all"};

constexpr int64_t kChecksumBytes = sizeof(uint32_t);
constexpr int64_t kHeadBytes = sizeof(uint64_t) + kChecksumBytes;
constexpr uint64_t kMostBytes = uint64_t{1} << 62;  // sums of these fit 63 bits

class TFRecordSource final : public PlacedSource {
 public:
  explicit TFRecordSource(Encoding encoding) : encoding_(encoding) {}

  void Stop() override {
    stream_ = nullptr;
    ahead_ = {};
  }

 private:
  std::unique_ptr<PlacedSource> Fresh() const override { return std::make_unique<TFRecordSource>(encoding_); }
  Status Open(const Files& files, const std::string& name) override {
    WEFT_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(files, name));
    file_bytes_ = static_cast<int64_t>(file.size());
    WEFT_ASSIGN_OR_RETURN(stream_, OpenByteStream(std::move(file), encoding_));
    ahead_ = {};
    return {};
  }
  int64_t LastPlace() const override { return encoding_ == Encoding::kPlain ? file_bytes_ : INT64_MAX; }
  Result<bool> GoTo(int64_t place, const Services& services) override {
    int64_t left = place - place_;
    Result<bool> found = stream_->Skip(left, services.workers);
    place_ = place - left;
    return found;
  }

  Result<bool> NextRecord(FileRecord& record, const Services& services) override {
    if (ahead_.size() == 0) {
      WEFT_ASSIGN_OR_RETURN(const std::string_view at_hand, stream_->Peek(services.workers));
      if (at_hand.empty()) return false;
      WEFT_ASSIGN_OR_RETURN(const bool taken, TakeAtHand(at_hand, record, services));
      if (taken) return true;
    }
    WEFT_RETURN_IF_ERROR(Need(kHeadBytes, services));
    WEFT_ASSIGN_OR_RETURN(const String head, ahead_.Front(kHeadBytes, services));
    WEFT_ASSIGN_OR_RETURN(const int64_t size, SizeOf(head));
    WEFT_RETURN_IF_ERROR(Need(kHeadBytes + size + kChecksumBytes, services));
    WEFT_ASSIGN_OR_RETURN(String value, ahead_.Part(kHeadBytes, size, services));
    WEFT_ASSIGN_OR_RETURN(const String stored, ahead_.Part(kHeadBytes + size, kChecksumBytes, services));
    WEFT_RETURN_IF_ERROR(Check(value, stored, services));
    WEFT_ASSIGN_OR_RETURN(record.key, KeyOf(place_, services));
    ahead_.Drop(kHeadBytes + size + kChecksumBytes);
    Give(std::move(value), record);
    return true;
  }

  Status Damaged(std::string_view what) const {
    return Status(Code::kDataLoss, Cat("needs a file of TensorFlow's records, found ", what, " at byte ", place_, " of '", name_, "'"))
        .WithHint("set compression_type where the file is compressed");
  }

  /// Reads on until so many bytes of the record are there.
  Status Need(int64_t bytes, const Services& services) {
    WEFT_ASSIGN_OR_RETURN(const bool found, ahead_.Fill(*stream_, bytes, services));
    return found ? Status() : Damaged("the end of the file in a record");
  }

  /// Bytes of the data of a record that begins so.
  Result<int64_t> SizeOf(std::string_view head) const {
    const auto bytes = LoadFixed<uint64_t>(head.data());
    const uint32_t checksum = MaskCrc32c(ExtendCrc32c(0, head.substr(0, sizeof bytes)));
    if (checksum != LoadFixed<uint32_t>(head.data() + sizeof bytes)) return Damaged("a length that does not fit its checksum");
    if (bytes > kMostBytes) return Damaged("the end of the file in a record");
    return static_cast<int64_t>(bytes);
  }

  /// data_loss where the data does not agree with its checksum.
  Status Check(std::string_view data, std::string_view stored, const Services& services) const {
    uint32_t checksum = 0;
    for (size_t at = 0; at < data.size(); at += ByteWindow::kPieceBytes) {
      if (at > 0 && IsStopped(services)) return kernels::RunStopped();
      checksum = ExtendCrc32c(checksum, data.substr(at, ByteWindow::kPieceBytes));
    }
    return MaskCrc32c(checksum) == LoadFixed<uint32_t>(stored.data()) ? Status() : Damaged("data that does not fit its checksum");
  }

  /// Takes a record that lies in the stream's buffer as a whole; false, with nothing taken, for others.
  Result<bool> TakeAtHand(std::string_view bytes, FileRecord& record, const Services& services) {
    if (bytes.size() < static_cast<size_t>(kHeadBytes)) return false;
    WEFT_ASSIGN_OR_RETURN(const int64_t size, SizeOf(bytes.substr(0, kHeadBytes)));
    if (static_cast<int64_t>(bytes.size()) < kHeadBytes + size + kChecksumBytes) return false;
    const std::string_view data = bytes.substr(kHeadBytes, static_cast<size_t>(size));
    WEFT_RETURN_IF_ERROR(Check(data, bytes.substr(static_cast<size_t>(kHeadBytes + size), kChecksumBytes), services));
    WEFT_ASSIGN_OR_RETURN(String value, String::Uninitialized(data.size(), services.budget));
    std::copy(data.begin(), data.end(), value.mutable_data());
    WEFT_ASSIGN_OR_RETURN(record.key, KeyOf(place_, services));
    int64_t taken = kHeadBytes + size + kChecksumBytes;
    WEFT_RETURN_IF_ERROR(stream_->Skip(taken, services.workers).status());
    Give(std::move(value), record);
    return true;
  }

  void Give(String value, FileRecord& record) {
    place_ += kHeadBytes + static_cast<int64_t>(value.size()) + kChecksumBytes;
    record.value = std::move(value);
  }

  const Encoding encoding_;
  int64_t file_bytes_ = 0;
  std::unique_ptr<ByteStream> stream_;
  ByteWindow ahead_;  // what was read of the next record, which begins at place_ of the file as it is when expanded
};

Result<ReaderPlan<Encoding>> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Encoding encoding, EncodingOf(ctx, compression_type, true));
  return ReaderPlan<Encoding>{encoding, NameOf(ctx)};
}

}  // namespace

std::unique_ptr<RecordSource> MakeTFRecordSource(Encoding encoding) { return std::make_unique<TFRecordSource>(encoding); }

BlockDef TFRecordReader() {
  return ReaderBlock("TFRecordReader", "A reader that gives the records of TensorFlow's record files whose names a queue holds.")
      .Details("The key of a record is the file's name, a colon and the byte in the file, as it is when expanded, at which the record begins. "
               "Lengths and data are compared with their checksums.")
      .Attrs(container, shared_name, compression_type)
      .Alias("TFRecordReaderV2")
      .Kernel(Plan, RunReader, BindSource<TFRecordSource>);
}

}  // namespace weft::blocks
