#include "tools/cli/sweep/journal.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "weft/base/float16.h"
#include "weft/base/system_error.h"
#include "weft/page/writer.h"

namespace weft::cli {
namespace {

using Json = nlohmann::json;
constexpr int64_t kNewestJournal = 1;
constexpr std::chrono::seconds kSyncEvery{1};

Status WriteError(const std::string& path, int error) {
  return Status(CodeOfErrno(error), Cat("the journal '", path, "' could not be written: ", std::strerror(error)))
      .WithHint("what it has stays; the same command continues");
}

/// All bytes, or an errno.
int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return 0;
}

Status OtherSweep(const std::string& path, std::string_view what) {
  return FailedPrecondition("the journal '", path, "' is of another sweep: ", what)
      .WithHint("--journal NEW.jsonl begins a new one; to begin anew in this one, remove it");
}

std::string TextAt(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

SweepId IdOf(const Grid& grid, const std::string& page_hash) {
  return {std::filesystem::path(grid.path).filename().string(), std::filesystem::path(grid.page).filename().string(), grid.hash, page_hash,
          grid.count()};
}

std::string SweepId::Line() const {
  return Cat("{\"weft_sweep\": ", kNewestJournal, ", \"grid\": ", Quoted(grid), ", \"page\": ", Quoted(page), ", \"points\": ", points,
             ", \"grid_hash\": ", Quoted(grid_hash), ", \"page_hash\": ", Quoted(page_hash), "}\n");
}

Status CheckFirstLine(std::string_view line, const SweepId& id, const std::string& path) {
  const Json first = Json::parse(line, nullptr, false);
  const auto format = first.is_object() ? first.find("weft_sweep") : first.end();
  if (!first.is_object() || format == first.end() || !format->is_number_integer()) {
    return InvalidArgument("'", path, "' is no journal of a sweep: its first line does not say so")
        .WithHint("--journal FILE names another file");
  }
  if (format->get<int64_t>() > kNewestJournal) {
    return Unsupported("the journal '", path, "' is of a newer Weft").WithHint("use that Weft, or --journal FILE");
  }
  if (TextAt(first, "grid_hash") != id.grid_hash) {
    return OtherSweep(path, Cat("the grid has changed since, or is another than '", TextAt(first, "grid"), "'"));
  }
  if (TextAt(first, "page_hash") != id.page_hash) {
    return OtherSweep(path, Cat("the page '", id.page, "' has changed since, or the state that it starts with"));
  }
  return {};
}

// ---- lines of points -----------------------------------------------------------------------------------------------------

namespace {

std::string LineStart(int64_t point, const GridPoint& at, double seconds) {
  return Cat("{\"point\": ", point, ", \"settings\": ", at.Json(), ", \"seconds\": ", RoundedNumber(std::max(seconds, 0.0)));
}

/// A single number or truth value; empty for other tensors. Those of floating types have a point, so that the type of 3.0 can be told.
std::string PlainText(const Tensor& tensor) {
  if (tensor.count() != 1 || tensor.shape().rank() != 0) return "";
  std::string text;
  Dispatch(tensor.dtype(), kReals + TypeList<bool>{}, [&]<class T>() {
    const auto value = tensor.values<T>()[0];
    if constexpr (std::is_integral_v<T>) {
      text = Cat(value);
    } else {
      const auto number = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value);
      text = std::isfinite(number) ? Cat(number) : std::isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"";
      if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
    }
  });
  return text;
}

}  // namespace

std::string ResultsText(const NamedTensors& results) {
  std::string text = "{";
  for (const auto& [name, tensor] : results) {
    if (tensor.dtype() == DType::kResource) continue;
    const std::string plain = PlainText(tensor);
    text += Cat(text.size() > 1 ? ", " : "", Quoted(name), ": ", plain.empty() ? WriteTensor(tensor) : plain);
  }
  return text + "}";
}

std::string DoneLine(int64_t point, const GridPoint& at, double seconds, std::string_view results) {
  return Cat(LineStart(point, at, seconds), ", \"results\": ", results, "}\n");
}

std::string FailedLine(int64_t point, const GridPoint& at, double seconds, const Status& status) {
  constexpr size_t kMostText = 2000;
  std::string error = Cat("{\"code\": ", Quoted(CodeName(status.code())), ", \"message\": ", Quoted(status.message().substr(0, kMostText)));
  const Place& place = status.place();
  for (const auto& [key, text] : {std::pair("hint", &status.hint()), std::pair("block", &place.block), std::pair("port", &place.port)}) {
    if (!text->empty()) error += Cat(", \"", key, "\": ", Quoted(text->substr(0, kMostText)));
  }
  return Cat(LineStart(point, at, seconds), ", \"error\": ", error, "}}\n");
}

namespace {

/// Nested deeper than any line of a sweep: what reads values goes down with them.
bool IsDeep(std::string_view line) {
  constexpr int kMostDepth = 100;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') quoted = !quoted;
    else if (quoted) i += c == '\\';
    else if (c == '[' || c == '{') ++depth;
    else if (c == ']' || c == '}') --depth;
    if (depth > kMostDepth) return true;
  }
  return false;
}

}  // namespace

