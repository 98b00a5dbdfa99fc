// Snapshots of a page with variables, queues, a reader and random streams. Nearly every change of a byte makes a checksum wrong, so that
// inputs whose first byte is even get right ones before they are read; the file is what comes after that byte.
#include <zlib.h>

#include <cstring>

#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/exec/session.h"
#include "weft/host/file_sandbox.h"
#include "weft/page/reader.h"
#include "weft/state/snapshot.h"

namespace weft::fuzz {
namespace {

// corpus/README.md tells how the corpus is made of it.
constexpr std::string_view kPage = R"({
  "weft": 1,
  "page": "state",
  "blocks": [
    {"id": "v", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}}},
    {"id": "name", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_STRING", "shape": [2], "values": ["a", ""]}}},
    {"id": "grow", "block": "AssignAdd", "inputs": {"ref": "v.ref", "value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 1, 1]}}},
    {"id": "q", "block": "FIFOQueue", "attrs": "component_types_ = {DT_FLOAT};"},
    {"id": "put", "block": "QueueEnqueue", "inputs": {"handle": "q.handle", "components": ["v.ref"]}},
    {"id": "names", "block": "FIFOQueue", "attrs": "component_types_ = {DT_STRING};"},
    {"id": "file", "block": "QueueEnqueue", "inputs": {"handle": "names.handle", "components": [{"dtype": "DT_STRING", "shape": [], "values": ["records.bin"]}]}},
    {"id": "reader", "block": "FixedLengthRecordReader", "attrs": "record_bytes_ = 2;"},
    {"id": "read", "block": "ReaderRead", "inputs": {"reader_handle": "reader.reader_handle", "queue_handle": "names.handle"}},
    {"id": "draw", "block": "RandomUniform", "attrs": "dtype_ = DT_FLOAT;seed_ = 5;seed2_ = 6;", "inputs": {"shape": {"dtype": "DT_INT32", "shape": [1], "values": [3]}}},
    {"id": "fill", "block": "ClientSession", "inputs": {"fetch_outputs": ["draw.output"], "run_outputs": ["grow.operation", "put.operation", "file.operation"]}},
    {"id": "empty", "block": "ClientSession", "inputs": {"fetch_outputs": ["read.value"]}}
  ]
}
)";

constexpr size_t kHead = 16;  // bytes of the file's head, and of that of a section

/// Writes the checksum of each section.
void MendAll(std::string& file) {
  size_t at = kHead;
  while (file.size() >= at + kHead) {
    uint64_t size = 0;
    std::memcpy(&size, file.data() + at + 8, sizeof size);
    if (size > file.size() - at - kHead) return;
    const auto* bytes = reinterpret_cast<const unsigned char*>(file.data() + at);
    auto sum = static_cast<uint32_t>(crc32(crc32(0, nullptr, 0), bytes, 4));
    sum = static_cast<uint32_t>(crc32(sum, bytes + 8, static_cast<uInt>(8 + size)));
    std::memcpy(file.data() + at + 4, &sum, sizeof sum);
    at += kHead + static_cast<size_t>(size);
  }
}

std::shared_ptr<Scope> OpenScope() {
  static const std::shared_ptr<const Page> page = std::make_shared<Page>(ReadPage(kPage, {.name = "state", .read_file = {}}).page);
  ScopeOptions options;
  options.files = std::make_shared<FileSandbox>(FolderRules::OfPage(ScratchFolder()));
  options.stall_limit_ms = 1;
  Diagnostics found;
  auto scope = Scope::Open(SharedRuntime(), page, "state", std::move(options), found);
  Require(!found.has_errors(), "the page of the target is refused: ", ToString(found.FirstError()));
  return scope;
}

/// The restored state is used, and saved again.
void Use(const std::shared_ptr<Scope>& scope) {
  for (const SessionSpec& spec : scope->graph().sessions()) {
    Session session(scope, spec, Keep::kAll);
    RunOptions limits;
    limits.deadline = std::chrono::steady_clock::now() + kRunDeadline;
    CheckStatus(session.Run(limits));
  }
  const std::filesystem::path path = ScratchFolder() / "again.snap";
  const auto saved = SaveSnapshot(*scope, path);
  Require(saved.ok(), "the restored state cannot be saved: ", ToString(saved.status()));
  Diagnostics problems;
  const auto restored = RestoreSnapshot(*scope, path, {}, problems);
  Require(restored.ok(), "what was restored and saved is refused: ", ToString(restored.status()));
}

}  // namespace

void Snapshot(std::string_view bytes) {
  if (bytes.empty()) return;
  std::string file(bytes.substr(1));
  if (bytes[0] % 2 == 0) MendAll(file);
  const std::filesystem::path path = ScratchFile("fuzz.snap", file);
  ScratchFile("records.bin", "aabbccdd");
  for (const bool partial : {false, true}) {
    const auto scope = OpenScope();
    Diagnostics problems;
    const auto restored = RestoreSnapshot(*scope, path, {.partial = partial}, problems);
    CheckFindings(problems);
    if (restored.ok()) Use(scope);
    else CheckStatus(restored.status());
  }
  Require(SharedRuntime().budget()->used() == 0, "bytes are still counted when the page has gone");
}

}  // namespace weft::fuzz
