// Many edits in one call: twice as many of them, of a page that is twice as large, take at most 2.5 times the time; so does taking them back.
#include <functional>

#include "tests/kit/growth.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

std::string Listed(int count, const std::function<std::string(int)>& text) {
  std::string list;
  for (int i = 0; i < count; ++i) list += Cat(i ? ", " : "", text(i));
  return list;
}

/// n constants c0, c1, ..., each read by a block y0, y1, ..., and all of them by a list; all of them have places on the drawing.
std::string PageFor(int n, const std::vector<std::string>& more) {
  std::vector<std::string> blocks = more;
  for (int i = 0; i < n; ++i) {
    blocks.push_back(Block(Cat("c", i), "Const", {{"value", Scalar(i)}}));
    blocks.push_back(Block(Cat("y", i), "Negate", {{"x", Cat("c", i, ".output")}}));
  }
  blocks.push_back(Block("sum", "AddN", {{"inputs", Cat("[", Listed(n, [](int i) { return Cat("\"c", i, ".output\""); }), "]")}}));
  std::string text = PageOf(blocks);
  text.pop_back();
  return Cat(text, ", \"layout\": {", Listed(n, [](int i) { return Cat("\"c", i, "\": [", i, ", 0], \"y", i, "\": [", i, ", 1]"); }), "}}");
}

/// The same wire again and again.
std::string Repeating(int n) { return Block("twice", "AddN", {{"inputs", Cat("[", Listed(2 * n, [](int i) { return i % 2 ? "\"c1.output\"" : "\"c0.output\""; }), "]")}}); }
/// Wires to blocks that are not there.
std::string Lost(int n) { return Block("lost", "AddN", {{"inputs", Cat("[", Listed(n, [](int i) { return Cat("\"m", i, ".y\""); }), "]")}}); }

struct Call {
  const char* name;
  int per_edit;                            // edits are of one in so many of the n constants
  std::function<std::string(int, int)> edit;  // i, n
};

std::string Connect(const std::string& from, const std::string& to) { return Cat("{\"op\": \"connect\", \"from\": \"", from, "\", \"to\": \"", to, "\"}"); }
std::string Rename(const std::string& block, const std::string& to) { return Cat("{\"op\": \"rename\", \"block\": \"", block, "\", \"to\": \"", to, "\"}"); }
std::string Added(int i, std::string_view where) {
  return Cat("{\"op\": \"add\", \"block\": ", Block(Cat("f", i), "Negate", {{"x", Cat("c", i, ".output")}}), ", \"layout\": [", i, ", 2]", where, "}");
}

std::vector<Call> Calls() {
  return {{"add", 1, [](int i, int) { return Added(i, ""); }},
          {"add to the front", 1, [](int i, int) { return Added(i, ", \"place\": 0"); }},
          {"remove what others read", 2, [](int i, int) { return Cat("{\"op\": \"remove\", \"block\": \"c", 2 * i, "\"}"); }},
          {"remove, the last first", 1, [](int i, int n) { return Cat("{\"op\": \"remove\", \"block\": \"y", n - 1 - i, "\"}"); }},
          {"connect", 1, [](int i, int n) { return Connect(Cat("c", n - 1 - i, ".output"), Cat("y", i, ".x")); }},
          {"connect to a list", 1, [](int i, int) { return Connect(Cat("y", i, ".y"), "sum.inputs[0]"); }},
          {"disconnect from a list", 2, [](int, int n) { return Cat("{\"op\": \"disconnect\", \"to\": \"sum.inputs[", n / 4, "]\"}"); }},
          {"set in a list", 1, [](int i, int) { return Cat("{\"op\": \"set\", \"input\": \"sum.inputs[", i, "]\", \"value\": \"y", i, ".y\"}"); }},
          {"move", 1, [](int i, int) { return Cat("{\"op\": \"move\", \"block\": \"y", i, "\", \"layout\": [", i, ", 7]}"); }},
          {"move away", 2, [](int i, int) { return Cat("{\"op\": \"move\", \"block\": \"y", 2 * i, "\", \"layout\": null}"); }},
          {"rename", 1, [](int i, int) { return Rename(Cat("c", i), Cat("d", i)); }},
          {"set an attribute", 1, [](int i, int) { return Cat("{\"op\": \"set\", \"block\": \"y", i, "\", \"attr\": \"T\", \"value\": \"DT_FLOAT\"}"); }},
          {"set a key", 1, [](int i, int) { return Cat("{\"op\": \"set\", \"block\": \"y", i, "\", \"key\": \"note\", \"value\": ", i, "}"); }}};
}

class Measure {
 public:
  Measure(const std::shared_ptr<Runtime>& runtime, int n, kit::LeastCosts& time) : runtime_(runtime), n_(n), time_(time) {}

  void Run(const std::vector<std::string>& more, const std::vector<Call>& calls) {
    const auto document = Document::Open(runtime_, PageFor(n_, more));
    document->diagnostics();
    const std::string before = document->Write();
    for (const Call& call : calls) {
      INFO(call.name);
      const std::string edits = Cat("[", Listed(n_ / call.per_edit, [&](int i) { return call.edit(i, n_); }), "]");
      time_(call.name, [&] {
        Diagnostics found;
        const Status status = document->Apply(edits, EditMode::kApply, found).status();
        INFO(ToString(status));
        REQUIRE(status.ok());
      });
      time_(Cat(call.name, ", undone"), [&] { REQUIRE(document->Undo().ok()); });
      CHECK(document->Write() == before);
    }
  }

 private:
  const std::shared_ptr<Runtime>& runtime_;
  const int n_;
  kit::LeastCosts& time_;
};

void MeasureAll(const std::shared_ptr<Runtime>& runtime, int n, kit::LeastCosts& time) {
  Measure measure(runtime, n, time);
  measure.Run({}, Calls());
  measure.Run({Lost(n)}, {{"rename to what wires name", 1, [](int i, int) { return Rename(Cat("y", i), Cat("m", i)); }}});
  const char* const name = "one block that a list has many times";
  measure.Run({Repeating(n)}, {{name, n, [](int, int) { return "{\"op\": \"remove\", \"block\": \"c0\"}"; }}});
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("twice as many edits in one call take no more than 2.5 times the time", "[growth][edit]") {
  constexpr int kMostBlocks = 16000;
  const kit::KeptMemory memory;
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
  const kit::Comparison by = kit::Compare(3, 2);
  const std::vector<std::string> too_much = kit::CostsTooMuch(
      by, [&](kit::LeastCosts& time) { MeasureAll(runtime, kMostBlocks >> by.doublings, time); },
      [&](kit::LeastCosts& time) { MeasureAll(runtime, kMostBlocks, time); });
  for (const std::string& fault : too_much) FAIL_CHECK(fault);
}
#endif

}  // namespace weft::test
