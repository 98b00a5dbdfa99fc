#include "runtime/state/snapshot_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/base/system_call.h"
#include "weft/base/system_error.h"

namespace weft {
namespace {

constexpr std::string_view kMagic = "WeftSnap";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kOrder = 0x01020304;  // reads so where the bytes of numbers lie as here
constexpr size_t kHead = 16, kSectionHead = 16;

uint32_t Checksum(uint32_t so_far, const void* data, size_t size) {
  constexpr size_t kMost = size_t{1} << 30;
  const auto* bytes = static_cast<const unsigned char*>(data);
  while (size > 0) {
    const size_t part = std::min(size, kMost);
    so_far = static_cast<uint32_t>(crc32(so_far, bytes, static_cast<uInt>(part)));
    bytes += part;
    size -= part;
  }
  return so_far;
}

/// Of the tag and the size, to be continued with the payload.
uint32_t HeadChecksum(uint32_t tag, uint64_t size) {
  const uint32_t sum = Checksum(static_cast<uint32_t>(crc32(0, nullptr, 0)), &tag, sizeof tag);
  return Checksum(sum, &size, sizeof size);
}

Status SystemError(int error, std::string_view what, const std::string& name) {
  return Status(CodeOfErrno(error), Cat("cannot ", what, " '", name, "': ", std::strerror(error)));
}

}  // namespace

// ---- writing ---------------------------------------------------------------------------------------------------------------------------

Status SnapshotWriter::Failed(int error) const { return SystemError(error, "write", path_.string()); }

Status SnapshotWriter::Open(const std::filesystem::path& path) {
  path_ = path;
  Descriptor folder = OpenFolder(path.parent_path());
  if (!folder.valid()) return Failed(errno);
  if (const int error = file_.Create(std::move(folder), path.filename().string())) return Failed(error);
  std::array<std::byte, kHead> head{};
  std::memcpy(head.data(), kMagic.data(), kMagic.size());
  std::memcpy(head.data() + 8, &kVersion, sizeof kVersion);
  std::memcpy(head.data() + 12, &kOrder, sizeof kOrder);
  return Write(head.data(), head.size());
}

Status SnapshotWriter::Write(const void* data, size_t size) {
  if (const int error = file_.Write(data, size)) return Failed(error);
  bytes_ += static_cast<int64_t>(size);
  return {};
}

Status SnapshotWriter::Add(SectionTag tag, std::string_view payload) {
  const auto number = static_cast<uint32_t>(tag);
  const uint64_t size = payload.size();
  const uint32_t checksum = Checksum(HeadChecksum(number, size), payload.data(), payload.size());
  std::array<std::byte, kSectionHead> head{};
  std::memcpy(head.data(), &number, sizeof number);
  std::memcpy(head.data() + 4, &checksum, sizeof checksum);
  std::memcpy(head.data() + 8, &size, sizeof size);
  WEFT_RETURN_IF_ERROR(Write(head.data(), head.size()));
  ++sections_;
  return Write(payload.data(), payload.size());
}

Status SnapshotWriter::Finish() {
  const uint64_t sections = sections_;
  WEFT_RETURN_IF_ERROR(Add(SectionTag::kEnd, {reinterpret_cast<const char*>(&sections), sizeof sections}));
  const int error = file_.Commit();
  return error == 0 ? Status() : Failed(error);
}

// ---- reading ---------------------------------------------------------------------------------------------------------------------------

Status SnapshotReader::Damaged(std::string_view what) const { return DataLoss("the snapshot '", name_, "' is damaged: ", what); }

Status SnapshotReader::Open(const std::filesystem::path& path, std::string name) {
  name_ = std::move(name);
  const auto open = [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); };
  file_ = Descriptor(Uninterrupted(open));  // does not wait for the writer of a pipe
  if (!file_.valid()) return SystemError(errno, "read", name_);
  struct stat info {};
  if (Uninterrupted([&] { return ::fstat(file_.number(), &info); }) != 0) return SystemError(errno, "read", name_);
  if (!S_ISREG(info.st_mode)) return InvalidArgument("needs a snapshot, found '", name_, "', which is no file");
  size_ = info.st_size;
  std::array<char, kHead> head{};
  if (size_ < static_cast<int64_t>(kHead)) return Damaged(Cat("needs a head of ", kHead, " bytes, found a file of ", size_));
  WEFT_RETURN_IF_ERROR(Take(head.data(), kHead, "the head"));
  if (std::string_view(head.data(), kMagic.size()) != kMagic) return DataLoss("needs a snapshot, found '", name_, "', which is none");
  uint32_t version = 0, order = 0;
  std::memcpy(&version, head.data() + 8, sizeof version);
  std::memcpy(&order, head.data() + 12, sizeof order);
  if (order != kOrder) return Unsupported("the snapshot '", name_, "' is of a machine with another order of bytes, or damaged");
  if (version == 0) return Damaged("its version is 0");
  if (version > kVersion) {
    return Unsupported("needs a snapshot of version ", kVersion, ", found '", name_, "' of version ", version).WithHint("a newer Weft reads it");
  }
  return {};
}

