#include "runtime/exec/result_name.h"

#include <algorithm>
#include <charconv>

namespace weft {
namespace {

/// `ID.port[i][j]` in its parts.
struct ResultName {
  std::string_view block, port;
  std::vector<int64_t> indices;
};

Result<ResultName> ParseResultName(std::string_view text) {
  ResultName name;
  size_t bracket = text.find('[');
  std::string_view head = text.substr(0, bracket);
  size_t dot = head.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == head.size()) {
    return InvalidArgument("needs a name such as ID.port or ID.result_port[0][1], found '", text, "'");
  }
  name.block = head.substr(0, dot);
  name.port = head.substr(dot + 1);
  std::string_view rest = bracket == std::string_view::npos ? "" : text.substr(bracket);
  while (!rest.empty()) {
    size_t end = rest.find(']');
    int64_t index = 0;
    if (rest[0] != '[' || end == std::string_view::npos) return InvalidArgument("needs indices such as [0][1], found '", rest, "'");
    auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + end, index);
    if (error != std::errc() || stop != rest.data() + end || index < 0) {
      return InvalidArgument("needs an index of 0 or more, found '", rest.substr(0, end + 1), "'");
    }
    name.indices.push_back(index);
    rest.remove_prefix(end + 1);
  }
  return name;
}

}  // namespace

Result<NamedValue> FindNamedValue(const Graph& graph, std::string_view text) {
  WEFT_ASSIGN_OR_RETURN(ResultName name, ParseResultName(text));
  WEFT_ASSIGN_OR_RETURN(int index, graph.FindNode(name.block));
  const BlockDef* def = graph.node(index).def;
  constexpr std::string_view kPrefix = "result_";
  if (def != nullptr && def->FindOutput(name.port) < 0 && name.port.starts_with(kPrefix)) name.port.remove_prefix(kPrefix.size());
  std::string wire = Cat(name.block, ".", name.port);
  int port = def == nullptr ? -1 : def->FindOutput(name.port);
  if (port >= 0 && def->outputs[port].list != PortList::kSingle && !name.indices.empty()) {
    wire += Cat("[", name.indices[0], "]");
    name.indices.erase(name.indices.begin());
  }
  WEFT_ASSIGN_OR_RETURN(ValueRef value, graph.FindValue(wire));
  return NamedValue{value, std::move(name.indices)};
}

Result<Tensor> ElementOf(const Tensor& tensor, std::span<const int64_t> indices) {
  if (indices.empty()) return tensor;
  const Shape& shape = tensor.shape();
  if (static_cast<int>(indices.size()) != shape.rank()) {
    return InvalidArgument("an element of a tensor of shape ", shape, " needs ", shape.rank(), " indices, found ", indices.size());
  }
  int64_t offset = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (indices[i] >= shape[i]) return OutOfRange("the index ", indices[i], " is outside the shape ", shape);
    offset = offset * shape[i] + indices[i];
  }
  auto* data = const_cast<char*>(static_cast<const char*>(tensor.data())) + offset * static_cast<int64_t>(ElementSize(tensor.dtype()));
  auto keep = std::make_shared<Tensor>(tensor);
  return Tensor::View(tensor.dtype(), Shape{}, data, keep);
}

std::shared_ptr<const NameCache::Values> NameCache::Find(const std::shared_ptr<const Graph>& graph, std::span<const std::string_view> names) {
  {
    std::lock_guard lock(mutex_);
    if (graph_ == graph && values_ != nullptr && std::equal(names.begin(), names.end(), names_.begin(), names_.end())) return values_;
  }
  auto values = std::make_shared<Values>();
  for (std::string_view name : names) {
    values->named.push_back(FindNamedValue(*graph, name));
    if (values->named.back().ok()) values->found.push_back(values->named.back()->value);
  }
  std::vector<std::string> texts(names.begin(), names.end());
  std::lock_guard lock(mutex_);
  graph_ = graph;
  names_ = std::move(texts);
  values_ = values;
  return values;
}

}  // namespace weft
