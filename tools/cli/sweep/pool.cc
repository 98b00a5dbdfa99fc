#include "tools/cli/sweep/pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/cli/common.h"
#include "weft/base/system_error.h"

namespace weft::cli {
namespace {

constexpr double kBatchSeconds = 0.05;  // of work that a process gets at once
constexpr int64_t kMostBatch = 1000;
constexpr int kTickMilliseconds = 200;
constexpr int kMostKilledStarts = 10;  // one after another
constexpr double kGraceSeconds = 5;  // beyond the time limit, which the process itself keeps where it can

Status SystemFailure(const char* what, int error) { return Status(CodeOfErrno(error), Cat(what, ": ", std::strerror(error))); }

/// How a process ended, for the line of its point.
Status EndOf(int status) {
  if (WIFEXITED(status)) return Aborted("the process that ran the point ended by itself, with status ", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL) {
    return ResourceExhausted("the process that ran the point was killed: the machine had no memory left for it, or somebody killed it")
        .WithHint("fewer processes (--jobs) or a limit (--memory); --retry runs the point again");
  }
  return Aborted("the process that ran the point crashed: ", strsignal(signal))
      .WithHint("weft run with the point's settings shows it alone");
}

}  // namespace

struct Pool::Worker {
  pid_t process = -1;
  Descriptor to, from;
  std::string buffer;
  bool greeted = false;  // its first line was there, and right
  int64_t late = -1;     // the point at which it was ended for its time; -1: none
  int64_t next = 0, last = -1;  // the points that it has been given and not answered
  Clock::time_point since;      // when it began with `next`

  ~Worker() { End(SIGKILL); }
  bool works() const { return next <= last; }
  /// Waits for the end.
  int End(int signal) {
    to = Descriptor();
    from = Descriptor();
    if (process <= 0) return 0;
    if (signal != 0) kill(process, signal);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    process = -1;
    return status;
  }
};

Pool::Pool(const Grid& grid, const SweepId& id, PoolOptions options, PoolEvents events)
    : grid_(grid), id_(id), options_(std::move(options)), events_(std::move(events)) {}

Pool::~Pool() = default;

Status Pool::Start(Worker& worker) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return SystemFailure("no pipe to a process", errno);
  Descriptor to_read(to[0]);
  worker.to = Descriptor(to[1]);
  if (pipe2(from, O_CLOEXEC) != 0) return SystemFailure("no pipe from a process", errno);
  worker.from = Descriptor(from[0]);
  Descriptor from_write(from[1]);
  fcntl(from[0], F_SETFL, O_NONBLOCK);
  fcntl(from[1], F_SETPIPE_SZ, 1 << 20);  // where it is allowed: the process goes on while its lines are written

  std::vector<std::string> texts = options_.arguments;
  std::string name = "weft";
  std::vector<char*> argv = {name.data()};
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, to_read.number(), 0);
  posix_spawn_file_actions_adddup2(&actions, from_write.number(), 1);
  // Ctrl-C goes to all processes of the terminal, SIGTERM to all of a job: this one decides what becomes of the others.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawn(&worker.process, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) worker.process = -1;
  worker.since = Clock::now();
  return error == 0 ? Status() : SystemFailure("a process could not be started", error);
}

int64_t Pool::BatchSize() const {
  if (point_seconds_ <= 0) return 1;
  const int64_t fair = left_ / (2 * static_cast<int64_t>(workers_.size())) + 1;  // so that all end at about the same time
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(kBatchSeconds / point_seconds_, 1e6)), 1, std::min(kMostBatch, fair));
}

void Pool::Give(Worker& worker) {
  if (todo_.empty() || !worker.greeted || worker.works()) return;
  PointRange& range = todo_.front();
  worker.next = range.first;
  worker.last = std::min(range.last, range.first + BatchSize() - 1);
  range.first = worker.last + 1;
  if (range.first > range.last) todo_.pop_front();
  left_ -= worker.last - worker.next + 1;
  worker.since = Clock::now();
  const std::string line = Cat(worker.next, "-", worker.last, "\n");
  // (Where the process is gone, its end is read next, and the first of these points is the one that it did not do.)
  [[maybe_unused]] const ssize_t wrote = write(worker.to.number(), line.data(), line.size());
}