Status SnapshotReader::Take(void* to, uint64_t size, std::string_view what) {
  if (size > static_cast<uint64_t>(size_ - offset_)) {
    return Damaged(Cat("it ends in ", what, ", which needs ", size, " bytes at ", offset_, "; the file has ", size_));
  }
  auto* bytes = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t got = Uninterrupted([&] { return ::pread(file_.number(), bytes, std::min<uint64_t>(size, uint64_t{1} << 30), offset_); });
    if (got < 0) return SystemError(errno, "read", name_);
    if (got == 0) return Damaged(Cat("it was cut short in ", what, " while it was read"));
    bytes += got;
    offset_ += got;
    size -= static_cast<uint64_t>(got);
  }
  return {};
}

Result<SnapshotReader::Section> SnapshotReader::Next() {
  std::array<std::byte, kSectionHead> head{};
  WEFT_RETURN_IF_ERROR(Take(head.data(), head.size(), "the head of a section"));
  uint32_t tag = 0;
  std::memcpy(&tag, head.data(), sizeof tag);
  std::memcpy(&checksum_, head.data() + 4, sizeof checksum_);
  std::memcpy(&section_.size, head.data() + 8, sizeof section_.size);
  const int64_t at = offset_ - static_cast<int64_t>(kSectionHead);
  if (tag < static_cast<uint32_t>(SectionTag::kScope) || tag > static_cast<uint32_t>(SectionTag::kEnd)) {
    return Damaged(Cat("found a section of the unknown kind ", tag, " at ", at));
  }
  section_.tag = static_cast<SectionTag>(tag);
  if (section_.size > static_cast<uint64_t>(size_ - offset_)) {
    return Damaged(Cat("needs ", section_.size, " bytes for the section at ", at, ", found ", size_ - offset_));
  }
  if (section_.tag != SectionTag::kEnd) {
    ++sections_;
    return section_;
  }
  WEFT_ASSIGN_OR_RETURN(const std::string end, ReadText("the end"));
  uint64_t sections = 0;
  if (end.size() != sizeof sections) return Damaged(Cat("needs an end of 8 bytes, found ", end.size()));
  std::memcpy(&sections, end.data(), sizeof sections);
  if (sections != sections_) return Damaged(Cat("needs ", sections, " sections, found ", sections_));
  if (offset_ != size_) return Damaged(Cat("needs its end at ", offset_, ", found ", size_ - offset_, " bytes more"));
  return section_;
}

Status SnapshotReader::Read(void* to, std::string_view what) {
  WEFT_RETURN_IF_ERROR(Take(to, section_.size, what));
  const uint32_t found = Checksum(HeadChecksum(static_cast<uint32_t>(section_.tag), section_.size), to, section_.size);
  return found == checksum_ ? Status() : Damaged(Cat("the checksum of ", what, " is wrong"));
}

Result<std::string> SnapshotReader::ReadText(std::string_view what) {
  std::string text(section_.size, '\0');
  WEFT_RETURN_IF_ERROR(Read(text.data(), what));
  return text;
}

}  // namespace weft
