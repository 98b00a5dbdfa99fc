// The layout of chunks, and the sizes of data: PNG Specification (Third Edition), 5.3 and 7.2. Stored blocks: RFC 1951, 3.2.4.
#include "blocks/image/codec/png_unpack.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>

namespace weft::blocks {
namespace {

constexpr size_t kSignature = 8, kChunkFrame = 12, kHeaderChunk = 13;
constexpr size_t kMostUnpacked = size_t{16} << 20;
constexpr size_t kMostRatio = 1032;  // of what is unpacked to what it is packed to
constexpr size_t kStored = 65535;    // most bytes of a stored block

uint32_t BigEndian(const char* bytes) {
  const auto* b = reinterpret_cast<const unsigned char*>(bytes);
  return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}
void PutBigEndian(std::string& to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(value >> shift));
}

/// The chunks of a file whose checksums hold, as far as its pixels depend on them.
struct PngChunks {
  std::string_view before, after;        // the rest of the file
  std::vector<std::string_view> packed;  // the data of each IDAT
  size_t packed_bytes = 0;
};

std::optional<PngChunks> ChunksOf(std::string_view file) {
  PngChunks chunks;
  size_t first = 0, end = 0;  // of all IDAT
  for (size_t at = kSignature; at < file.size();) {
    if (file.size() - at < kChunkFrame) return std::nullopt;
    const size_t size = BigEndian(file.data() + at);
    if (size > file.size() - at - kChunkFrame) return std::nullopt;
    const std::string_view name = file.substr(at + 4, 4), data = file.substr(at + 8, size);
    const bool critical = (name[0] & 0x20) == 0;
    if (critical && libdeflate_crc32(0, name.data(), size + 4) != BigEndian(data.data() + size)) return std::nullopt;
    if (name == "IDAT") {
      if (end != 0 && end != at) return std::nullopt;  // not one after the other
      if (end == 0) first = at;
      end = at + kChunkFrame + size;
      chunks.packed.push_back(data);
      chunks.packed_bytes += size;
    }
    at += kChunkFrame + size;
  }
  if (end == 0) return std::nullopt;
  chunks.before = file.substr(0, first);
  chunks.after = file.substr(end);
  return chunks;
}

/// How many bytes the rows take, each with its filter; 0 where they are interlaced or the first chunk is no sound header.
size_t RowBytes(std::string_view file) {
  if (file.size() < kSignature + kChunkFrame + kHeaderChunk) return 0;
  if (BigEndian(file.data() + kSignature) != kHeaderChunk || file.substr(kSignature + 4, 4) != "IHDR") return 0;
  const std::string_view header = file.substr(kSignature + 8, kHeaderChunk);
  const size_t width = BigEndian(header.data()), height = BigEndian(header.data() + 4);
  const auto bits = static_cast<unsigned char>(header[8]), colour = static_cast<unsigned char>(header[9]);
  const bool interlaced = header[12] != 0;
  constexpr size_t kSamples[] = {1, 0, 3, 1, 2, 0, 4};  // by the kind of colour
  if (interlaced || colour >= std::size(kSamples) || bits > 16 || width > kMostUnpacked || height > kMostUnpacked) return 0;
  return height * ((width * kSamples[colour] * bits + 7) / 8 + 1);
}

bool Unpack(const PngChunks& chunks, std::string& to) {
  std::string joined;
  std::string_view packed = chunks.packed[0];
  if (chunks.packed.size() > 1) {
    joined.reserve(chunks.packed_bytes);
    for (std::string_view part : chunks.packed) joined.append(part);
    packed = joined;
  }
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> unpacker(libdeflate_alloc_decompressor(),
                                                                                                  libdeflate_free_decompressor);
  return unpacker != nullptr && libdeflate_zlib_decompress(unpacker.get(), packed.data(), packed.size(), to.data(), to.size(), nullptr) ==
                                    LIBDEFLATE_SUCCESS;
}

/// An IDAT chunk of the bytes, in the format of zlib.
void PutStored(std::string_view bytes, std::string& to) {
  const size_t blocks = (bytes.size() + kStored - 1) / kStored, begin = to.size() + 4;
  PutBigEndian(to, static_cast<uint32_t>(2 + 5 * blocks + bytes.size() + 4));
  to.append("IDAT\x78\x01");
  const uint32_t checksum = libdeflate_adler32(1, bytes.data(), bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kStored, bytes.size()))) {
    const size_t size = std::min(kStored, bytes.size());
    to.push_back(size == bytes.size() ? 1 : 0);
    for (size_t length : {size, ~size}) {
      to.push_back(static_cast<char>(length));
      to.push_back(static_cast<char>(length >> 8));
    }
    to.append(bytes.substr(0, size));
  }
  PutBigEndian(to, checksum);
  PutBigEndian(to, libdeflate_crc32(0, to.data() + begin, to.size() - begin));
}

}  // namespace

std::optional<UnpackedPng> UnpackPng(std::string_view file, const ProduceContext& ctx) {
  const size_t bytes = RowBytes(file);
  if (bytes == 0 || bytes > kMostUnpacked || file.size() > 2 * kMostUnpacked) return std::nullopt;
  const std::optional<PngChunks> chunks = ChunksOf(file);
  if (!chunks || bytes / kMostRatio > chunks->packed_bytes) return std::nullopt;
  const size_t whole = chunks->before.size() + chunks->after.size() + bytes + bytes / kStored * 5 + 64;
  MemoryCharge charge(ctx.services().budget);
  if (!charge.Hold(static_cast<int64_t>(whole + bytes + chunks->packed_bytes)).ok()) return std::nullopt;
  std::string rows(bytes, '\0'), unpacked;
  if (!Unpack(*chunks, rows)) return std::nullopt;
  unpacked.reserve(whole);
  unpacked.append(chunks->before);
  PutStored(rows, unpacked);
  unpacked.append(chunks->after);
  return UnpackedPng{std::move(unpacked), std::move(charge)};
}

}  // namespace weft::blocks
