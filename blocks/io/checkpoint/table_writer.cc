#include "blocks/io/checkpoint/table_writer.h"

#include <algorithm>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint {

using namespace protobuf;

namespace {

constexpr size_t kBlockBytes = 262144;
// A record so large gets a block that no earlier record shares, so that those are read without it.
constexpr size_t kLargeRecordBytes = 2 * kBlockBytes;

size_t CommonPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// A short key that is >= last and < next.
std::string KeyBetween(std::string_view last, std::string_view next) {
  const size_t differ = CommonPrefix(last, next);
  std::string key(last);
  if (differ >= std::min(last.size(), next.size())) return key;
  const auto byte = static_cast<uint8_t>(last[differ]);
  if (byte == 0xff || byte + 1 >= static_cast<uint8_t>(next[differ])) return key;
  key.resize(differ + 1);
  key[differ] = static_cast<char>(byte + 1);
  return key;
}

/// A short key that is >= last.
std::string KeyAfter(std::string_view last) {
  const auto place = std::find_if(last.begin(), last.end(), [](char c) { return static_cast<uint8_t>(c) != 0xff; });
  std::string key(last);
  if (place == last.end()) return key;
  key.resize(static_cast<size_t>(place - last.begin()) + 1);
  key.back() = static_cast<char>(static_cast<uint8_t>(key.back()) + 1);
  return key;
}

std::string PlaceText(BlockPlace place) {
  std::string text;
  PutVarint(text, place.offset);
  PutVarint(text, place.size);
  return text;
}

}  // namespace

void TableBlockBuilder::Begin(std::string_view key, size_t value_size) {
  size_t shared = 0;
  if (since_restart_ < restart_interval_) {
    shared = CommonPrefix(last_key_, key);
  } else {
    restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    since_restart_ = 0;
  }
  PutVarint(bytes_, shared);
  PutVarint(bytes_, key.size() - shared);
  PutVarint(bytes_, value_size);
  bytes_.append(key.substr(shared));
  bytes_.reserve(bytes_.size() + value_size);
  last_key_ = key;
  ++since_restart_;
}

std::string TableBlockBuilder::Take() {
  for (uint32_t restart : restarts_) PutFixed(bytes_, restart);
  PutFixed(bytes_, static_cast<uint32_t>(restarts_.size()));
  restarts_ = {0};
  since_restart_ = 0;
  last_key_.clear();
  return std::exchange(bytes_, {});
}

Status TableWriter::Add(std::string_view key, std::string_view value) {
  if (key.size() + value.size() >= kLargeRecordBytes) WEFT_RETURN_IF_ERROR(FlushData());
  if (has_pending_) AddIndex(KeyBetween(last_key_, key));
  data_.Begin(key, value.size());
  for (size_t at = 0; at < value.size(); at += kFilePieceBytes) {
    if (at > 0 && IsStopped(workers_)) return kernels::RunStopped();
    data_.Append(value.substr(at, kFilePieceBytes));
  }
  last_key_ = key;
  return data_.size() >= kBlockBytes ? FlushData() : Status();
}

void TableWriter::AddIndex(std::string_view key) {
  index_.Add(key, PlaceText(pending_));
  has_pending_ = false;
}

Result<BlockPlace> TableWriter::WriteBlock(const std::string& block) {
  const BlockPlace place{file_.size(), block.size()};
  std::string trailer(1, kPlainBlock);
  uint32_t checksum = 0;
  for (size_t at = 0; at < block.size(); at += kFilePieceBytes) {
    if (at > 0 && IsStopped(workers_)) return kernels::RunStopped();
    const std::string_view piece = std::string_view(block).substr(at, kFilePieceBytes);
    checksum = ExtendCrc32c(checksum, piece);
    WEFT_RETURN_IF_ERROR(file_.Write(piece));
  }
  PutFixed(trailer, MaskCrc32c(ExtendCrc32c(checksum, trailer)));
  WEFT_RETURN_IF_ERROR(file_.Write(trailer));
  return place;
}

Status TableWriter::FlushData() {
  if (data_.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(pending_, WriteBlock(data_.Take()));
  has_pending_ = true;
  return {};
}

Status TableWriter::Finish() {
  WEFT_RETURN_IF_ERROR(FlushData());
  WEFT_ASSIGN_OR_RETURN(BlockPlace meta_index, WriteBlock(TableBlockBuilder(1).Take()));
  if (has_pending_) AddIndex(KeyAfter(last_key_));
  WEFT_ASSIGN_OR_RETURN(BlockPlace index, WriteBlock(index_.Take()));
  std::string footer = PlaceText(meta_index) + PlaceText(index);
  footer.resize(kFooterBytes - sizeof(uint64_t));
  PutFixed(footer, kTableMagic);
  return file_.Write(footer);
}

}  // namespace weft::blocks::checkpoint
