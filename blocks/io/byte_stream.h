// A file as a stream of bytes, plain or compressed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "blocks/io/file_access.h"
#include "weft/base/status.h"

namespace weft::blocks {

/// kSnappy: blocks of Snappy, each after its size (4 bytes, the highest first), as TensorFlow writes them.
enum class Encoding : uint8_t { kPlain, kZlib, kGzip, kSnappy };

/// Bytes of one block of a Snappy file when it is expanded, as TensorFlow writes them.
inline constexpr size_t kMostSnappyBytes = 256 * 1024;

/// Bytes come from the front. Not thread-safe. All calls are cancelled where the run of `workers`, which may be null, is to end: a short
/// compressed file may have many blocks without a byte. What was read counts on then.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Appends `count` bytes. False, with fewer or none appended, where the stream ends before; data_loss where it is damaged.
  virtual Result<bool> Read(int64_t count, std::string& to, const Workers* workers) = 0;
  /// Drops `count` bytes; false where the stream ends before. `count` becomes what is still to be dropped, also where this fails.
  virtual Result<bool> Skip(int64_t& count, const Workers* workers) = 0;
  /// Some bytes at the front, which stay there; none at the end. Valid until the next call.
  virtual Result<std::string_view> Peek(const Workers* workers) = 0;
};

/// The bytes of a file, expanded where it is compressed. resource_exhausted without memory to expand it.
Result<std::unique_ptr<ByteStream>> OpenByteStream(InputFile file, Encoding encoding);

}  // namespace weft::blocks