Status Pool::Read(Worker& worker) {
  char bytes[1 << 16];
  for (;;) {
    const ssize_t got = read(worker.from.number(), bytes, sizeof bytes);
    if (got > 0) {
      worker.buffer.append(bytes, static_cast<size_t>(got));
      if (got == static_cast<ssize_t>(sizeof bytes)) continue;
      return TakeLines(worker);
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return TakeLines(worker);
    WEFT_RETURN_IF_ERROR(TakeLines(worker));
    return TakeEnd(worker);
  }
}

Status Pool::TakeLines(Worker& worker) {
  std::vector<PointLine> points;
  size_t begin = 0, first = std::string::npos;
  for (size_t end; (end = worker.buffer.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(worker.buffer).substr(begin, end - begin);
    if (!worker.greeted) {
      WEFT_RETURN_IF_ERROR(CheckFirstLine(line, id_, "of a process of this sweep"));
      worker.greeted = true;
      killed_starts_ = 0;
      continue;
    }
    const PointLine point = ReadPointLine(line, id_.points);
    if (!worker.works() || point.point != worker.next) {
      return Internal("a process of the sweep gave a line that nobody asked for: ", line.substr(0, 200));
    }
    ++worker.next;
    points.push_back(point);
    first = std::min(first, begin);
  }
  if (!points.empty()) {
    const auto now = Clock::now();
    const double each = std::chrono::duration<double>(now - worker.since).count() / static_cast<double>(points.size());
    point_seconds_ = point_seconds_ <= 0 ? each : 0.7 * point_seconds_ + 0.3 * each;
    worker.since = now;
    WEFT_RETURN_IF_ERROR(events_.done(std::string_view(worker.buffer).substr(first, begin - first), points));
  }
  worker.buffer.erase(0, begin);
  return {};
}

// Its process has ended: what it was at has failed, what it had not begun is for others.
Status Pool::TakeEnd(Worker& worker) {
  const int status = worker.End(0);
  if (!worker.greeted) {
    // What says itself why it cannot start will say so again; what was killed may have been unlucky.
    if (!WIFSIGNALED(status) || ++killed_starts_ > kMostKilledStarts) {
      return FailedPrecondition("a process of the sweep could not start: ", EndOf(status).message());
    }
    return Start(worker);
  }
  const bool told = worker.late >= 0 && worker.late != worker.next;  // the line of the late point was there before its end
  if (worker.works() && told) {
    todo_.push_front({worker.next, worker.last});
    left_ += worker.last - worker.next + 1;
    worker.next = worker.last + 1;
  } else if (worker.works()) {
    const double seconds = std::chrono::duration<double>(Clock::now() - worker.since).count();
    const Status why =
        worker.late >= 0 ? Aborted("the point took longer than the ", grid_.time_limit, " s of the grid's time_limit, and did not heed it")
                    : EndOf(status);
    const std::string line = FailedLine(worker.next, grid_.At(worker.next), seconds, why);
    const std::vector<PointLine> points = {{worker.next, true}};
    if (worker.next < worker.last) {
      todo_.push_front({worker.next + 1, worker.last});
      left_ += worker.last - worker.next;
    }
    worker.next = worker.last + 1;
    WEFT_RETURN_IF_ERROR(events_.done(line, points));
  }
  worker.buffer.clear();
  worker.greeted = false;
  worker.late = -1;
  return todo_.empty() ? Status() : Start(worker);
}

void Pool::EndLate() {
  if (grid_.time_limit <= 0) return;
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.1 * grid_.time_limit + kGraceSeconds));
  for (const auto& worker : workers_) {
    if (!worker->works() || worker->late >= 0 || Clock::now() - worker->since < limit) continue;
    worker->late = worker->next;
    kill(worker->process, SIGKILL);
  }
}

bool Pool::busy() const {
  return !todo_.empty() || std::ranges::any_of(workers_, [](const auto& worker) { return worker->works(); });
}

Status Pool::Serve() {
  std::vector<pollfd> polled;
  std::vector<Worker*> whose;
  for (const auto& worker : workers_) {
    if (worker->process < 0 && !todo_.empty()) WEFT_RETURN_IF_ERROR(Start(*worker));  // others gave back points when this one was done
    if (worker->process < 0) continue;
    Give(*worker);
    polled.push_back({worker->from.number(), POLLIN, 0});
    whose.push_back(worker.get());
  }
  const int ready = poll(polled.data(), polled.size(), kTickMilliseconds);
  if (ready < 0 && errno != EINTR) return SystemFailure("the sweep cannot wait for its processes", errno);
  for (size_t i = 0; ready > 0 && i < polled.size(); ++i) {
    if (polled[i].revents != 0) WEFT_RETURN_IF_ERROR(Read(*whose[i]));
  }
  EndLate();
  events_.tick();
  return {};
}

Status Pool::Run(const std::vector<PointRange>& points) {
  todo_.assign(points.begin(), points.end());
  for (const PointRange& range : points) left_ += range.last - range.first + 1;
  const auto jobs = static_cast<size_t>(std::clamp<int64_t>(options_.jobs, 1, std::max<int64_t>(left_, 1)));
  ::signal(SIGPIPE, SIG_IGN);
  for (size_t i = 0; i < jobs; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    WEFT_RETURN_IF_ERROR(Start(*workers_.back()));
  }
  while (busy()) {
    if (options_.interrupted != nullptr && options_.interrupted->load() != 0) return Cancelled("the sweep was interrupted");
    WEFT_RETURN_IF_ERROR(Serve());
  }
  return {};
}

}  // namespace weft::cli
