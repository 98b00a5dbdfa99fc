#include "tools/cli/common.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sstream>

#include "tools/cli/libraries.h"
#include "weft/page/literal.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace fs = std::filesystem;
namespace {

nlohmann::ordered_json AsJson(std::string_view severity, const Status& status) {
  const Place& place = status.place();
  return {{"severity", severity},       {"code", CodeName(status.code())}, {"page", place.page}, {"pointer", place.pointer},
          {"block", place.block},       {"port", place.port},              {"message", status.message()},
          {"hint", status.hint()}};
}

void PrintJson(const nlohmann::ordered_json& findings) {
  std::cout << nlohmann::ordered_json{{"diagnostics", findings}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

int SeverityColor(Severity severity) { return severity == Severity::kError ? 31 : severity == Severity::kWarning ? 33 : 36; }

spdlog::logger MakeLogger(const char* name, const char* pattern) {
  spdlog::logger logger(name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger.set_pattern(pattern);
  return logger;
}

/// What blocks print, as they print it.
spdlog::logger& BlockLog() {
  static spdlog::logger logger = MakeLogger("blocks", "%v");
  return logger;
}

/// What the program does, with --verbose.
spdlog::logger& DebugLog() {
  static spdlog::logger logger = MakeLogger("weft", "%H:%M:%S.%e %v");
  return logger;
}

}  // namespace

void SetVerbose() { DebugLog().set_level(spdlog::level::debug); }
void LogDebug(std::string_view text) { DebugLog().debug("{}", text); }

bool IsTerminal(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

std::string Colored(std::string_view text, int color, int fd) {
  if (!IsTerminal(fd) || std::getenv("NO_COLOR") != nullptr) return std::string(text);
  return Cat("\033[", color, "m", text, "\033[0m");
}

void Report(const Diagnostics& diagnostics, bool json) {
  if (json) {
    auto findings = nlohmann::ordered_json::array();
    for (const Diagnostic& d : diagnostics.all()) findings.push_back(AsJson(SeverityName(d.severity), d.status));
    PrintJson(findings);
    return;
  }
  for (const Diagnostic& d : diagnostics.all()) {
    std::string line = ToString(d);
    std::string word = Cat(SeverityName(d.severity), ":");
    if (size_t at = line.find(word); at != std::string::npos) line.replace(at, word.size(), Colored(word, SeverityColor(d.severity)));
    std::cerr << line << "\n";
  }
  size_t shown = diagnostics.all().size(), found = diagnostics.errors() + diagnostics.warnings();
  if (found > shown) std::cerr << "... and " << found - shown << " more\n";
}

void Report(const Status& status, bool json) {
  if (json) return PrintJson(nlohmann::ordered_json::array({AsJson("error", status)}));
  Diagnostics one;
  if (!status.place().page.empty()) {
    one.Error(status);
    return Report(one, false);
  }
  std::cerr << "weft: " << Colored("error:", 31) << " " << status.message();
  if (!status.hint().empty()) std::cerr << " (" << status.hint() << ")";
  std::cerr << "\n";
}

Result<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return InvalidArgument("'", path, "' is a folder, and a file is needed");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return InvalidArgument("'", path, "' is a device or pipe, and a file is needed");
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return errno == EACCES ? PermissionDenied("cannot open '", path, "': permission denied") : NotFound("cannot open '", path, "': ", std::strerror(errno));
  }
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (in.bad()) return DataLoss("cannot read '", path, "'");
  return std::move(bytes).str();
}

Result<std::string> WritableFile(const std::string& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error || path.empty()) return InvalidArgument("cannot write '", path, "': ", error ? error.message() : "the name is empty");
  if (fs::is_directory(target, error)) return InvalidArgument("cannot write '", path, "': it is a folder");
  fs::path folder = target.parent_path();
  if (!fs::exists(folder, error)) return NotFound("cannot write '", path, "': there is no folder '", folder.string(), "'");
  bool special = fs::exists(target, error) && !fs::is_regular_file(target, error);
  if (access(special ? target.c_str() : folder.c_str(), W_OK) != 0) return PermissionDenied("cannot write '", path, "': ", std::strerror(errno));
  return target.string();
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  WEFT_ASSIGN_OR_RETURN(std::string target, WritableFile(path));
  std::error_code error;
  bool special = fs::exists(target, error) && !fs::is_regular_file(target, error);
  std::string beside = special ? target : Cat(target, ".", getpid(), ".tmp");
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    if (!out) return PermissionDenied("cannot write '", path, "': ", std::strerror(errno));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
      Status status = ResourceExhausted("cannot write '", path, "': ", std::strerror(errno));
      if (!special) fs::remove(beside, error);
      return status;
    }
  }
  if (special) return {};
  fs::rename(beside, target, error);
  if (error) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    return InvalidArgument("cannot write '", path, "': ", error.message());
  }
  return {};
}

