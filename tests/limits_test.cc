// docs/limits.md has the limits that the code has.
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "blocks/io/lmdb/cursor.h"
#include "blocks/io/reader_blocks.h"
#include "blocks/logging/tensor_text.h"
#include "runtime/capi/host_block.h"
#include "runtime/capi/objects.h"
#include "runtime/host/file_bytes.h"
#include "runtime/page/formats.h"
#include "runtime/page/json_walk.h"
#include "runtime/page/report.h"
#include "runtime/plan/draft.h"
#include "tests/kit/sanitized.h"
#include "tests/runtime/page_test.h"
#include "tools/serve/limits.h"
#include "weft/base/shape.h"
#include "weft/base/tensor.h"
#include "weft/base/chain.h"
#include "weft/base/file.h"
#include "weft/base/memory.h"
#include "weft/host/document.h"
#include "weft/host/file_sandbox.h"
#include "weft/host/inspect.h"
#include "weft/state/runtime.h"

namespace weft {
namespace {

/// 1048576 as "1,048,576".
std::string Grouped(size_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

/// 262144 as "256 KiB".
std::string InUnits(uint64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; unit + 1 < std::size(units) && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return Cat(Grouped(bytes), " ", units[unit]);
}

/// How a row of a table of docs/limits.md begins, and its limit.
struct NamedLimit {
  NamedLimit(const char* row, size_t number) : NamedLimit(row, Grouped(number)) {}
  NamedLimit(const char* row, std::string text) : what(row), most(std::move(text)) {}
  std::string what, most;
};

/// The rows of the table below a heading of docs/limits.md, without its head: what there is a limit of, and the limit.
std::vector<std::pair<std::string, std::string>> RowsBelow(std::string_view heading) {
  std::ifstream in(WEFT_SOURCE_DIR "/docs/limits.md");
  std::vector<std::pair<std::string, std::string>> rows;
  bool below = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) below = line == heading;
    if (!below || !line.starts_with("| ") || line.starts_with("| of |") || line.starts_with("| --- |")) continue;
    const size_t middle = line.find(" | "), end = line.find(" | ", middle + 3);
    REQUIRE(end != std::string::npos);
    rows.emplace_back(line.substr(2, middle - 2), line.substr(middle + 3, end - middle - 3));
  }
  return rows;
}

/// Each row has its limit, and each limit its row.
void CheckRows(std::string_view heading, std::span<const NamedLimit> limits) {
  std::vector<int> used(limits.size());
  for (const auto& [what, most] : RowsBelow(heading)) {
    INFO("the row '" << what << "', which has the limit '" << most << "'");
    int found = 0;
    for (size_t i = 0; i < limits.size(); ++i) {
      if (!what.starts_with(limits[i].what)) continue;
      ++found;
      ++used[i];
      CHECK((most == limits[i].most || most.starts_with(limits[i].most + " ") || most.starts_with(limits[i].most + ", ")));
    }
    CHECK(found == 1);
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    INFO("the limit of " << limits[i].what);
    CHECK(used[i] == 1);
  }
}

TEST_CASE("docs/limits.md has the limits that the code has", "[limits]") {
  const NamedLimit limits[] = {{"a block's id", Grouped(page::kMostNameBytes) + " bytes"},
                               {"levels of objects", static_cast<size_t>(page::kMaxDepth)},
                               {"values of one input", Draft::kMostValues},
                               {"values of all list inputs", Draft::kMostListValues},
                               {"axes of a tensor", static_cast<size_t>(kMaxRank)},
                               {"findings that are kept", Diagnostics::kLimit},
                               {"the message of a finding", Grouped(Diagnostics::kMostMessage) + " bytes"},
                               {"each other text of a finding", Grouped(Diagnostics::kMostText) + " bytes"},
                               {"values in a message of Assert or Print", InUnits(blocks::kMostText)},
                               {"bytes of a string of a value that is shown", kMostShownBytes},
                               {"lists without elements of a value that is shown", static_cast<size_t>(kMostShownEmpty)},
                               {"bytes of a page, or of the values", InUnits(kMostFileBytes)},
                               {"bytes of a design page", page::kMostDesignBytes},
                               {"links on the way", static_cast<size_t>(FileSandbox::kMostLinks)},
                               {"writers of one file", static_cast<size_t>(NewFile::kMostWriters)},
                               {"bytes of a record and of a footer", InUnits(blocks::readers::kMostRecordBytes)},
                               {"bytes of one block of a SNAPPY file", InUnits(blocks::kMostSnappyBytes)},
                               {"levels of a tree in an LMDB file", blocks::lmdb::Tree::kMostLevels},
                               {"outputs of a block whose types", Inspection::kMostOutputs},
                               {"edits that can be taken back", EditHistory::kMostSteps},
                               {"operations in one fused chain", static_cast<size_t>(ChainKind::kMaxOps)},
                               {"inputs, and outputs, of a block of the host", static_cast<size_t>(capi::kMostHostPorts)},
                               {"threads of a runtime", static_cast<size_t>(capi::RuntimeObject::kMostThreads)},
                               {"time of one call", "what the host says (`call_deadline_ns`); without it any"},
                               {"bytes that pages hold", "four fifths of the machine's memory"}};
  CheckRows("# Limits", limits);
  // Of the last two rows, what is there when the host says nothing.
  CHECK(RuntimeOptions().call_deadline.count() == 0);
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  CHECK(std::abs(MemoryBudget::ForMachine()->limit() - machine / 5 * 4) < 5);
}

TEST_CASE("docs/limits.md and docs/protocol.md have the limits of the server", "[limits]") {
  const serve::Limits of;
  const auto count = [](auto number) { return static_cast<size_t>(number); };
  const NamedLimit limits[] = {{"bytes of a page's text", of.page_bytes}, {"bytes of other bodies", of.body_bytes},
                               {"bytes of a WebSocket message", of.frame_bytes}, {"bytes that wait", of.queue_bytes},
                               {"bytes of a change", of.change_bytes}, {"open pages", of.pages}, {"connected clients", of.clients},
                               {"clients that are known", of.clients_known}, {"seconds that a client", count(of.lease_seconds)},
                               {"connections", of.connections}, {"ended runs", of.runs_kept}, {"subscriptions", of.subscriptions},
                               {"breakpoints", of.breakpoints}, {"feeds", of.feeds}, {"elements of a value", count(of.value_elements)},
                               {"bytes of values in one answer", of.json_bytes}, {"bytes of a string in summaries", of.string_bytes},
                               {"bytes of a value", count(of.value_bytes)}, {"names in one call", of.names},
                               {"events of a page", of.history_events}, {"bytes of those events", of.history_bytes}, {"seconds of a call", count(of.call_seconds)},
                               {"calls that wait", of.calls_waiting}, {"files in a list", of.files},
                               {"calls a second", count(of.calls_a_second)}};
  CheckRows("## Of `weft serve`", limits);

  std::ifstream in(WEFT_SOURCE_DIR "/docs/protocol.md");
  std::stringstream text;
  text << in.rdbuf();
  const std::pair<const char*, size_t> told[] = {
      {"page_bytes", of.page_bytes}, {"body_bytes", of.body_bytes}, {"pages", of.pages}, {"clients", of.clients}, {"runs_per_page", of.runs_kept},
      {"frame_bytes", of.frame_bytes}, {"queue_bytes", of.queue_bytes}, {"subscriptions", of.subscriptions}, {"breakpoints", of.breakpoints},
      {"value_elements", count(of.value_elements)}, {"call_seconds", count(of.call_seconds)}, {"lease_seconds", count(of.lease_seconds)},
      {"history_events", of.history_events}};
  for (const auto& [name, number] : told) CHECK_THAT(text.str(), Catch::Contains(Cat("\"", name, "\": ", number)));
}

TEST_CASE("Names of blocks, types and ports have a limit", "[limits]") {
  const std::string most(page::kMostNameBytes, 'n'), longer = most + "n";
  const auto code = [](const std::string& id, const std::string& type, const std::string& port) {
    const std::string block = Cat("{\"id\": \"", id, "\", \"block\": \"", type, "\", \"inputs\": {\"", port, "\": \"a.b\"}}");
    const ReadPageResult read = ReadText(PageWith(block));
    return read.diagnostics.has_errors() ? read.diagnostics.FirstError().message() : "ok";
  };
  CHECK(code(most, most, most) == "ok");
  CHECK(code(longer, "A", "p") == "a block id needs a name of at most 1024 bytes, found 1025");
  CHECK(code("a", longer, "p") == "a block type needs a name of at most 1024 bytes, found 1025");
  CHECK(code("a", "A", longer) == "a port needs a name of at most 1024 bytes, found 1025");

  auto document = Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}), PageWith(""));
  Diagnostics found;
  const auto add = [&](const std::string& id) {
    return document->Apply(Cat(R"({"op": "add", "block": {"id": ")", id, R"(", "block": "NoOp"}})"), EditMode::kApply, found).status();
  };
  CHECK(add(most).ok());
  CHECK(add(longer).code() == Code::kInvalidArgument);
  CHECK(document->Apply(Cat(R"({"op": "rename", "block": ")", most, R"(", "to": ")", longer, "\"}"), EditMode::kApply, found).status().code() ==
        Code::kInvalidArgument);
}

