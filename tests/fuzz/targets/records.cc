// Files of records: after the byte of the mode, the file. Of TensorFlow's records that are to get right checksums it is the plain one, which
// the target compresses as the reader expects it.
#include <snappy.h>

#include "tests/fuzz/mending.h"
#include "tests/fuzz/run_block.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/deflated.h"

namespace weft::fuzz {
namespace {

enum class Packing : uint8_t { kNone, kZlib, kGzip, kSnappy };
struct Way {
  const char* block;
  const char* attrs;
  Packing packing = Packing::kNone;
  bool checked = false;  // TensorFlow's records
};
constexpr Way kWays[] = {
    {"TFRecordReader", "", Packing::kNone, true},
    {"TFRecordReader", "compression_type_ = ZLIB;", Packing::kZlib, true},
    {"TFRecordReader", "compression_type_ = GZIP;", Packing::kGzip, true},
    {"TFRecordReader", "compression_type_ = SNAPPY;", Packing::kSnappy, true},
    {"TextLineReader", ""},
    {"TextLineReader", "skip_header_lines_ = 2;"},
    {"FixedLengthRecordReader", "record_bytes_ = 5;"},
    {"FixedLengthRecordReader", "header_bytes_ = 3;record_bytes_ = 7;footer_bytes_ = 2;hop_bytes_ = 4;"},
    {"FixedLengthRecordReader", "record_bytes_ = 5;encoding_ = ZLIB;", Packing::kZlib},
    {"FixedLengthRecordReader", "header_bytes_ = 3;record_bytes_ = 7;footer_bytes_ = 2;encoding_ = GZIP;", Packing::kGzip},
    {"WholeFileReader", ""},
    {"RecordInput", "", Packing::kNone, true},
    {"RecordInput", "compression_type_ = GZIP;", Packing::kGzip, true},
};

/// In two blocks, as far as there are bytes for them, with their sizes before them, high byte first.
std::string Snapped(std::string_view plain) {
  std::string file;
  const size_t half = plain.size() / 2;
  for (const std::string_view part : {plain.substr(0, half), plain.substr(half)}) {
    std::string packed;
    snappy::Compress(part.data(), part.size(), &packed);
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(packed.size() >> shift);
    file += packed;
  }
  return file;
}

std::string Packed(const std::string& plain, Packing packing) {
  switch (packing) {
    case Packing::kNone: return plain;
    case Packing::kZlib: return kit::Deflated(plain, kit::kZlibBits);
    case Packing::kGzip: return kit::Deflated(plain, kit::kGzipBits);
    default: return Snapped(plain);
  }
}

}  // namespace

void Records(std::string_view bytes) {
  const Mode mode(bytes, std::size(kWays));
  const Way& way = kWays[mode.way];
  std::string file(mode.rest);
  if (mode.mend) {
    if (way.checked) MendRecords(file);
    file = Packed(file, way.packing);
  }
  ScratchFile("records", file);
  if (std::string_view(way.block) != "RecordInput") {
    TryReader(way.block, way.attrs, {"records", "records"});
  } else {
    const std::string attrs = Cat("file_pattern_ = records;file_buffer_size_ = 10;batch_size_ = 8;", way.attrs);
    TryPage(Cat(R"({"id": "r", "block": "RecordInput", "attrs": ")", attrs, R"("})"), {{"r.records"}, {"r.records"}});
  }
  CheckMemoryReturned();
}

void LmdbFile(std::string_view bytes) {
  ScratchFile("data.mdb", bytes);
  TryReader("LMDBReader", "", {"data.mdb", "data.mdb"});
  CheckMemoryReturned();
}

}  // namespace weft::fuzz
