// The engine's services as tests need them: real threads, one folder of files, a log that can be read, state in a map.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weft/block/context.h"
#include "weft/block/services.h"

namespace weft::kit {

/// Parallel loops on `threads` threads, the calling one included. One call of Run at a time; a Run inside a task runs on the thread
/// of that task.
class TestWorkers : public Workers {
 public:
  explicit TestWorkers(int threads);
  ~TestWorkers() override;

  int threads() const override { return static_cast<int>(helpers_.size()) + 1; }
  void Run(int64_t count, FunctionRef<void(int64_t)> task) override;
  /// Whether tasks are handed out from the last to the first.
  void set_backwards(bool backwards) { backwards_ = backwards; }

 private:
  void Help();
  void Work();

  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  FunctionRef<void(int64_t)>* task_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> next_{0};
  int64_t generation_ = 0;
  int working_ = 0;
  bool backwards_ = false, ended_ = false;
};

/// Files inside one folder.
class TestFiles : public Files {
 public:
  explicit TestFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<std::filesystem::path> Resolve(std::string_view name, Access access) const override;

 private:
  std::filesystem::path folder_;
};

/// Nobody else is there to wait for: what is not ready never will be.
class TestWaiter : public Waiter {
 public:
  Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
              std::string_view what) override;
};

class TestLog : public Log {
 public:
  void Print(std::string_view text) override;
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// State that lives as long as this object.
class TestState : public BindContext {
 public:
  Result<ResourceHandle> Own(const Factory& make) override { return Shared("", "own state", make); }
  Result<ResourceHandle> Shared(std::string_view container, std::string_view shared_name, const Factory& make) override;

 private:
  std::map<std::string, ResourceHandle> handles_;
};

/// All bytes of a file; empty where there is none.
std::string FileBytes(const std::filesystem::path& path);
void WriteBytes(const std::filesystem::path& path, std::string_view bytes);

/// A fresh, empty folder that goes when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file of this name and gives its path.
  std::string Write(const std::string& name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace weft::kit