TEST_CASE("Design pages have a limit", "[limits]") {
  const std::string least = "<svg pg-xcenter=\"0.00\"></svg>", most = least + std::string(page::kMostDesignBytes - least.size(), ' ');
  CHECK_FALSE(ReadText(most).diagnostics.has_errors());
  CHECK(ReadText(most + " ").diagnostics.FirstError().message() == "needs a design page of at most 67108864 bytes, found 67108865");
}

TEST_CASE("Findings of a page with absurd names take little memory and time", "[limits]") {
  std::string inputs;
  for (int i = 0; i < 1100; ++i) inputs += Cat(i > 0 ? ", " : "", "\"none", i, "\": \"b.c\"");
  const std::string id(1 << 20, 'i');
  const auto start = std::chrono::steady_clock::now();
  auto document = Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}),
                                 PageWith(Cat("{\"id\": \"", id, "\", \"block\": \"Add\", \"inputs\": {", inputs, "}}")));
  const Diagnostics found = document->diagnostics();
  size_t bytes = 0;
  for (const Diagnostic& one : found.all()) bytes += ToString(one).size();
  CHECK(found.errors() > 0);
  CHECK(found.all().size() <= Diagnostics::kLimit);
  CHECK(bytes < (size_t{8} << 20));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(kit::kSanitized ? 60 : 5));

  // A finding is cut, not lost: it begins as it was, and says how much is missing. Where it lies is still a place of the document.
  Diagnostics cut;
  const std::string text = Cat("begins so ", std::string(100000, 'x'));
  cut.Error(InvalidArgument(text).WithBlock(id).WithPointer(Cat("/blocks/0/inputs/", id)).WithHint("as it was").WithCause(NotFound(text)));
  const Status& kept = cut.all()[0].status;
  CHECK(kept.message().starts_with("begins so xxx"));
  CHECK(kept.message().ends_with(" more bytes)"));
  CHECK(kept.message().size() <= 4096);
  CHECK(kept.place().block.size() <= 1024);
  CHECK(kept.place().pointer == "/blocks/0/inputs");
  CHECK(kept.hint() == "as it was");
  REQUIRE(kept.cause() != nullptr);
  CHECK(kept.cause()->message().size() <= 4096);
  CHECK(kept.cause()->code() == Code::kNotFound);
}

}  // namespace
}  // namespace weft