void PageOptions::AddTo(Command& command, bool with_threads) {
  command.Add("page", page, "Page: Weft JSON, enuSpace runtime JSON or design SVG").Required().Type("PAGE").NotEmpty();
  command.Add("--set", set, "Override a literal or an attribute: ID.pin=VALUE (may be given again)").Type("ID.pin=VALUE").Repeated();
  command.Add("--allow", allow, "Also let blocks use files in this folder").Type("FOLDER").Repeated();
  AddLibraryOption(command, libraries);
  if (with_threads) {
    command.Add("--threads", threads, "Threads that work at the same time (default and most: one a processor)").Between(1, 1024);
  }
  command.AddFlag("--json", json, "Print results and errors as JSON");
  command.AddFlag("--verbose", verbose, "Tell on standard error what is done, with times");
}

Result<ValueRef> FindOutput(const Graph& graph, const std::string& name) {
  if (name.find('.') != std::string::npos || name.empty()) return graph.FindValue(name);
  WEFT_ASSIGN_OR_RETURN(int node, graph.FindNode(name));
  std::string outputs;
  if (const BlockDef* def = graph.node(node).def) {
    for (const PortSpec& port : def->outputs) outputs += Cat(outputs.empty() ? "" : ", ", name, ".", port.name);
  }
  Status status = InvalidArgument("'", name, "' is a block, and one of its outputs is needed");
  return outputs.empty() ? std::move(status).WithHint("it has none") : std::move(status).WithHint(Cat("it has ", outputs));
}

Status ChooseSession(std::vector<SessionSpec>& sessions, const std::string& id) {
  if (id.empty()) return {};
  std::string known;
  for (const SessionSpec& spec : sessions) known += Cat(known.empty() ? "" : ", ", spec.id);
  std::erase_if(sessions, [&](const SessionSpec& spec) { return spec.id != id; });
  if (!sessions.empty()) return {};
  return NotFound("there is no session '", id, "'").WithHint(Cat("there is ", known));
}

LoadedPage Load(const PageOptions& options) {
  LoadedPage loaded;
  if (options.verbose) SetVerbose();
  LogDebug(Cat("reading ", options.page));
  auto runtime = OpenRuntime(options.threads, options.libraries);
  if (!runtime.ok()) {
    loaded.diagnostics.Error(runtime.status());
    loaded.runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
    loaded.page = std::make_shared<Page>();
    return loaded;
  }
  loaded.runtime = std::move(*runtime);
  ReadPageResult read = ReadPageFile(options.page);
  LogDebug(Cat("read ", read.page.blocks.size(), " blocks; ", loaded.runtime->threads(), " threads, ", loaded.runtime->registry().blocks().size(), " block types"));
  loaded.diagnostics = std::move(read.diagnostics);
  for (const std::string& setting : options.set) {
    if (Status status = ApplySetting(read.page, loaded.runtime->registry(), setting); !status.ok()) {
      loaded.diagnostics.Error(std::move(status).WithPage(options.page));
    }
  }
  loaded.page = std::make_shared<Page>(std::move(read.page));
  ScopeOptions scope;
  scope.page_folder = fs::path(options.page).parent_path();
  for (const std::string& folder : options.allow) scope.allowed_folders.emplace_back(folder);
  scope.print = [](std::string_view text) { BlockLog().info("{}", text); };
  loaded.scope = Scope::Open(*loaded.runtime, loaded.page, options.page, std::move(scope), loaded.diagnostics);
  LogDebug(Cat("resolved the page: ", loaded.diagnostics.errors(), " errors, ", loaded.diagnostics.warnings(), " warnings"));
  return loaded;
}

