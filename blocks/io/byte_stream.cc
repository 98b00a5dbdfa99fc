#include "blocks/io/byte_stream.h"

#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {
namespace {

constexpr size_t kBufferBytes = kMostSnappyBytes;  // so that a block of Snappy fits

/// Gives out what is in the buffer, and has a subclass fill it.
class BufferedStream : public ByteStream {
 public:
  Result<bool> Read(int64_t count, std::string& to, const Workers* workers) override {
    return Take(count, workers, [&](std::string_view bytes) { to.append(bytes); });
  }
  Result<bool> Skip(int64_t& count, const Workers* workers) override {
    return Take(count, workers, [](std::string_view) {});
  }
  Result<std::string_view> Peek(const Workers* workers) override {
    if (begin_ == end_) WEFT_RETURN_IF_ERROR(Refill(workers));
    return std::string_view(buffer_.data() + begin_, end_ - begin_);
  }

 protected:
  /// Puts at least one byte into `buffer` (of kBufferBytes, empty at the call) and says how many; 0 at the end.
  virtual Result<size_t> Fill(std::span<char> buffer, const Workers* workers) = 0;
  int64_t buffered() const { return static_cast<int64_t>(end_ - begin_); }
  void DropBuffered() { begin_ = end_; }

 private:
  Status Refill(const Workers* workers) {
    begin_ = end_ = 0;
    WEFT_ASSIGN_OR_RETURN(end_, Fill(buffer_, workers));
    return {};
  }
  Result<bool> Take(int64_t& count, const Workers* workers, auto&& use) {
    while (count > 0) {
      if (begin_ == end_) WEFT_RETURN_IF_ERROR(Refill(workers));
      if (end_ == 0) return false;
      const size_t part = static_cast<size_t>(std::min(count, buffered()));
      use(std::string_view(buffer_.data() + begin_, part));
      begin_ += part;
      count -= static_cast<int64_t>(part);
    }
    return true;
  }

  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
  size_t begin_ = 0, end_ = 0;
};

class PlainStream final : public BufferedStream {
 public:
  explicit PlainStream(InputFile file) : file_(std::move(file)) {}

  Result<bool> Read(int64_t count, std::string& to, const Workers* workers) override {
    if (count > buffered() + Left()) return false;
    return BufferedStream::Read(count, to, workers);
  }
  Result<bool> Skip(int64_t& count, const Workers* workers) override {
    if (count <= buffered()) return BufferedStream::Skip(count, workers);
    count -= buffered();
    DropBuffered();
    if (count > Left()) return false;
    offset_ += static_cast<uint64_t>(std::exchange(count, 0));
    return true;
  }

 protected:
  Result<size_t> Fill(std::span<char> buffer, const Workers* /*workers*/) override {
    const auto part = static_cast<size_t>(std::min<int64_t>(Left(), static_cast<int64_t>(buffer.size())));
    WEFT_RETURN_IF_ERROR(file_.ReadAt(offset_, buffer.first(part)));
    offset_ += part;
    return part;
  }

 private:
  int64_t Left() const { return static_cast<int64_t>(file_.size() - offset_); }
  InputFile file_;
  uint64_t offset_ = 0;
};

/// Expands a file as it is read. A gzip file may have several members; what follows the last one does not count.
class InflatingStream final : public BufferedStream {
 public:
  InflatingStream(InputFile file, Encoding encoding) : file_(std::move(file)), gzip_(encoding == Encoding::kGzip) {}
  ~InflatingStream() override {
    if (started_) inflateEnd(&state_);
  }
  Status Start() {
    started_ = inflateInit2(&state_, MAX_WBITS + (gzip_ ? 16 : 0)) == Z_OK;
    return started_ ? Status() : ResourceExhausted("needs memory to expand a file, found none");
  }

