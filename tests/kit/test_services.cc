#include "tests/kit/test_services.h"

#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "runtime/state/thread_pool.h"

namespace weft::kit {
namespace {

thread_local bool inside_task = false;

}  // namespace

TestWorkers::TestWorkers(int threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { Help(); });
}

TestWorkers::~TestWorkers() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void TestWorkers::Run(int64_t count, FunctionRef<void(int64_t)> task) {
  if (inside_task || helpers_.empty()) {
    for (int64_t i = 0; i < count; ++i) task(backwards_ ? count - 1 - i : i);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    working_ = static_cast<int>(helpers_.size());
    ++generation_;
  }
  changed_.notify_all();
  Work();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return working_ == 0; });
}

void TestWorkers::Help() {
  FlushDenormals flush;
  int64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ended_ || generation_ != seen; });
    if (ended_) return;
    seen = generation_;
    lock.unlock();
    Work();
    lock.lock();
    if (--working_ == 0) changed_.notify_all();
  }
}

void TestWorkers::Work() {
  inside_task = true;
  for (int64_t i = next_++; i < count_; i = next_++) (*task_)(backwards_ ? count_ - 1 - i : i);
  inside_task = false;
}

Result<std::filesystem::path> TestFiles::Resolve(std::string_view name, Access) const {
  if (name.find('\0') != std::string_view::npos) return InvalidArgument("needs the name of a file, found one with a NUL in it");
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(folder_, ignored);  // without links, as the blocks need it
  std::filesystem::path path = (folder / std::filesystem::path(name)).lexically_normal();
  std::filesystem::path inside = path.lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..") return PermissionDenied("needs a file inside ", folder_.string(), ", found '", name, "'");
  return path;
}

Status TestWaiter::Wait(std::unique_lock<std::mutex>&, std::condition_variable&, FunctionRef<bool()> ready, int64_t timeout_ms,
                        std::string_view what) {
  if (ready()) return {};
  if (timeout_ms >= 0) return Cancelled("no ", what, " within ", timeout_ms, " ms");
  return FailedPrecondition("nothing will bring about ", what);
}

void TestLog::Print(std::string_view text) {
  std::lock_guard lock(mutex_);
  text_ += Cat(text, "\n");
}

std::string TestLog::text() const {
  std::lock_guard lock(mutex_);
  return text_;
}

Result<ResourceHandle> TestState::Shared(std::string_view container, std::string_view shared_name, const Factory& make) {
  ResourceHandle& handle = handles_[Cat(container, "/", shared_name)];
  if (!handle) {
    WEFT_ASSIGN_OR_RETURN(handle, make());
  }
  return handle;
}

std::string FileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Write(const std::string& name, std::string_view bytes) const {
  WriteBytes(path_ / name, bytes);
  return Path(name);
}

}  // namespace weft::kit