namespace {

/// The text with every `name_ = value;` of that name taken out.
std::string WithoutAttr(std::string_view text, std::string_view name) {
  std::string kept;
  for (size_t start = 0; start < text.size();) {
    size_t end = start;
    int depth = 0;
    bool quoted = false;
    for (; end < text.size() && (quoted || depth > 0 || text[end] != ';'); ++end) {
      if (quoted && text[end] == '\\') ++end;
      else if (text[end] == '"') quoted = !quoted;
      else if (!quoted) depth += (text[end] == '{') - (text[end] == '}');
    }
    end = std::min(end, text.size());
    std::string_view pair = text.substr(start, end - start);
    size_t from = pair.find_first_not_of(" \t\r\n");
    std::string_view key = from == std::string_view::npos ? "" : pair.substr(from, pair.find_first_of(" \t\r\n=", from) - from);
    if (!key.empty() && key.back() == '_') key.remove_suffix(1);
    if (key != name) kept += Cat(pair, ";");
    start = end + 1;
  }
  return kept;
}

/// The text as a literal of the type that the page's literal at this input has; of its shape, too, where the text has as many elements.
Literal AsBefore(const PageBlock& block, const BlockDef& def, int input, const std::string& text) {
  Literal literal;
  literal.form = Literal::Form::kText;
  literal.text = text;
  for (const PageInput& before : block.inputs) {
    const Literal* old = before.items.size() == 1 && def.FindInput(before.port) == input ? LiteralOf(before.items[0]) : nullptr;
    if (old == nullptr || input < 0) continue;
    literal.dtype = old->dtype;
    if (old->shape && ParseTextLiteral(text, old->dtype, old->shape).ok()) literal.shape = old->shape;
  }
  return literal;
}

}  // namespace

Status ApplySetting(Page& page, const Registry& registry, std::string_view setting) {
  size_t equals = setting.find('=');
  std::string_view name = setting.substr(0, equals);
  size_t dot = name.rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0) {
    return InvalidArgument("--set needs ID.pin=VALUE, found '", setting, "'");
  }
  std::string_view id = name.substr(0, dot), pin = name.substr(dot + 1);
  std::string value(setting.substr(equals + 1));
  int index = page.Find(id);
  if (index < 0) {
    std::vector<std::string_view> ids;
    for (const PageBlock& block : page.blocks) ids.push_back(block.id);
    return NotFound("--set: there is no block '", id, "'").WithHint(DidYouMean(id, ids));
  }
  PageBlock& block = page.blocks[index];
  const BlockDef* def = registry.Find(block.type);
  if (def == nullptr) return NotFound("--set: the block type '", block.type, "' of '", id, "' is not known");
  int input = def->FindInput(pin), attr = def->FindAttr(pin);
  if (input < 0 && attr < 0) {
    std::vector<std::string_view> pins;
    for (const PortSpec& port : def->inputs) pins.push_back(port.name);
    for (const AttrSpec& spec : def->attrs) pins.push_back(spec.name);
    return NotFound("--set: the block '", id, "' (", def->name, ") has no input or attribute '", pin, "'").WithHint(DidYouMean(pin, pins));
  }
  Literal literal = AsBefore(block, *def, input, value);
  std::erase_if(block.inputs, [&](const PageInput& i) { return input >= 0 ? def->FindInput(i.port) == input : def->FindAttr(i.port) == attr; });
  if (input < 0) {
    block.attrs = Cat(WithoutAttr(block.attrs, def->attrs[attr].name), def->attrs[attr].name, "_ = ", value, ";");
    block.attrs_object.clear();
    block.has_attrs = true;
    return {};
  }
  block.inputs.push_back({def->inputs[input].name, false, {std::move(literal)}});
  block.has_inputs = true;
  return {};
}

}  // namespace weft::cli
