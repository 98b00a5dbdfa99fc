// RankLink: this process's link to the others of its job: collectives over messages, each with a deadline that names who misses it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weft/block/collectives.h"
#include "weft/plan/graph.h"
#include "weft/state/scope.h"

namespace weft {

/// How this process was started, by the variables of its launcher.
struct Launch {
  std::string library;  // which library of messages fits: "libweft_mpi.so"
  std::string name;     // of the launcher's MPI: "Open MPI"
  int rank = 0, size = 1;
  int on_host = 1;  // ranks that share this process's machine
};
/// Absent where no launcher started the process. Where several did (a launcher within a job), the innermost counts.
std::optional<Launch> FindLaunch();

struct LinkOptions {
  std::string library;  // a path, or a name that is looked for beside the program and its libraries, then by the system
  // Of joining the job, and of each collective, there from its last progress on (see RankLink).
  std::chrono::nanoseconds deadline = std::chrono::seconds(120);
  /// What this process does at the moment, for another that waits for it: "step 17, shard 5, block 'conv'". Called on any thread.
  std::function<std::string()> where;
  /// Told why the job ends, just before it does; on any thread.
  std::function<void(std::string_view why)> tell;
};

/// A thread that waits for messages looks for them, for all others that wait, too; it sleeps between two looks where nothing comes. A thread of
/// the link's own answers other ranks meanwhile. One thread at a time calls MPI (MPI_THREAD_SERIALIZED).
///
/// A collective may take as long as its messages make progress. They go in pieces of 256 KiB, and progress with a rank is a piece to it or from it
/// that has ended. Where there is none for the deadline, the rank is asked; what its own messages for the same user have moved counts as
/// progress, too: it may have to get first what it is to pass on. A rank without progress for the deadline ends the job, within 1.5 s (10 s, while
/// messages of other ranks move), the turn of the rank that says so (150 ms for each rank before it, 1.5 s at most) and the five seconds of Abort:
/// with its name and what it says it does. A stopped one is named as the one that does not answer. Thread-safe.
class RankLink final : public Collectives {
 public:
  /// Joins the job; waits for all its processes, and ends this one where the deadline passes. One link a process, once: MPI begins once.
  /// failed_precondition the second time; not_found where the library or one that it needs is not installed; unsupported for one of another
  /// version.
  static Result<std::shared_ptr<RankLink>> Open(const LinkOptions& options);
  ~RankLink() override;

  int rank() const override;
  int size() const override;
  std::string host(int rank) const override;
  Status Move(CollectiveUser user, std::span<const Message> messages, std::string_view what) override;
  void SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline) override;

  /// "Open MPI v4.1.4".
  std::string library() const;
  /// "rank 2 (node7)".
  std::string Name(int rank) const;
  /// Ends all processes of the job, after telling why: at once where no thread is within MPI, and this one within five seconds at any rate.
  [[noreturn]] void Abort(std::string_view why);
  /// Leaves the job, when calls of Move that have begun are done; waits for the other processes to leave it as well, and ends this one where
  /// the deadline passes. Nothing may be moved afterwards.
  void Close();

 private:
  class Loop;
  explicit RankLink(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

/// The blocks of collectives of this scope communicate so. Before its first run.
Status UseCollectives(Scope& scope, std::shared_ptr<Collectives> collectives);
/// Whether the page has such blocks.
bool HasCollectives(const Graph& graph);
/// Of sessions that run as one page: unsupported where those that loop would run side by side, and take each other's messages for their own.
Status CheckSideBySide(const Graph& graph, std::span<const SessionSpec> sessions);

}  // namespace weft
