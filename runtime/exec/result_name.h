// The names of results: `ID.port`, `ID.port[k]` of a list port, `ID.result_port`, and elements `ID.result_port[i][j]`.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// A value, or the element of it that the indices name.
struct NamedValue {
  ValueRef value;
  std::vector<int64_t> indices;
};

/// invalid_argument for a text that is no name; not_found with a suggestion.
Result<NamedValue> FindNamedValue(const Graph& graph, std::string_view text);

/// The element as a scalar that shares the tensor's memory; the tensor itself without indices. invalid_argument for another number of
/// indices than the tensor's rank; out_of_range beyond its sizes.
Result<Tensor> ElementOf(const Tensor& tensor, std::span<const int64_t> indices);

/// The values of many names, remembered for who asks for the same ones again and again. Thread-safe.
class NameCache {
 public:
  struct Values {
    std::vector<Result<NamedValue>> named;  // what each name stands for in the graph
    std::vector<ValueRef> found;            // the values of those that stand for one
  };
  std::shared_ptr<const Values> Find(const std::shared_ptr<const Graph>& graph, std::span<const std::string_view> names);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Graph> graph_;
  std::vector<std::string> names_;
  std::shared_ptr<const Values> values_;
};

}  // namespace weft
