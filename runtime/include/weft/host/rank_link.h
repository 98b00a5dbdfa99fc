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
  std::chrono::nanoseconds deadline = std::chrono::seconds(120);  // of joining the job, and of each collective
  /// What this process does at the moment, for another that waits for it: "step 17, shard 5, block 'conv'". Called on any thread.
  std::function<std::string()> where;
  /// Told why the job ends, just before it does; on any thread.
  std::function<void(std::string_view why)> tell;
};

/// A thread that waits for messages looks for them, for all others that wait, too; it sleeps between two looks where nothing comes. A thread of
/// the link's own answers other ranks meanwhile. One thread at a time calls MPI (MPI_THREAD_SERIALIZED). A collective that misses its deadline ends the job, with the ranks that it waits for and what they say they do. Thread-safe.
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
  /// Ends all processes of the job at once, after telling why.
  [[noreturn]] void Abort(std::string_view why);
  /// Leaves the job; waits for the other processes to leave it as well. Nothing may be moved afterwards.
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
