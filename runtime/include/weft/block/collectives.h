// Collectives: how the processes that run a page together exchange values. An interface: a layer above implements it over messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/status.h"
#include "weft/base/tensor.h"
#include "weft/block/services.h"

namespace weft {

/// Who uses a collective. Every process makes the calls of one user in the same order; those of different users may come in any.
enum class CollectiveUser : uint8_t { kControl, kGradients, kBlocks };

/// Bytes for another process, or memory for those that come from it.
struct Message {
  int rank = 0;
  bool receive = false;
  void* data = nullptr;  // read where it is sent
  size_t bytes = 0;
};

/// The processes of a job, numbered from 0 on. Thread-safe; one thread calls for one user at a time.
class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The machine that a process runs on.
  virtual std::string host(int rank) const = 0;

  /// Moves messages, and returns when all have come and gone. Each that one process sends another receives, of as many bytes; those between
  /// two processes, of one user, in one order. `what` is for the message of a failure. Where the deadline passes, the job ends: a process
  /// that others wait for cannot be left out. cancelled where the link is closed meanwhile.
  virtual Status Move(CollectiveUser user, std::span<const Message> messages, std::string_view what) = 0;
  /// How long Move waits without progress; 0 takes the job's own. Of the calls to come for this user.
  virtual void SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline) = 0;
};

/// One process alone: there is nobody to exchange with.
class LocalCollectives final : public Collectives {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host(int /*rank*/) const override { return "this machine"; }
  Status Move(CollectiveUser /*user*/, std::span<const Message> /*messages*/, std::string_view /*what*/) override { return {}; }
  void SetDeadline(CollectiveUser /*user*/, std::chrono::nanoseconds /*deadline*/) override {}
};

/// "rank 2 (node7)", for messages.
std::string RankName(int rank, std::string_view host);
inline std::string RankName(const Collectives& collectives, size_t rank) {
  return RankName(static_cast<int>(rank), collectives.host(static_cast<int>(rank)));
}

/// What each process gives, by rank, at every process.
Result<std::vector<std::string>> GatherAll(Collectives& collectives, CollectiveUser user, std::string_view mine, std::string_view what);
/// What `root` gives, at every process: into `bytes`, which there has them already.
Status BroadcastText(Collectives& collectives, CollectiveUser user, int root, std::string& bytes, std::string_view what);
/// The same into memory of a size that all know.
Status Broadcast(Collectives& collectives, CollectiveUser user, int root, std::span<std::byte> bytes, std::string_view what);
/// Returns when every process has called it.
Status Barrier(Collectives& collectives, CollectiveUser user, std::string_view what);
/// Fails at every process where any has failed: there with its own failure, at others with its message and name.
Status AgreeOnStatus(Collectives& collectives, CollectiveUser user, const Status& own, std::string_view what);

/// The Collectives of a scope, under a name that no block has: the host puts them there before the first session runs.
class CollectivesResource final : public Resource {
 public:
  static constexpr std::string_view kKind = "collectives";
  static constexpr std::string_view kContainer = "weft", kName = "collectives";
  explicit CollectivesResource(std::shared_ptr<Collectives> collectives) : collectives_(std::move(collectives)) {}
  std::string_view kind() const override { return kKind; }
  Collectives& collectives() const { return *collectives_; }

 private:
  const std::shared_ptr<Collectives> collectives_;
};

}  // namespace weft
