#include "runtime/host/kept_name.h"

#include <algorithm>

#include "runtime/host/break_condition.h"

namespace weft {
namespace {

/// Of the id in the name of a value: ids of imported pages may have dots themselves.
size_t IdSize(std::string_view name) { return std::min(name.substr(0, name.find('[')).rfind('.'), name.size()); }

}  // namespace

KeptName KeptName::OfValue(const Scope& scope, const Graph& graph, std::string given) {
  const size_t id_size = IdSize(given);
  return {scope, graph, std::move(given), id_size};
}

KeptName KeptName::OfBlock(const Scope& scope, const Graph& graph, std::string given) {
  const size_t id_size = given.size();
  return {scope, graph, std::move(given), id_size};
}

KeptName::KeptName(const Scope& scope, const Graph& graph, std::string given, size_t id_size) : given_(std::move(given)), id_size_(id_size) {
  const std::string_view name = given_;
  int block = graph.IndexOf(name.substr(0, id_size_));
  if (block < 0) {  // what the gradient of a block adds has that block's id in front
    id_size_ = std::min(name.find('.'), id_size_);
    block = graph.IndexOf(name.substr(0, id_size_));
  }
  if (block >= 0) block_ = scope.kept_blocks().Keep(graph, block);
}

std::optional<std::string> KeptName::In(const Graph& graph) const {
  const int block = block_ ? block_->In(graph) : -1;
  if (block < 0) return std::nullopt;
  return Cat(graph.node(block).id, std::string_view(given_).substr(id_size_));
}

std::string KeptName::text() const { return block_ ? Cat(block_->id(), std::string_view(given_).substr(id_size_)) : given_; }

std::string Renamed(const std::string& text, std::string_view from, std::string_view to) {
  const Result<BreakCondition> condition = ParseCondition(text);
  const std::string name = condition.ok() ? condition->name : text;
  const size_t id_size = IdSize(name);
  if (id_size == name.size() || std::string_view(name).substr(0, id_size) != from) return text;
  const std::string now = Cat(to, std::string_view(name).substr(id_size));
  return condition.ok() ? WithName(text, now) : now;
}

}  // namespace weft
