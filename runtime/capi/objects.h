// What the handles name.
#pragma once

#include <mutex>
#include <optional>
#include <shared_mutex>

#include "runtime/capi/guard.h"
#include "runtime/host/kept_name.h"
#include "runtime/host/late_release.h"
#include "runtime/host/shared_library.h"
#include "weft/host/document.h"
#include "weft/host/inspect.h"
#include "weft/host/job.h"
#include "weft/host/modes.h"
#include "weft/host/page_run.h"
#include "weft/page/reader.h"

namespace weft::cases {
class SessionExecutor;
}

namespace weft::capi {

class RuntimeObject final : public Object {
 public:
  static constexpr int32_t kMostThreads = 4096;

  RuntimeObject(std::shared_ptr<Job> of_process, Registry registry, RuntimeOptions options)
      : job(std::move(of_process)), messages(job->library()), runtime(std::move(registry), options) {}
  const std::shared_ptr<Job> job;  // outlives the pages, which communicate by it; never null
  const std::string messages;      // its library
  std::vector<SharedLibrary> libraries;  // outlive the runtime, whose blocks are theirs; with blocks_mutex
  Runtime runtime;
  std::shared_mutex blocks_mutex;  // of the registry, until it is sealed
  bool sealed = false;             // a page was loaded: no more blocks
  std::mutex tests_mutex;
  std::vector<cases::SessionExecutor*> tests;  // in progress; with tests_mutex
  std::string hash;                // of the manifest of so many blocks; with blocks_mutex
  size_t hashed_blocks = 0;

  /// From here on the registry stays as it is, and is read without a lock.
  void Seal() {
    std::lock_guard lock(blocks_mutex);
    sealed = true;
  }
};

class PageObject final : public Object {
 public:
  Status MayCall() const override;  // not from a plan or gradient that the page waits for
  std::shared_ptr<RuntimeObject> runtime;  // outlives the document
  std::unique_ptr<Document> document;
  std::shared_ptr<Scope> scope;  // of the document
  Inspector inspector;
  std::mutex held_mutex;
  std::optional<MemoryCharge> held;  // for what the host holds; with held_mutex
};

/// Memory of a host; its release is called when nothing uses it any more, and without a lock.
class HostMemory {
 public:
  HostMemory(const weft_buffer& buffer, int64_t bytes) : buffer_(buffer), bytes_(bytes), given_back_(std::make_unique<GivenBack>(buffer)) {}
  ~HostMemory() {
    if (releases_ && buffer_.release != nullptr) LateRelease::Give(std::move(given_back_));
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  void* data() const { return buffer_.data; }
  bool Holds(const void* address) const {
    auto at = reinterpret_cast<uintptr_t>(address), begin = reinterpret_cast<uintptr_t>(buffer_.data);
    return at >= begin && at - begin < static_cast<uintptr_t>(bytes_);
  }
  /// From now on it is given back: until then a call may fail, and the host has never let go of it.
  void ReleaseAtEnd() { releases_ = true; }

 private:
  struct GivenBack final : LateRelease::Item {
    explicit GivenBack(const weft_buffer& given) : buffer(given) {}
    void Release() noexcept override { buffer.release(buffer.user, buffer.data); }
    const weft_buffer buffer;
  };

  const weft_buffer buffer_;
  const int64_t bytes_;
  std::unique_ptr<GivenBack> given_back_;
  bool releases_ = false;
};

class Watching;

class SessionObject final : public Object {
 public:
  SessionObject(std::shared_ptr<PageObject> of, std::shared_ptr<Runner> runs, bool in_page_run);
  ~SessionObject() override {
    if (!of_page_run) runner->Close();
  }
  Status MayCall() const override { return page->MayCall(); }
  const std::shared_ptr<PageObject> page;
  const std::shared_ptr<Runner> runner;
  const bool of_page_run;  // which closes the runner
  const std::unique_ptr<Modes> modes;
  const std::shared_ptr<Watching> watching;  // what the host observes

  std::mutex bound_mutex;  // of bound_inputs
  /// Inputs are, or were, bound to these: what a view shows of them is copied, since the host writes them again.
  std::vector<std::weak_ptr<const HostMemory>> bound_inputs;
  std::atomic<bool> has_bound_inputs{false};
};

/// The sessions of a page that run together.
class PageRunObject final : public Object {
 public:
  Status MayCall() const override { return sessions.front()->MayCall(); }
  std::vector<std::shared_ptr<SessionObject>> sessions;  // never empty; by PageRun::runners()
  std::vector<KeptName> ids;                             // of the sessions
  std::unique_ptr<PageRun> run;                          // ends before its sessions
};

class ViewObject final : public Object {
 public:
  explicit ViewObject(ResultValue shown);
  const ResultValue value;
  std::vector<int64_t> strides;  // in bytes
};

/// Values of one run.
class ValuesObject final : public Object {
 public:
  struct Entry {
    std::string name;
    Status status;
    ResultValue value;
  };
  explicit ValuesObject(std::vector<Entry> all);
  const std::vector<Entry> entries;
  std::vector<int64_t> strides;    // of all, one after another
  std::vector<weft_result> values;  // point into the entries
};

}  // namespace weft::capi

WEFT_HANDLE(weft_runtime, weft::capi::RuntimeObject, kRuntime);
WEFT_HANDLE(weft_page, weft::capi::PageObject, kPage);
WEFT_HANDLE(weft_session, weft::capi::SessionObject, kSession);
WEFT_HANDLE(weft_page_run, weft::capi::PageRunObject, kPageRun);
WEFT_HANDLE(weft_view, weft::capi::ViewObject, kView);
WEFT_HANDLE(weft_results, weft::capi::ValuesObject, kValues);

namespace weft::capi {

/// A value as a new handle.
Status GiveView(ResultValue value, weft_view** out);
Status GiveView(Tensor tensor, uint64_t generation, bool stale, weft_view** out);

/// A result of a session as a new handle.
Status GiveResult(SessionObject& session, ResultValue result, weft_view** view);

/// The value of a result as a host may keep it: a copy where it lies in memory that the host bound as an input, and writes again.
Result<Tensor> OwnValue(SessionObject& session, Tensor tensor);

/// What a buffer of the host holds: its type, shape and bytes, checked.
struct BufferContent {
  DType dtype = DType::kInvalid;
  Shape shape;
  int64_t bytes = 0;
};
Result<BufferContent> CheckBuffer(const weft_buffer& buffer);
/// A copy of it.
Result<Tensor> CopyBuffer(const weft_buffer* buffer, const std::shared_ptr<MemoryBudget>& budget);

/// Texts that a host passes as pointers and a count. invalid_argument for NULL among them.
Result<std::vector<std::string>> ReadTexts(const char* const* texts, size_t count, std::string_view what);

}  // namespace weft::capi
