#include "tools/serve/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weft::serve {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostBytes = 256 << 20;
constexpr size_t kFewBytes = 1 << 20;  // of edits, for which a journal does not begin anew

std::string NewId() {
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) bits = static_cast<uint64_t>(::getpid()) << 32 | static_cast<uint64_t>(::time(nullptr));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

bool IsId(const std::string& id) { return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string::npos; }

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Whether a server that lives writes the file: it holds a lock of it.
bool InUse(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return true;
  const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  ::close(descriptor);
  return taken;
}

}  // namespace

Journal::Journal(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  ::chmod(folder_.c_str(), 0700);
}

Journal::~Journal() {
  for (const auto& [id, file] : open_) ::close(file.descriptor);
}

std::string Journal::FileOf(const std::string& id) const { return folder_ + "/" + id + ".jsonl"; }

/// A new file that is locked and has the head; without a descriptor where that fails.
Journal::File Journal::Begin(const std::string& path, const JournalHead& head) {
  File file;
  file.descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file.descriptor < 0) return file;
  ::flock(file.descriptor, LOCK_EX | LOCK_NB);
  const Json line = {{"weft_journal", 1}, {"name", head.name}, {"path", head.path ? Json(*head.path) : Json(nullptr)}, {"stamp", head.stamp},
                     {"format", head.format}, {"text", head.text}, {"unsaved", head.unsaved}, {"edits", head.edits_in_text}};
  if (!WriteAll(file.descriptor, Dump(line) + "\n")) {
    ::close(std::exchange(file.descriptor, -1));
    ::unlink(path.c_str());
  }
  file.edits = head.edits_in_text;
  file.limit = std::max(kFewBytes, 2 * head.text.size());
  return file;
}

std::string Journal::Start(const JournalHead& head) {
  if (folder_.empty()) return "";
  const std::lock_guard lock(mutex_);
  const std::string id = NewId();
  const File file = Begin(FileOf(id), head);
  if (file.descriptor < 0) return "";
  open_[id] = file;
  return id;
}

bool Journal::Add(const std::string& id, const std::string& edits) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return false;
  File& file = found->second;
  // A line is whole or, where the machine ends meanwhile, the last one.
  const std::string line = Dump(Json(edits)) + "\n";
  WriteAll(file.descriptor, line);
  ++file.edits;
  file.bytes += line.size();
  if (file.bytes < file.limit) return false;
  file.limit = SIZE_MAX;
  return true;
}

void Journal::Restart(const std::string& id, JournalHead head) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  File& old = found->second;
  const std::string place = FileOf(id), beside = place + ".new";
  head.edits_in_text = old.edits;
  const File fresh = Begin(beside, head);
  if (fresh.descriptor >= 0 && ::fsync(fresh.descriptor) == 0 && ::rename(beside.c_str(), place.c_str()) == 0) {
    ::close(std::exchange(old, fresh).descriptor);
    return;
  }
  if (fresh.descriptor >= 0) ::close(fresh.descriptor);
  ::unlink(beside.c_str());
  old.limit = 2 * old.bytes;  // the disk is full, say: later again
}

void Journal::Drop(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  ::unlink(FileOf(id).c_str());
  ::close(found->second.descriptor);
  open_.erase(found);
}

std::optional<Recovery> Journal::ReadFile(const std::string& id) const {
  const std::string file = FileOf(id);
  struct stat status {};
  if (!IsId(id) || ::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<size_t>(status.st_size) > kMostBytes || InUse(file)) return std::nullopt;
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const Json head = Json::parse(line, nullptr, false);
  if (!head.is_object() || head.value("weft_journal", 0) != 1) return std::nullopt;
  Recovery recovery;
  recovery.id = id;
  recovery.name = head.value("name", "page");
  if (head.contains("path") && head["path"].is_string()) recovery.path = head["path"].get<std::string>();
  recovery.stamp = head.value("stamp", "");
  recovery.format = head.value("format", "");
  recovery.text = head.value("text", "");
  recovery.unsaved = head.value("unsaved", false);
  recovery.edits_in_text = head.value("edits", size_t{0});
  recovery.modified = status.st_mtim.tv_sec;
  while (std::getline(in, line)) {
    const Json edits = Json::parse(line, nullptr, false);
    if (!edits.is_string()) break;
    recovery.edits.push_back(edits.get<std::string>());
  }
  return recovery;
}

std::vector<Recovery> Journal::Left() {
  std::vector<Recovery> left;
  if (folder_.empty()) return left;
  const std::lock_guard lock(mutex_);
  std::error_code error;
  for (fs::directory_iterator walk(folder_, error), end; !error && walk != end && left.size() < 100; walk.increment(error)) {
    const std::string id = walk->path().stem().string();
    // One that was to begin anew when the machine ended; what it was to replace is there.
    if (walk->path().extension() == ".new" && !InUse(walk->path().string())) ::unlink(walk->path().c_str());
    if (walk->path().extension() != ".jsonl" || open_.contains(id)) continue;
    auto recovery = ReadFile(id);
    if (recovery && (recovery->unsaved || !recovery->edits.empty())) left.push_back(std::move(*recovery));
  }
  std::sort(left.begin(), left.end(), [](const Recovery& a, const Recovery& b) { return a.modified > b.modified; });
  return left;
}

std::optional<Recovery> Journal::Take(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (folder_.empty() || open_.contains(id)) return std::nullopt;
  return ReadFile(id);
}

void Journal::Forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!folder_.empty() && IsId(id) && !open_.contains(id) && !InUse(FileOf(id))) ::unlink(FileOf(id).c_str());
}

}  // namespace weft::serve
