// Which sessions of a page a host means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// What a host asks for. Where all is empty, the page's own sessions.
struct SessionRequest {
  std::string session{};                  // id of a ClientSession block
  std::vector<std::string> fetches{};     // values to compute: "loss.output"
  std::vector<std::string> operations{};  // blocks to run for their effect: "train_w"
  std::string name = "host";              // what a session is called that is none of the page's
};

/// The page's sessions, in page order; of a page without one, the default session.
std::vector<SessionSpec> SessionsOf(const Graph& graph);

/// All sessions that the request means: the named one, with fetches and operations besides its own; without a name, one of those fetches
/// and operations alone; without any, SessionsOf. not_found with what there is; invalid_argument for a block where an output is needed.
Result<std::vector<SessionSpec>> ChooseSessions(const Graph& graph, const SessionRequest& request);
/// The first of them.
Result<SessionSpec> ChooseSession(const Graph& graph, const SessionRequest& request);

/// An output as a user names it: Graph::FindValue, but where only a block is named, the hint tells its outputs.
Result<ValueRef> FindOutput(const Graph& graph, std::string_view name);

}  // namespace weft
