#include "tools/cli/bench_records.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/protobuf/wire.h"
#include "weft/base/text.h"

namespace weft::cli {
namespace {

constexpr const char* kFile = "records.tfrecord";

uint32_t Masked(std::string_view bytes) { return blocks::checkpoint::MaskCrc32c(blocks::checkpoint::ExtendCrc32c(0, bytes)); }

}  // namespace

Result<RecordFile> RecordFile::Make(int64_t bytes) {
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "weft-bench-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) return Internal("needs a temporary folder, could not make '", folder, "'");
  RecordFile made{std::filesystem::path(folder)};
  std::ofstream out(made.folder_ / kFile, std::ios::binary);
  std::mt19937_64 random(1);
  std::string data(static_cast<size_t>(kRecordBytes), '\0'), record;
  for (int64_t written = 0; written < bytes && out; written += kRecordBytes) {
    const uint64_t value = random();
    std::memcpy(data.data(), &value, sizeof value);
    record.clear();
    blocks::protobuf::PutFixed(record, static_cast<uint64_t>(data.size()));
    blocks::protobuf::PutFixed(record, Masked(record));
    record += data;
    blocks::protobuf::PutFixed(record, Masked(data));
    out.write(record.data(), static_cast<std::streamsize>(record.size()));
  }
  out.close();
  if (!out) return Internal("could not write '", (made.folder_ / kFile).string(), "'");
  return made;
}

RecordFile::~RecordFile() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string RecordFile::Page(const std::string& name) {
  using Json = nlohmann::ordered_json;
  const Json file = {{"dtype", "DT_STRING"}, {"shape", Json::array()}, {"values", {kFile}}};
  const Json all = {{"dtype", "DT_INT64"}, {"shape", Json::array()}, {"values", {int64_t{1} << 40}}};
  const Json blocks = {
      {{"id", "queue"}, {"block", "FIFOQueue"}, {"attrs", "component_types_ = {DT_STRING};"}},
      {{"id", "name"}, {"block", "QueueEnqueue"}, {"inputs", {{"handle", "queue.handle"}, {"components", {file}}}}},
      {{"id", "reader"}, {"block", "TFRecordReader"}},
      {{"id", "read"},
       {"block", "ReaderReadUpTo"},
       {"inputs", {{"reader_handle", "reader.reader_handle"}, {"queue_handle", "queue.handle"}, {"num_records", all}}}},
      {{"id", "run"}, {"block", "ClientSession"}, {"inputs", {{"run_outputs", {"name.operation", "read.values"}}}}}};
  return Json{{"weft", 1}, {"page", name}, {"blocks", blocks}}.dump();
}

}  // namespace weft::cli
