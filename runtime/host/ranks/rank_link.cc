#include "weft/host/rank_link.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "runtime/host/ranks/link_loop.h"
#include "runtime/state/scope_services.h"

namespace weft {
namespace {

// A process joins its job once, as MPI has it.
std::atomic<bool> joined = false;

/// The library beside this program, in the lib folder next to that of the program, or where the system looks.
Result<SharedLibrary> LoadMessages(const std::string& name) {
  if (name.find('/') != std::string::npos) return SharedLibrary::Load(name, SharedLibrary::Symbols::kShared);
  std::vector<std::filesystem::path> folders;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&FindLaunch), &info) != 0) folders.push_back(std::filesystem::path(info.dli_fname).parent_path());
  std::error_code error;
  folders.push_back(std::filesystem::read_symlink("/proc/self/exe", error).parent_path());
  for (const std::filesystem::path& folder : folders) {
    // (The last one: from glibc-hwcaps/x86-64-v3, where the loader has found the engine.)
    for (const std::filesystem::path& place : {folder / name, folder / ".." / "lib" / name, folder / ".." / name, folder / ".." / ".." / name}) {
      if (std::filesystem::exists(place, error)) return SharedLibrary::Load(place, SharedLibrary::Symbols::kShared);
    }
  }
  return SharedLibrary::Load(name, SharedLibrary::Symbols::kShared);
}

}  // namespace

RankLink::RankLink(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
RankLink::~RankLink() = default;

Result<std::shared_ptr<RankLink>> RankLink::Open(const LinkOptions& options) {
  WEFT_ASSIGN_OR_RETURN(SharedLibrary library, LoadMessages(options.library));
  auto* const entry = reinterpret_cast<decltype(&weft_messages)>(library.Find("weft_messages"));
  if (entry == nullptr) return Unsupported("'", options.library, "' is no library of messages: it has no weft_messages");
  const WeftMessages& messages = *entry();
  if (messages.version != WEFT_MESSAGES_VERSION) {
    return Unsupported("'", options.library, "' has the version ", messages.version, ", needed is ", int{WEFT_MESSAGES_VERSION});
  }
  if (joined.exchange(true)) {
    return FailedPrecondition("this process has joined its job before, and a process does so once").WithHint("use the runtime that has joined it");
  }
  LinkOptions given = options;
  if (!given.where) given.where = [] { return std::string("work of its own"); };
  if (!given.tell) given.tell = [](std::string_view) {};
  std::shared_ptr<RankLink> link(new RankLink(std::make_unique<Loop>(std::move(library), messages, given)));
  WEFT_RETURN_IF_ERROR(link->loop_->Start());
  char host[256] = "?";
  // (Asked of the system: the library is the thread's.)
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  link->loop_->hosts.assign(static_cast<size_t>(link->size()), "?");
  WEFT_ASSIGN_OR_RETURN(link->loop_->hosts, GatherAll(*link, CollectiveUser::kControl, host, "for the names of the hosts"));
  return link;
}

int RankLink::rank() const { return loop_->rank(); }
int RankLink::size() const { return loop_->size(); }
std::string RankLink::host(int rank) const { return loop_->hosts[static_cast<size_t>(rank)]; }
std::string RankLink::Name(int rank) const { return loop_->Name(rank); }
std::string RankLink::library() const { return loop_->library(); }

Status RankLink::Move(CollectiveUser user, std::span<const Message> messages, std::string_view what) {
  return loop_->Move(user, messages, what);
}

void RankLink::SetDeadline(CollectiveUser user, std::chrono::nanoseconds deadline) { loop_->SetDeadline(user, deadline); }
void RankLink::Abort(std::string_view why) { loop_->Abort(why); }
void RankLink::Close() { loop_->Close(); }

Status CheckSideBySide(const Graph& graph, std::span<const SessionSpec> sessions) {
  if (sessions.size() < 2 || !HasCollectives(graph) || std::ranges::none_of(sessions, &SessionSpec::loop)) return {};
  return Unsupported("blocks of collectives run in one session at a time, and sessions that loop run side by side");
}

Status UseCollectives(Scope& scope, std::shared_ptr<Collectives> collectives) {
  ScopeBinder binder(scope, {}, {});
  const auto made = std::make_shared<CollectivesResource>(std::move(collectives));
  WEFT_ASSIGN_OR_RETURN(const ResourceHandle there, binder.Shared(CollectivesResource::kContainer, CollectivesResource::kName,
                                                                  [&]() -> Result<ResourceHandle> { return ResourceHandle(made); }));
  return there == made ? Status() : FailedPrecondition("the page's collectives are in use already");
}

bool HasCollectives(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.def != nullptr && node.def->category == "collective_ops"; });
}

}  // namespace weft