PointLine ReadPointLine(std::string_view line, int64_t points) {
  if (IsDeep(line)) return {};
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return {};
  const auto point = object.find("point"), settings = object.find("settings");
  const bool failed = object.contains("error");
  if (point == object.end() || !point->is_number_integer() || failed == object.contains("results")) return {};
  if (settings == object.end() || !settings->is_object() || !object.at(failed ? "error" : "results").is_object()) return {};
  const auto number = point->get<int64_t>();
  return number < 0 || number >= points ? PointLine{} : PointLine{number, failed};
}

// ---- files ---------------------------------------------------------------------------------------------------------------

Result<JournalContents> ReadJournal(const std::string& path, const SweepId& id,
                                    const std::function<void(std::string_view, const PointLine&)>& line) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return NotFound("there is no journal '", path, "'").WithHint("weft sweep GRID makes it");
  JournalContents contents;
  std::string text;
  bool first = true;
  while (std::getline(in, text)) {
    if (in.eof()) {  // no line feed: torn, or nothing
      contents.torn = true;
      // A process that was killed while it made the journal left a part of this very line.
      if (first && !id.Line().starts_with(text)) return CheckFirstLine(text, id, path);
      break;
    }
    contents.whole_bytes += static_cast<int64_t>(text.size()) + 1;
    if (first) {
      WEFT_RETURN_IF_ERROR(CheckFirstLine(text, id, path));
      first = false;
      continue;
    }
    const PointLine point = ReadPointLine(text, id.points);
    if (point.point < 0) ++contents.damaged;
    else line(text, point);
  }
  if (in.bad()) return DataLoss("the journal '", path, "' could not be read");
  return contents;
}

Journal Journal::Pipe(Descriptor pipe) {
  Journal journal;
  journal.pipe_ = std::move(pipe);
  return journal;
}

Result<Journal> Journal::Open(const std::string& path, const SweepId& id, Progress& progress, std::string& note) {
  Journal journal;
  WEFT_ASSIGN_OR_RETURN(journal.path_, WritableFile(path));
  WEFT_RETURN_IF_ERROR(journal.Lock());
  WEFT_RETURN_IF_ERROR(journal.Prepare(id, progress, note));
  return journal;
}

Status Journal::Prepare(const SweepId& id, Progress& progress, std::string& note) {
  WEFT_ASSIGN_OR_RETURN(const JournalContents contents,
                        ReadJournal(path_, id, [&](std::string_view, const PointLine& point) { progress.Note(point); }));
  // (It was read by its name.)
  WEFT_RETURN_IF_ERROR(CheckPlace());
  bytes_ = contents.whole_bytes;
  if (contents.damaged > 0) {
    note = Cat("left out ", contents.damaged, contents.damaged == 1 ? " line" : " lines", " of the journal that cannot be read");
    return Rewrite(id);
  }
  if (contents.torn && ftruncate(number(), bytes_) != 0) return WriteError(path_, errno);
  if (contents.torn && bytes_ > 0) note = "cut off a line of the journal that was not whole";
  if (bytes_ == 0) WEFT_RETURN_IF_ERROR(Append(id.Line()));
  return Sync();
}

// The lines that can be read, in a file that takes the place of this one at once; the lock is then that one's.
Status Journal::Rewrite(const SweepId& id) {
  std::string whole = id.Line();
  WEFT_RETURN_IF_ERROR(ReadJournal(path_, id, [&](std::string_view line, const PointLine&) { whole += Cat(line, "\n"); }).status());
  WEFT_RETURN_IF_ERROR(WriteFile(path_, whole));
  WEFT_RETURN_IF_ERROR(Lock());
  bytes_ = static_cast<int64_t>(whole.size());
  return {};
}

Status Journal::Lock() {
  auto file = LockedFile::Open(path_, "the journal");
  if (file.ok()) {
    file_ = std::move(*file);
    return {};
  }
  Status status = std::move(file).status();
  if (status.code() != Code::kFailedPrecondition) return status;
  return std::move(status).WithHint("wait for it, or stop it: weft sweep GRID --status tells how far it is");
}

Status Journal::CheckPlace() const {
  Status status = file_ ? file_->CheckPlace() : Status();
  if (status.ok()) return status;
  return std::move(status).WithHint("the points until then are in the file that was moved: put it back, and the same command continues");
}

Status Journal::Append(std::string_view lines) {
  WEFT_RETURN_IF_ERROR(CheckPlace());
  const int error = WriteAll(number(), lines);
  if (!file_) return error == 0 ? Status() : Aborted("standard output could not be written: ", std::strerror(error));
  if (error != 0) {
    // (Where even that fails, the next process cuts off the torn line.)
    if (ftruncate(number(), bytes_) != 0) LogDebug(Cat("the journal could not be cut: ", std::strerror(errno)));
    return WriteError(path_, error);
  }
  bytes_ += static_cast<int64_t>(lines.size());
  return std::chrono::steady_clock::now() - synced_ < kSyncEvery ? Status() : Sync();
}

Status Journal::Sync() {
  if (!file_) return {};
  synced_ = std::chrono::steady_clock::now();
  if (fdatasync(number()) != 0) return WriteError(path_, errno);
  return CheckPlace();
}

}  // namespace weft::cli
