#include "tests/fuzz/run_block.h"

#include "tests/kit/block_tester.h"
#include "weft/base/discard.h"
#include "weft/cases/session_executor.h"

namespace weft::fuzz {
namespace {

void CheckFileTime(const Stopwatch& watch, std::string_view what) {
  Require(watch.seconds() <= kMostFileSeconds * kSlowness, what, " took ", watch.seconds(), " s");
}

std::string JsonList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += Cat(list.empty() ? "" : ", ", "\"", text, "\"");
  return Cat("[", list, "]");
}

}  // namespace

Mode::Mode(std::string_view bytes, size_t ways) {
  const auto first = bytes.empty() ? uint8_t{0} : static_cast<uint8_t>(bytes[0]);
  way = (first & 0x3f) % ways;
  mend = (first & 0x40) == 0;
  alone = (first & 0x80) != 0;
  if (!bytes.empty()) rest = bytes.substr(1);
}

std::optional<Status> RunAlone(const cases::TestCase& test) {
  kit::BlockTester tester(kit::Catalog(), test.block);
  tester.Attrs(test.attrs).Folder(ScratchFolder()).Once(MemoryLimit());
  for (const auto& [port, input] : test.inputs) tester.Inputs(port, input.values);
  if (!tester.WhySkipped().empty()) return std::nullopt;
  return tester.Run().status;
}

BlockCase::BlockCase(std::string block, std::string attrs) {
  test_.block = std::move(block);
  test_.attrs = std::move(attrs);
}

BlockCase& BlockCase::Input(const std::string& port, Tensor value) {
  test_.inputs[port] = {{std::move(value)}, false};
  return *this;
}

BlockCase& BlockCase::Texts(const std::string& port, const std::vector<std::string>& texts) { return Input(port, TextVector(texts)); }

BlockCase& BlockCase::List(const std::string& port, std::vector<Tensor> values) {
  test_.inputs[port] = {std::move(values), true};
  return *this;
}

Status BlockCase::Outcome(bool alone) const {
  const Stopwatch watch;
  std::optional<Status> by_itself = alone ? RunAlone(test_) : std::nullopt;
  Status status = by_itself ? *std::move(by_itself) : cases::SessionExecutor(SharedRuntime()).RunBlock(test_, ScratchFolder()).status;
  CheckFileTime(watch, test_.block);
  CheckStatus(status);
  return status;
}

Tensor TextVector(const std::vector<std::string>& texts) {
  Tensor vector = Tensor::Allocate(DType::kString, Shape{static_cast<int64_t>(texts.size())}).value();
  for (size_t i = 0; i < texts.size(); ++i) vector.values<String>()[i] = String(texts[i]);
  return vector;
}

Tensor NoElement(DType dtype) { return Tensor::Allocate(dtype, Shape{0}).value(); }

void TryReader(const std::string& block, const std::string& attrs, const std::vector<std::string>& files) {
  constexpr std::string_view kHandles = R"("reader_handle": "r.reader_handle", "queue_handle": "q.handle")";
  TryPage(Cat(R"({"id": "q", "block": "FIFOQueue", "attrs": "component_types_ = {DT_STRING};shapes_ = {[]};"},
      {"id": "put", "block": "QueueEnqueueMany", "inputs": {"handle": "q.handle", "components": [{"dtype": "DT_STRING", "shape": [)", files.size(),
              R"(], "values": )", JsonList(files), R"(}]}},
      {"id": "close", "block": "QueueClose", "inputs": {"handle": "q.handle"}},
      {"id": "r", "block": ")", block, R"(", "attrs": ")", attrs, R"("},
      {"id": "read", "block": "ReaderRead", "inputs": {)", kHandles, R"(}},
      {"id": "many", "block": "ReaderReadUpTo", "inputs": {)", kHandles, R"(, "num_records": {"dtype": "DT_INT64", "shape": [], "values": [100]}}},
      {"id": "reset", "block": "ReaderReset", "inputs": {"reader_handle": "r.reader_handle"}})"),
          {{"!put"}, {"!close"}, {"read.key", "read.value"}, {"!reset"}, {"many.keys", "many.values"}, {"many.keys", "many.values"}});
}

void TryPage(const std::string& blocks, const std::vector<std::vector<std::string>>& steps) {
  cases::TestCase test;
  test.page = Cat(R"({"weft": 1, "page": "files", "blocks": [)", blocks, "]}");
  for (const std::vector<std::string>& names : steps) {
    cases::Step& step = test.steps.emplace_back();
    for (const std::string& name : names) (name[0] == '!' ? step.run : step.fetch).push_back(name[0] == '!' ? name.substr(1) : name);
  }
  const Stopwatch watch;
  cases::SessionExecutor session(SharedRuntime());
  const cases::PageOutcome outcome = session.RunPage(test, ScratchFolder());
  CheckFileTime(watch, "a page");
  // The page is the target's own: it is sound whatever the files are.
  Require(outcome.loaded.ok(), "the page was refused: ", ToString(outcome.loaded));
  for (const cases::RunOutcome& run : outcome.steps) CheckStatus(run.status);
}

void CheckMemoryReturned() {
  FinishDiscarding();
  const int64_t held = SharedRuntime().budget()->used();
  Require(held == 0, held, " bytes are still counted when the blocks have run");
}

}  // namespace weft::fuzz
