#include "tools/cli/common.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sstream>

#include "tools/cli/libraries.h"
#include "weft/base/file.h"
#include "weft/base/system_error.h"
#include "weft/capi/runtime.hpp"

namespace weft::cli {
namespace fs = std::filesystem;
namespace {

nlohmann::ordered_json AsJson(std::string_view severity, const Status& status) {
  const Place& place = status.place();
  return {{"severity", severity},       {"code", CodeName(status.code())}, {"page", place.page}, {"pointer", place.pointer},
          {"block", place.block},       {"port", place.port},              {"message", status.message()},
          {"hint", status.hint()}};
}

void PrintJson(const nlohmann::ordered_json& findings, size_t left_out = 0) {
  nlohmann::ordered_json document{{"diagnostics", findings}};
  if (left_out > 0) document["left_out"] = left_out;
  std::cout << document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
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
void LogDebug(std::string_view text) { DebugLog().debug("{}", Visible(text)); }
void PrintOfBlock(std::string_view text) { BlockLog().info("{}", Visible(text)); }

bool IsTerminal(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

std::string Colored(std::string_view text, int color, int fd) {
  if (!IsTerminal(fd) || std::getenv("NO_COLOR") != nullptr) return std::string(text);
  return Cat("\033[", color, "m", text, "\033[0m");
}

std::string Visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    bool shown = length == 1 ? (byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\t'
                             : i + length <= text.size() && IsValidUtf8(text.substr(i, length));
    if (shown && byte == 0xC2) shown = static_cast<unsigned char>(text[i + 1]) >= 0xA0;  // U+0080 to U+009F are control characters
    if (shown) {
      out += text.substr(i, length);
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      length = 1;
    }
    i += length;
  }
  return out;
}

std::string Quoted(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

void Report(const Diagnostics& diagnostics, bool json) {
  const auto notes = std::ranges::count(diagnostics.all(), Severity::kNote, &Diagnostic::severity);
  const size_t left_out = diagnostics.errors() + diagnostics.warnings() + static_cast<size_t>(notes) - diagnostics.all().size();
  if (json) {
    auto findings = nlohmann::ordered_json::array();
    for (const Diagnostic& d : diagnostics.all()) findings.push_back(AsJson(SeverityName(d.severity), d.status));
    PrintJson(findings, left_out);
    return;
  }
  for (const Diagnostic& d : diagnostics.all()) {
    std::string line = Visible(ToString(d));
    std::string word = Cat(SeverityName(d.severity), ":");
    if (size_t at = line.find(word); at != std::string::npos) line.replace(at, word.size(), Colored(word, SeverityColor(d.severity)));
    std::cerr << line << "\n";
  }
  if (left_out > 0) std::cerr << "... and " << left_out << " more\n";
}

void Report(const Status& status, bool json) {
  if (json) return PrintJson(nlohmann::ordered_json::array({AsJson("error", status)}));
  Diagnostics one;
  if (!status.place().page.empty()) {
    one.Error(status);
    return Report(one, false);
  }
  std::cerr << "weft: " << Colored("error:", 31) << " " << Visible(status.message());
  if (!status.hint().empty()) std::cerr << " (" << Visible(status.hint()) << ")";
  std::cerr << "\n";
}

namespace {

/// (Not by operator<< of its buffer, which takes an error of the system for the end.)
Result<std::string> ReadAll(std::istream& in, const std::string& what) {
  constexpr size_t kChunk = size_t{1} << 16;
  std::string bytes;
  for (errno = 0; in;) {
    const size_t begin = bytes.size();
    bytes.resize(std::max(begin + kChunk, 2 * begin));
    in.read(bytes.data() + begin, static_cast<std::streamsize>(bytes.size() - begin));
    bytes.resize(begin + static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) return DataLoss("cannot read ", what, errno != 0 ? Cat(": ", std::strerror(errno)) : "");
  return bytes;
}

}  // namespace

Result<std::ifstream> OpenFile(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return InvalidArgument("'", path, "' is a folder, and a file is needed");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return InvalidArgument("'", path, "' is a device or pipe, and a file is needed");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return errno == EACCES ? PermissionDenied("cannot open '", path, "': permission denied") : NotFound("cannot open '", path, "': ", std::strerror(errno));
  }
  return in;
}

Result<std::string> ReadFile(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(std::ifstream in, OpenFile(path));
  return ReadAll(in, Cat("'", path, "'"));
}

Result<std::string> ReadStandardInput() { return ReadAll(std::cin, "standard input"); }

namespace {

Status CannotWrite(const std::string& path, int error) { return Status(CodeOfErrno(error), Cat("cannot write '", path, "': ", std::strerror(error))); }

/// What call(error) gives; again where a signal interrupted it.
template <class Call>
auto Asked(std::error_code& error, Call&& call) {
  auto answer = call(error);
  while (error == std::errc::interrupted) answer = call(error);
  return answer;
}

/// What is at a place, if anything; a failure where that cannot be told, which is not that nothing is there.
Result<fs::file_type> TypeAt(const fs::path& place, const std::string& path) {
  std::error_code error;
  const fs::file_type type = Asked(error, [&](std::error_code& failed) { return fs::status(place, failed); }).type();
  if (error && type != fs::file_type::not_found) return CannotWrite(path, error.value());
  return type;
}

/// Whether a device or pipe is there, which is written to and not replaced.
bool IsSpecial(fs::file_type type) { return type != fs::file_type::not_found && type != fs::file_type::regular; }

Status CheckAccess(const fs::path& place, const std::string& path) {
  while (::access(place.c_str(), W_OK) != 0) {
    if (errno != EINTR) return CannotWrite(path, errno);
  }
  return {};
}

}  // namespace

Result<std::string> WritableFile(const std::string& path) {
  if (path.empty()) return InvalidArgument("cannot write '': the name is empty");
  std::error_code error;
  // (A pipe behind /dev/stdout has no place of its own.)
  WEFT_ASSIGN_OR_RETURN(const fs::file_type named, TypeAt(path, path));
  if (IsSpecial(named) && named != fs::file_type::directory) {
    WEFT_RETURN_IF_ERROR(CheckAccess(path, path));
    return path;
  }
  const fs::path target = Asked(error, [&](std::error_code& failed) { return fs::weakly_canonical(fs::absolute(path, failed), failed); });
  if (error) return CannotWrite(path, error.value());
  if (named == fs::file_type::directory) return InvalidArgument("cannot write '", path, "': it is a folder");
  const fs::path folder = target.parent_path();
  WEFT_ASSIGN_OR_RETURN(const fs::file_type beside, TypeAt(folder, path));
  if (beside == fs::file_type::not_found) return NotFound("cannot write '", path, "': there is no folder '", folder.string(), "'");
  WEFT_RETURN_IF_ERROR(CheckAccess(folder, path));
  if (named == fs::file_type::regular) WEFT_RETURN_IF_ERROR(CheckAccess(target, path));
  return target.string();
}

Status CheckReplaceable(const std::string& path) {
  WEFT_RETURN_IF_ERROR(WritableFile(path).status());
  WEFT_ASSIGN_OR_RETURN(const fs::file_type there, TypeAt(path, path));
  return IsSpecial(there) ? InvalidArgument("'", path, "' is a device or pipe, and a file is needed") : Status();
}

Status CheckIsNot(const std::string& file, const std::string& input, std::string_view what) {
  std::error_code error;
  if (!fs::equivalent(file, input, error)) return {};
  return InvalidArgument("cannot write '", file, "': it is the ", what, " itself").WithHint("give another name");
}

namespace {

/// Whether two names are of one file, or will be.
Result<bool> AreOne(const NamedFile& one, const NamedFile& other) {
  WEFT_ASSIGN_OR_RETURN(const std::string target, WritableFile(one.path));
  WEFT_ASSIGN_OR_RETURN(const std::string beside, WritableFile(other.path));
  WEFT_ASSIGN_OR_RETURN(const fs::file_type there, TypeAt(target, one.path));
  std::error_code error;
  return !IsSpecial(there) && (target == beside || fs::equivalent(target, beside, error));
}

}  // namespace

Status CheckDistinct(const std::vector<NamedFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (files[i].path.empty() || files[j].path.empty()) continue;
      WEFT_ASSIGN_OR_RETURN(const bool one, AreOne(files[i], files[j]));
      if (!one) continue;
      return InvalidArgument(files[i].name, " needs a file of its own, found '", files[i].path, "', which is that of ", files[j].name, ", too")
          .WithHint("give another name");
    }
  }
  return {};
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  WEFT_ASSIGN_OR_RETURN(std::string target, WritableFile(path));
  WEFT_ASSIGN_OR_RETURN(const fs::file_type there, TypeAt(target, path));
  if (IsSpecial(there)) {
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    if (!out) return PermissionDenied("cannot write '", path, "': ", std::strerror(errno));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    return out ? Status() : ResourceExhausted("cannot write '", path, "': ", std::strerror(errno));
  }
  const fs::path place = target;
  Descriptor folder = OpenFolder(place.parent_path());
  NewFile file;
  int error = folder.valid() ? file.Create(std::move(folder), place.filename().string()) : errno;
  if (error == 0) error = file.Write(bytes.data(), bytes.size());
  if (error == 0) error = file.Commit();
  return error == 0 ? Status() : CannotWrite(path, error);
}

void AddFolderOptions(Command& command, std::vector<std::string>& allow, std::vector<std::string>& write) {
  command.Add("--allow", allow, "Let the page read files in this folder, besides its own").Type("FOLDER").Repeated();
  command.Add("--write", write, "Let the page write, and read, files in this folder; without, it writes none").Type("FOLDER").Repeated();
}

void AddBlockListOptions(Command& command, BlockLists& lists) {
  command.Add("--allow-blocks", lists.allowed, "Run only these blocks, and those that compute nothing: names or categories (io_ops), with commas")
      .Type("NAMES")
      .Repeated()
      .TakesOne()
      .SplitAt(',');
  command.Add("--refuse-blocks", lists.refused, "Do not run these blocks: names or categories (io_ops), with commas")
      .Type("NAMES")
      .Repeated()
      .TakesOne()
      .SplitAt(',');
}

void AddMemoryOption(Command& command, int64_t& memory) {
  command.Add("--memory", memory, "Memory that the page may take, its values and its own text, graph and plans together (default: 4/5 of the machine's)")
      .Type("BYTES")
      .Bytes();
}

void PageOptions::AddHostTo(Command& command) {
  AddFolderOptions(command, allow, write);
  AddLibraryOption(command, libraries);
  AddBlockListOptions(command, blocks);
  AddMemoryOption(command, memory);
}

void PageOptions::AddTo(Command& command, bool with_threads) {
  command.Add("page", page, "Page: Weft JSON, enuSpace runtime JSON or design SVG; - is standard input").Required().Type("PAGE").NotEmpty();
  command.Add("--set", set, "Override a literal or an attribute: ID.pin=VALUE (may be given again)").Type("ID.pin=VALUE").Repeated();
  AddHostTo(command);
  if (with_threads) {
    command.Add("--threads", threads, "Threads that work at the same time (default and most: one a processor)").Between(1, 1024);
  }
  command.AddFlag("--json", json, "Print results and errors as JSON");
  command.AddFlag("--verbose", verbose, "Tell on standard error what is done, with times");
}

Result<std::vector<fs::path>> Folders(const std::vector<std::string>& given, const char* option) {
  for (const std::string& folder : given) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) return NotFound(option, ": there is no folder '", folder, "'");
  }
  return std::vector<fs::path>(given.begin(), given.end());
}

