// Pages written in C++.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "weft/exec/session.h"
#include "weft/page/page.h"

namespace weft::kit {

/// One item of an input: a wire ("a.z", "a.outputs[1]") or a value.
struct PageItem {
  PageItem(const char* wire) : value(std::string(wire)) {}
  PageItem(std::string wire) : value(std::move(wire)) {}
  PageItem(Tensor tensor) : value(std::move(tensor)) {}
  std::variant<std::string, Tensor> value;
};
using PageInputs = std::vector<std::pair<std::string, std::vector<PageItem>>>;

/// Wires must be well formed.
void AddBlock(Page& page, std::string id, std::string type, PageInputs inputs, std::string attrs = "");
/// A Const; gives the wire of its output.
std::string AddConst(Page& page, const std::string& id, Tensor value);
std::string AddVariable(Page& page, const std::string& id, Tensor initial);

/// An open page, with sessions by the names of what they fetch.
class OpenPage {
 public:
  static Result<OpenPage> Open(Runtime& runtime, Page page);

  const std::shared_ptr<Scope>& scope() const { return scope_; }
  const Graph& graph() const { return scope_->graph(); }
  /// The session fetches wires, and runs blocks for their effect.
  Result<std::unique_ptr<Session>> Fetch(const std::vector<std::string>& wires, const std::vector<std::string>& run = {}) const;
  /// One run in a session of its own: the values of the wires.
  Result<std::vector<Tensor>> Run(const std::vector<std::string>& wires) const;

 private:
  std::shared_ptr<Scope> scope_;
};

/// The fetched values after a run.
Result<std::vector<Tensor>> RunSession(Session& session);

}  // namespace weft::kit
