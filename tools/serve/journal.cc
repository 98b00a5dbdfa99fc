#include "tools/serve/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tools/serve/random.h"

namespace weft::serve {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostJournalBytes = 256 << 20;
constexpr size_t kFewBytes = 1 << 20;  // of edits, for which a journal does not begin anew

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
  const bool taken = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  ::close(descriptor);
  return taken;
}

std::string FirstLine(const JournalHead& head) {
  return Dump({{"weft_journal", 1}, {"name", head.name}, {"path", head.path ? Json(*head.path) : Json(nullptr)}, {"stamp", head.stamp},
               {"format", head.format}, {"text", head.text}, {"unsaved", head.unsaved}, {"edits", head.edits_in_text}}) + "\n";
}

}  // namespace

/// A file of lines that is locked, as long as the process has it open.
class Journal::File {
 public:
  File(const std::string& path, const JournalHead& head) : limit_(std::max(kFewBytes, 2 * head.text.size())) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) return;
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {}  // who looks whether it is in use has it for a moment
    whole_ = WriteAll(descriptor_, FirstLine(head));
    if (!whole_) ::unlink(path.c_str());
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void Add(const std::string& line) {
    // A line is whole or the last one: after a part of one no other is written.
    whole_ = whole_ && WriteAll(descriptor_, line);
    bytes_ += line.size();
  }
  bool whole() const { return whole_; }
  /// Whether it is time for a file that has fewer bytes of edits, or all of them.
  bool spent() const { return !whole_ || bytes_ >= limit_; }
  bool Sync() const { return ::fsync(descriptor_) == 0; }

 private:
  int descriptor_ = -1;
  bool whole_ = false;  // has all that was to be written
  size_t bytes_ = 0;    // of its edits
  const size_t limit_;
};

Journal::Journal(std::string path, const JournalHead& head)
    : path_(std::move(path)), file_(std::make_shared<File>(path_, head)), edits_(head.edits_in_text) {}

Journal::~Journal() { ForgetNew(); }

bool Journal::Add(const std::string& edits) {
  const std::lock_guard lock(mutex_);
  if (!file_) return false;
  const std::string line = Dump(Json(edits)) + "\n";
  file_->Add(line);
  if (new_file_) new_file_->Add(line);
  ++edits_;
  if (edits_ < ask_from_ || !file_->spent()) return false;
  ask_from_ = SIZE_MAX;
  return true;
}

void Journal::Rewrite(JournalHead head) {
  const std::lock_guard lock(mutex_);
  if (!file_) return;
  ForgetNew();
  head.edits_in_text = edits_;
  new_file_ = std::make_shared<File>(Beside(), head);
}

void Journal::Replace() {
  std::shared_ptr<File> written;
  {
    const std::lock_guard lock(mutex_);
    written = new_file_;
  }
  const bool there = written && written->Sync();
  const std::lock_guard lock(mutex_);
  if (!written || written != new_file_) return;  // dropped meanwhile
  if (there && written->whole() && ::rename(Beside().c_str(), path_.c_str()) == 0) {
    file_ = std::move(new_file_);
    ask_from_ = 0;
    return;
  }
  ForgetNew();
  ask_from_ = 2 * edits_;  // the disk is full, say: later again
}

void Journal::Drop() {
  const std::lock_guard lock(mutex_);
  ForgetNew();
  if (file_) ::unlink(path_.c_str());
  file_.reset();
}

void Journal::ForgetNew() {
  if (!new_file_) return;
  ::unlink(Beside().c_str());
  new_file_.reset();
}

Journals::Journals(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  ::chmod(folder_.c_str(), 0700);
}

std::string Journals::FileOf(const std::string& id) const { return folder_ + "/" + id + ".jsonl"; }

std::shared_ptr<Journal> Journals::Start(const JournalHead& head) const {
  return folder_.empty() ? nullptr : std::make_shared<Journal>(FileOf(RandomDigits(8)), head);
}

std::optional<Recovery> Journals::Read(const std::string& id) const {
  if (folder_.empty() || !IsId(id)) return std::nullopt;
  const std::string file = FileOf(id);
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<size_t>(status.st_size) > kMostJournalBytes || InUse(file)) return std::nullopt;
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

std::vector<Recovery> Journals::Left() const {
  std::vector<Recovery> left;
  if (folder_.empty()) return left;
  std::error_code error;
  for (fs::directory_iterator walk(folder_, error), end; !error && walk != end && left.size() < 100; walk.increment(error)) {
    const std::string id = walk->path().stem().string();
    // One that was to begin anew when the machine ended; what it was to replace is there.
    if (walk->path().extension() == ".new" && !InUse(walk->path().string())) ::unlink(walk->path().c_str());
    if (walk->path().extension() != ".jsonl") continue;
    auto recovery = Read(id);
    if (recovery && (recovery->unsaved || !recovery->edits.empty())) left.push_back(std::move(*recovery));
  }
  std::sort(left.begin(), left.end(), [](const Recovery& a, const Recovery& b) { return a.modified > b.modified; });
  return left;
}

void Journals::Forget(const std::string& id) const {
  if (!folder_.empty() && IsId(id) && !InUse(FileOf(id))) ::unlink(FileOf(id).c_str());
}

}  // namespace weft::serve