namespace {

Result<std::unique_ptr<Document>> Open(const PageOptions& options, std::shared_ptr<Runtime>& runtime) {
  WEFT_ASSIGN_OR_RETURN(runtime, OpenRuntime(RuntimeOptions{.threads = options.threads, .memory_limit = options.memory}, options.libraries, options.blocks));
  DocumentOptions document;
  document.settings = options.set;
  WEFT_ASSIGN_OR_RETURN(document.read_folders, Folders(options.allow, "--allow"));
  WEFT_ASSIGN_OR_RETURN(document.write_folders, Folders(options.write, "--write"));
  document.print = PrintOfBlock;
  document.stall_limit_ms = options.stall_limit_ms;
  if (options.page == "-") {
    WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadStandardInput());
    document.name = "-";
    document.folder = ".";
    return Document::Open(runtime, bytes, std::move(document));
  }
  return Document::OpenFile(runtime, options.page, std::move(document));
}

}  // namespace

LoadedPage Load(const PageOptions& options) {
  LoadedPage loaded;
  if (options.verbose) SetVerbose();
  LogDebug(Cat("opening ", options.page));
  auto document = Open(options, loaded.runtime);
  if (!document.ok()) {
    loaded.diagnostics.Error(std::move(document).status());
    loaded.page = std::make_shared<Page>();
    return loaded;
  }
  loaded.document = std::move(*document);
  loaded.scope = loaded.document->scope();
  const std::shared_ptr<const Graph> graph = loaded.scope->revision()->graph;
  loaded.page = std::shared_ptr<const Page>(graph, &graph->page());
  loaded.diagnostics = loaded.document->faults();
  LogDebug(Cat("opened ", loaded.page->blocks.size(), " blocks: ", loaded.diagnostics.errors(), " errors, ", loaded.diagnostics.warnings(),
               " warnings; ", loaded.runtime->threads(), " threads, ", loaded.runtime->registry().blocks().size(), " block types"));
  return loaded;
}

}  // namespace weft::cli
