#include "tools/cli/feeds.h"

#include <algorithm>
#include <filesystem>

#include "tools/cli/results_io.h"
#include "weft/host/session_choice.h"
#include "weft/page/literal.h"

namespace weft::cli {
namespace {

bool IsTable(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".tsv") || path.ends_with(".txt"); }

/// "x.npy" for "data/x.csv": what a hint saves.
std::string NpyName(const std::string& path) { return std::filesystem::path(path).replace_extension(".npy").string(); }

std::string TableHint(const std::string& path, DType needed) {
  const std::string separator = path.ends_with(".csv") ? ", delimiter=','" : "";
  return Cat("make one with Python: numpy.save('", NpyName(path), "', numpy.loadtxt('", path, "'", separator, ", dtype='", NumpyName(needed), "'))");
}

/// Lists in the brackets of Python instead of braces; empty where the text is something else.
std::string InBraces(std::string text) {
  if (!text.starts_with("[")) return "";
  std::replace(text.begin(), text.end(), '[', '{');
  std::replace(text.begin(), text.end(), ']', '}');
  return text;
}

Result<Tensor> ReadValue(const std::string& source, DType needed) {
  auto tensor = ParseTextLiteral(source, needed, std::nullopt);
  if (tensor.ok()) return tensor;
  Status status(tensor.status().code(), tensor.status().message());  // the hints below say more than that of the text
  std::error_code unknown;
  if (source.ends_with(".npy") || IsTable(source) || std::filesystem::is_regular_file(source, unknown)) {
    return std::move(status).WithHint(IsTable(source) ? TableHint(source, needed) + " and feed it as @" + NpyName(source)
                                                      : Cat("a file is fed as @", source));
  }
  const std::string braces = InBraces(source);
  if (!braces.empty() && ParseTextLiteral(braces, needed, std::nullopt).ok()) {
    return std::move(status).WithHint(braces.size() < 100 ? Cat("lists stand in braces: ", braces) : "lists stand in braces: {{1,2},{3,4}}");
  }
  return std::move(tensor).status();
}

Result<Tensor> ReadTensor(const std::string& path, DType needed, const std::shared_ptr<MemoryBudget>& budget) {
  auto tensor = ReadNpy(path, budget);
  if (!tensor.ok()) {
    const bool table = IsTable(path) && tensor.status().code() == Code::kDataLoss && !NumpyName(needed).empty();
    return table ? Status(std::move(tensor).status()).WithHint(TableHint(path, needed)) : std::move(tensor).status();
  }
  if (tensor->dtype() == needed) return tensor;
  Status status = InvalidArgument("needs ", needed, ", found ", tensor->dtype(), " in '", path, "'");
  const std::string name = NumpyName(needed);
  return name.empty() ? status : std::move(status).WithHint(Cat("save it as that type: numpy.save('", path, "', array.astype('", name, "'))"));
}

Result<Tensor> ReadSource(const std::string& source, DType needed, const std::shared_ptr<MemoryBudget>& budget, FeedCache* cache) {
  if (!source.starts_with("@")) return ReadValue(source, needed);
  if (cache == nullptr) return ReadTensor(source.substr(1), needed, budget);
  const auto key = std::pair(source, needed);
  if (const auto known = cache->find(key); known != cache->end()) return known->second;
  auto tensor = ReadTensor(source.substr(1), needed, budget);
  if (tensor.ok()) cache->emplace(key, *tensor);
  return tensor;
}

}  // namespace

std::string FeedFile(const std::string& text) {
  const size_t equals = text.find('=');
  return equals != std::string::npos && text.substr(equals + 1).starts_with("@") ? text.substr(equals + 2) : "";
}

Status AddFeed(const Graph& graph, const std::string& text, const std::shared_ptr<MemoryBudget>& budget, SessionSpec& spec, FeedCache* cache) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return InvalidArgument("--feed needs ID.port=@FILE.npy or ID.port=VALUE, found '", text, "'");
  const std::string name = text.substr(0, equals), source = text.substr(equals + 1);
  WEFT_ASSIGN_OR_RETURN(const ValueRef value, FindOutput(graph, name));
  const DType needed = graph.TypeOf(value);
  auto tensor = ReadSource(source, needed, budget, cache);
  if (!tensor.ok()) {
    const Status& status = tensor.status();
    return Status(status.code(), Cat("the feed of '", name, "' (", needed, "): ", status.message())).WithHint(status.hint());
  }
  // A host may feed a Const whatever the page can take; on the command line another shape is a mistake.
  const Node& node = graph.node(value.node);
  if (node.variable < 0 && node.constant.defined() && !(node.constant.shape() == tensor->shape())) {
    return InvalidArgument("the feed of '", name, "' needs the shape ", node.constant.shape(), ", found ", tensor->shape())
        .WithHint("feed a Placeholder, which may take any shape");
  }
  spec.feeds.push_back({value, std::move(*tensor)});
  return {};
}

}  // namespace weft::cli