 protected:
  Result<size_t> Fill(std::span<char> buffer, const Workers* workers) override {
    state_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    state_.avail_out = static_cast<uInt>(buffer.size());
    while (!ended_ && state_.avail_out == buffer.size()) {
      WEFT_RETURN_IF_ERROR(damage_);
      if (IsStopped(workers)) return kernels::RunStopped();
      if (state_.avail_in == 0) WEFT_RETURN_IF_ERROR(FillInput());
      if (state_.avail_in == 0) break;  // a file that was cut ends where it was cut
      const int code = inflate(&state_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        WEFT_RETURN_IF_ERROR(NextMember());
      } else if (code == Z_MEM_ERROR) {
        return ResourceExhausted("needs memory to expand '", file_.path().native(), "', found none");
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        damage_ = Status(Code::kDataLoss, Cat("needs a ", gzip_ ? "GZIP" : "ZLIB", " file, found '", file_.path().native(), "' damaged: ",
                                              state_.msg != nullptr ? state_.msg : "wrong bytes"));
        return damage_;
      }
    }
    return buffer.size() - state_.avail_out;
  }

 private:
  Status FillInput() {
    const auto part = static_cast<size_t>(std::min<uint64_t>(file_.size() - offset_, input_.size()));
    WEFT_RETURN_IF_ERROR(file_.ReadAt(offset_, std::span(input_).first(part)));
    offset_ += part;
    state_.next_in = reinterpret_cast<Bytef*>(input_.data());
    state_.avail_in = static_cast<uInt>(part);
    return {};
  }
  Status NextMember() {
    if (state_.avail_in == 0) WEFT_RETURN_IF_ERROR(FillInput());
    ended_ = !gzip_ || state_.avail_in == 0 || *state_.next_in != 0x1f;
    if (!ended_ && inflateReset(&state_) != Z_OK) return Internal("could not go on to the next member of a GZIP file");
    return {};
  }

  InputFile file_;
  uint64_t offset_ = 0;
  const bool gzip_;
  bool started_ = false, ended_ = false;
  Status damage_;  // found once, it stays: zlib would go on to the end of the file
  z_stream state_{};
  std::vector<char> input_ = std::vector<char>(kBufferBytes);
};

/// Expands a file block by block; each one fits the buffer.
class SnappyStream final : public BufferedStream {
 public:
  explicit SnappyStream(InputFile file) : file_(std::move(file)) {}

 protected:
  Result<size_t> Fill(std::span<char> buffer, const Workers* workers) override {
    size_t size = 0;
    while (size == 0) {
      if (IsStopped(workers)) return kernels::RunStopped();
      char head[4];
      if (Left() == 0) return size_t{0};
      if (Left() < sizeof head) return Damaged("the end of the file in a block");
      WEFT_RETURN_IF_ERROR(file_.ReadAt(offset_, head));
      uint32_t packed_size = 0;
      for (char byte : head) packed_size = packed_size << 8 | static_cast<uint8_t>(byte);
      if (packed_size > Left() - sizeof head) return Damaged("the end of the file in a block");
      if (packed_size > snappy::MaxCompressedLength(buffer.size())) return Damaged("a block too large");
      packed_.resize(packed_size);
      WEFT_RETURN_IF_ERROR(file_.ReadAt(offset_ + sizeof head, packed_));
      if (!snappy::GetUncompressedLength(packed_.data(), packed_.size(), &size) || size > buffer.size()) return Damaged("a block too large");
      if (!snappy::RawUncompress(packed_.data(), packed_.size(), buffer.data())) return Damaged("a damaged block");
      offset_ += sizeof head + packed_size;
    }
    return size;
  }

 private:
  uint64_t Left() const { return file_.size() - offset_; }
  Status Damaged(std::string_view what) const {
    return DataLoss("needs a SNAPPY file, found ", what, " in '", file_.path().native(), "'");
  }

  InputFile file_;
  uint64_t offset_ = 0;
  std::vector<char> packed_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenByteStream(InputFile file, Encoding encoding) {
  if (encoding == Encoding::kPlain) return std::unique_ptr<ByteStream>(std::make_unique<PlainStream>(std::move(file)));
  if (encoding == Encoding::kSnappy) return std::unique_ptr<ByteStream>(std::make_unique<SnappyStream>(std::move(file)));
  auto stream = std::make_unique<InflatingStream>(std::move(file), encoding);
  WEFT_RETURN_IF_ERROR(stream->Start());
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace weft::blocks
