#include "weft/host/session_choice.h"

#include <algorithm>

namespace weft {
namespace {

/// Adds what the request asks for besides what the session asks for itself.
Status AddRequested(const Graph& graph, const SessionRequest& request, SessionSpec& spec) {
  for (const std::string& name : request.fetches) {
    WEFT_ASSIGN_OR_RETURN(const ValueRef value, FindOutput(graph, name));
    spec.fetches.push_back({name, value});
  }
  for (const std::string& id : request.operations) {
    WEFT_ASSIGN_OR_RETURN(const int node, graph.FindNode(id));
    spec.run.push_back(node);
  }
  return {};
}

}  // namespace

std::vector<SessionSpec> SessionsOf(const Graph& graph) {
  std::vector<SessionSpec> sessions = graph.sessions();
  if (sessions.empty()) sessions.push_back(graph.DefaultSession());
  return sessions;
}

Result<std::vector<SessionSpec>> ChooseSessions(const Graph& graph, const SessionRequest& request) {
  const bool asks = !request.fetches.empty() || !request.operations.empty();
  if (request.session.empty() && !asks) return SessionsOf(graph);
  SessionSpec chosen;
  chosen.id = request.name;
  if (!request.session.empty()) {
    const std::vector<SessionSpec> own = SessionsOf(graph);
    const auto found = std::find_if(own.begin(), own.end(), [&](const SessionSpec& spec) { return spec.id == request.session; });
    if (found == own.end()) {
      std::string known;
      for (const SessionSpec& spec : own) known += Cat(known.empty() ? "there is " : ", ", spec.id);
      return NotFound("there is no session '", request.session, "'").WithHint(known);
    }
    chosen = *found;
  }
  WEFT_RETURN_IF_ERROR(AddRequested(graph, request, chosen));
  return std::vector<SessionSpec>{std::move(chosen)};
}

Result<SessionSpec> ChooseSession(const Graph& graph, const SessionRequest& request) {
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> sessions, ChooseSessions(graph, request));
  return std::move(sessions.front());
}

Result<ValueRef> FindOutput(const Graph& graph, std::string_view name) {
  if (name.find('.') != std::string_view::npos || name.empty()) return graph.FindValue(name);
  WEFT_ASSIGN_OR_RETURN(const int node, graph.FindNode(name));
  std::string outputs;
  if (const BlockDef* def = graph.node(node).def) {
    for (const PortSpec& port : def->outputs) outputs += Cat(outputs.empty() ? "" : ", ", name, ".", port.name);
  }
  Status status = InvalidArgument("'", name, "' is a block, and one of its outputs is needed");
  return outputs.empty() ? std::move(status).WithHint("it has none") : std::move(status).WithHint(Cat("it has ", outputs));
}

}  // namespace weft
