// Edits of a page: each with its inverse, each as JSON; a refused one changes nothing.
#include <array>

#include <catch2/catch.hpp>

#include "tests/runtime/page_test.h"
#include "weft/page/edit.h"
#include "weft/page/writer.h"

namespace weft {
namespace {

// Canonical, with all that edits must not lose: unknown keys, attribute objects, an empty "inputs", a leftover of the layout.
constexpr std::string_view kSamplePage = R"({
  "weft": 1,
  "page": "p",
  "blocks": [
    {"id": "a", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2.5], "note": "kept"}}},
    {"id": "b", "block": "Const", "attrs": "", "inputs": {"value": {"text": "1;2"}}, "color": "red", "depth": {"x": [1, 2]}},
    {"id": "sum", "block": "AddN", "inputs": {"inputs": ["a.output", "b.output", "a.output"]}},
    {"id": "pool", "block": "MaxPool", "attrs": {"ksize": [1, 2, 2, 1], "padding": "SAME", "strides": [1, 1, 1, 1]}, "inputs": {"input": "sum.sum"}},
    {"id": "mul", "block": "Multiply", "attrs": "T_ = DT_FLOAT; unknown_ = {1,2};", "inputs": {"x": "a.output", "y": "sum.sum"}},
    {"id": "bare", "block": "NoOp"},
    {"id": "loop", "block": "Identity", "inputs": {"input": "loop.output"}},
    {"id": "lost", "block": "Identity", "inputs": {"input": "nowhere.output"}},
    {"id": "op", "block": "Operation", "inputs": {"input": "mul.operation"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["mul.z", "a.output"], "run_outputs": ["op.output"]}}
  ],
  "layout": {"a": [40, 80], "gone": [1, 2], "mul": [0.5, -3]},
  "author": "someone"
}
)";

Page SamplePage() {
  ReadPageResult read = ReadText(kSamplePage);
  REQUIRE(read.diagnostics.errors() == 0);
  REQUIRE(WritePage(read.page) == kSamplePage);
  return std::move(read.page);
}

std::vector<Edit> Edits(std::string_view json) {
  auto edits = ReadEdits(json);
  INFO(json << "\n" << ToString(edits.status()));
  REQUIRE(edits.ok());
  return std::move(*edits);
}

// The line of a block in the written page.
std::string LineOf(const Page& page, std::string_view id) {
  const std::string text = WritePage(page);
  const size_t start = text.find(Cat("{\"id\": \"", id, "\""));
  if (start == text.npos) return "";
  std::string line = text.substr(start, text.find('\n', start) - start);
  if (line.ends_with(',')) line.pop_back();
  return line;
}

// Applies edits, takes them back, and does both again by way of JSON: bytes must be the same each time.
std::string AfterEdits(std::string_view json) {
  Page page = SamplePage();
  auto undo = ApplyEdits(page, Edits(json));
  INFO(json << "\n" << ToString(undo.status()));
  REQUIRE(undo.ok());
  const std::string after = WritePage(page);
  CHECK(ReadText(after).diagnostics.errors() == 0);
  Page whole = page;
  auto redo = ApplyEdits(page, *undo);
  INFO(WriteEdits(*undo));
  REQUIRE(redo.ok());
  CHECK(WritePage(page) == kSamplePage);
  REQUIRE(ApplyEdits(page, *redo).ok());
  CHECK(WritePage(page) == after);
  REQUIRE(ApplyEdits(whole, Edits(WriteEdits(*undo))).ok());
  CHECK(WritePage(whole) == kSamplePage);
  CHECK(WriteEdits(Edits(WriteEdits(*undo))) == WriteEdits(*undo));
  return after;
}

std::string BlockAfter(std::string_view json, std::string_view id) {
  ReadPageResult read = ReadText(AfterEdits(json));
  return LineOf(read.page, id);
}

}  // namespace

TEST_CASE("edits: a block is added at its place, and taken away with all that led to it", "[edit]") {
  const std::string added = AfterEdits(
      R"({"op": "add", "block": {"id": "new", "block": "Square", "inputs": {"x": "a.output"}, "tag": 7}, "place": 1, "layout": [3, 4.5]})");
  CHECK(added.find("\"note\": \"kept\"}}},\n    {\"id\": \"new\", \"block\": \"Square\", \"inputs\": {\"x\": \"a.output\"}, \"tag\": 7},") != added.npos);
  CHECK(added.find("\"mul\": [0.5, -3], \"new\": [3, 4.5]}") != added.npos);
  const std::string removed = AfterEdits(R"({"op": "remove", "block": "a"})");
  CHECK(removed.find("a.output") == removed.npos);
  CHECK(removed.find("\"inputs\": [\"b.output\"]") != removed.npos);
  CHECK(removed.find("\"inputs\": {\"y\": \"sum.sum\"}") != removed.npos);
  CHECK(removed.find("{\"gone\": [1, 2], \"mul\"") != removed.npos);
  // A block that others named before it was there leaves them as they were; one with a place on the drawing takes that.
  CHECK(BlockAfter(R"({"op": "add", "block": {"id": "nowhere", "block": "NoOp"}})", "lost").find("nowhere.output") != std::string::npos);
  CHECK(AfterEdits(R"({"op": "add", "block": {"id": "gone", "block": "NoOp"}, "layout": [9, 9]})").find("\"gone\": [9, 9]") != std::string::npos);
  AfterEdits(R"({"op": "add", "block": {"id": "gone", "block": "NoOp"}, "place": 0})");
  AfterEdits(R"({"op": "remove", "block": "loop"})");
  CHECK(BlockAfter(R"({"op": "remove", "block": "a", "keep_wires": true})", "mul").find("\"x\": \"a.output\"") != std::string::npos);
  CHECK(AfterEdits(R"({"op": "remove", "block": "a", "keep_layout": true})").find("\"a\": [40, 80]") != std::string::npos);
}

TEST_CASE("edits: wires to ports, to lists and to elements of lists", "[edit]") {
  CHECK(BlockAfter(R"({"op": "connect", "from": "b.output", "to": "mul.x"})", "mul").find("{\"x\": \"b.output\", \"y\": \"sum.sum\"}") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "connect", "from": "b.output", "to": "bare.input"})", "bare") ==
        R"({"id": "bare", "block": "NoOp", "inputs": {"input": "b.output"}})");
  CHECK(BlockAfter(R"({"op": "connect", "from": "b.output", "to": "sum.inputs"})", "sum").find("\"a.output\", \"b.output\"]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "connect", "from": "mul.z[1]", "to": "sum.inputs[1]"})", "sum").find("[\"a.output\", \"mul.z[1]\", \"b.output\",") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "connect", "from": "b.output", "to": "mul.x[1]"})", "mul").find("\"x\": [\"a.output\", \"b.output\"]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "connect", "from": "b.output", "to": "mul.x[0]"})", "mul").find("\"x\": [\"b.output\", \"a.output\"]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "connect", "value": {"text": "3"}, "to": "sum.inputs[0]"})", "sum").find("[{\"text\": \"3\"}, \"a.output\"") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "disconnect", "to": "mul.x"})", "mul").find("\"inputs\": {\"y\": \"sum.sum\"}") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "disconnect", "to": "sum.inputs[1]"})", "sum").find("[\"a.output\", \"a.output\"]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "disconnect", "to": "sum.inputs"})", "sum").find("\"inputs\": {}") != std::string::npos);
  AfterEdits(R"([{"op": "disconnect", "to": "run.fetch_outputs[0]"}, {"op": "disconnect", "to": "run.fetch_outputs[0]"},
                 {"op": "disconnect", "to": "run.fetch_outputs"}, {"op": "connect", "from": "a.output", "to": "run.fetch_outputs[0]"}])");
}

TEST_CASE("edits: literals, attributes in both spellings, and places on the drawing", "[edit]") {
  CHECK(BlockAfter(R"({"op": "set", "input": "a.value", "value": {"dtype": "DT_INT32", "shape": [], "values": [7]}})", "a").find("[7]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "set", "input": "mul.x", "value": ["a.output", {"text": "1"}]})", "mul").find("[\"a.output\", {\"text\": \"1\"}]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "set", "input": "sum.inputs[2]", "value": "mul.z"})", "sum").find("\"b.output\", \"mul.z\"]") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "set", "input": "mul.w", "value": "a.output", "place": 0})", "mul").find("{\"w\": \"a.output\", \"x\"") != std::string::npos);
  AfterEdits(R"({"op": "set", "input": "mul.x", "value": null})");

  auto mul = [](std::string_view edit) { return BlockAfter(Cat(R"({"op": "set", "block": "mul", )", edit, "}"), "mul"); };
  auto pool = [](std::string_view edit) { return BlockAfter(Cat(R"({"op": "set", "block": "pool", )", edit, "}"), "pool"); };
  CHECK(mul(R"("attr": "T", "value": "DT_HALF")").find("\"T_ = DT_HALF; unknown_ = {1,2};\"") != std::string::npos);
  CHECK(mul(R"("attr": "T_", "value": null)").find("\"unknown_ = {1,2};\"") != std::string::npos);
  CHECK(mul(R"("attr": "size", "value": [1, 2])").find("unknown_ = {1,2};size_ = {1,2};\"") != std::string::npos);
  CHECK(mul(R"("attr": "note", "value": "a; b")").find(R"(note_ = \"a; b\";)") != std::string::npos);
  CHECK(mul(R"("attr": "unknown", "text": "{3}")").find("unknown_ = {3};") != std::string::npos);
  CHECK(mul(R"("attrs": null)").find("attrs") == std::string::npos);
  CHECK(pool(R"("attr": "padding", "value": "VALID")").find(R"("padding": "VALID", "strides")") != std::string::npos);
  CHECK(pool(R"("attr": "padding", "value": null)").find(R"([1, 2, 2, 1], "strides")") != std::string::npos);
  CHECK(pool(R"("attr": "data_format", "value": "NHWC")").find(R"([1, 1, 1, 1], "data_format": "NHWC"})") != std::string::npos);
  CHECK(pool(R"("attr": "padding", "text": "VALID")").find("\"ksize_ = {1,2,2,1};padding_ = VALID;") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "set", "block": "bare", "attr": "k", "value": 0.5})", "bare").find("\"attrs\": \"k_ = 0.5;\"") != std::string::npos);

  CHECK(AfterEdits(R"({"op": "move", "block": "a", "layout": [1, 2]})").find("{\"a\": [1, 2], \"gone\"") != std::string::npos);
  CHECK(AfterEdits(R"({"op": "move", "block": "b", "layout": [1, 2], "place": 1})").find("\"b\": [1, 2], \"gone\"") != std::string::npos);
  CHECK(AfterEdits(R"({"op": "move", "block": "a", "layout": null})").find("{\"gone\"") != std::string::npos);
}

TEST_CASE("edits: a renamed block keeps its wires", "[edit]") {
  const std::string renamed = AfterEdits(R"({"op": "rename", "block": "a", "to": "x1"})");
  CHECK(renamed.find("\"a.output\"") == renamed.npos);
  CHECK(renamed.find("[\"x1.output\", \"b.output\", \"x1.output\"]") != renamed.npos);
  CHECK(renamed.find("\"fetch_outputs\": [\"mul.z\", \"x1.output\"]") != renamed.npos);
  CHECK(renamed.find("{\"x1\": [40, 80]") != renamed.npos);
  CHECK(BlockAfter(R"({"op": "rename", "block": "loop", "to": "again"})", "again").find("again.output") != std::string::npos);
  CHECK(BlockAfter(R"({"op": "rename", "block": "mul", "to": "m"})", "op").find("m.operation") != std::string::npos);
  // What led to nothing under the new name now leads to the block, and to nothing again when it is renamed back.
  AfterEdits(R"({"op": "rename", "block": "mul", "to": "nowhere"})");
  AfterEdits(R"({"op": "rename", "block": "lost", "to": "nowhere"})");
  AfterEdits(R"({"op": "rename", "block": "a", "to": "gone"})");
  AfterEdits(R"({"op": "rename", "block": "a", "to": "a"})");
}

TEST_CASE("edits: what is refused says why, and changes nothing", "[edit]") {
  struct Refused {
    std::string_view edit;
    Code code;
    std::string_view block, port, message, hint;
  };
  const std::vector<Refused> all = {
      {R"({"op": "remove", "block": "summ"})", Code::kNotFound, "summ", "", "there is no block 'summ'", "did you mean 'sum'?"},
      {R"({"op": "add", "block": {"id": "a", "block": "NoOp"}})", Code::kAlreadyExists, "a", "", "belongs to the block at /blocks/0", "take another"},
      {R"({"op": "add", "block": {"id": "a b", "block": "NoOp"}})", Code::kInvalidArgument, "a b", "", "needs the form [A-Za-z_][A-Za-z0-9_]*, found 'a b'", ""},
      {R"({"op": "add", "block": {"id": "n", "block": "NoOp"}, "place": 11})", Code::kOutOfRange, "n", "", "0 to 10, found 11", ""},
      {R"({"op": "rename", "block": "a", "to": "b"})", Code::kAlreadyExists, "b", "", "belongs to the block", ""},
      {R"({"op": "rename", "block": "a", "to": "1"})", Code::kInvalidArgument, "1", "", "found '1'", ""},
      {R"({"op": "connect", "from": "a.output", "to": "sum.inputs[4]"})", Code::kOutOfRange, "sum", "inputs", "has 3 elements, found 4", ""},
      {R"({"op": "connect", "from": "a.output", "to": "bare.x[1]"})", Code::kOutOfRange, "bare", "x", "has 0 elements, found 1", ""},
      {R"({"op": "disconnect", "to": "mul.z"})", Code::kNotFound, "mul", "z", "nothing is connected to the input 'z'", "did you mean"},
      {R"({"op": "disconnect", "to": "sum.inputs[3]"})", Code::kOutOfRange, "sum", "inputs", "below 3", ""},
      {R"({"op": "disconnect", "to": "mul.x[1]"})", Code::kOutOfRange, "mul", "x", "below 1", ""},
      {R"({"op": "set", "input": "sum.inputs[3]", "value": "a.output"})", Code::kOutOfRange, "sum", "inputs", "below 3", ""},
      {R"({"op": "set", "input": "sum.inputs[0]", "value": ["a.output"]})", Code::kInvalidArgument, "sum", "inputs", "found a list", ""},
      {R"({"op": "set", "input": "mul.q", "value": "a.output", "place": 3})", Code::kOutOfRange, "mul", "q", "0 to 2, found 3", ""},
      {R"({"op": "set", "block": "mul", "attr": "T", "text": "{1"})", Code::kInvalidArgument, "mul", "T", "that attribute text can hold", "double quotes"},
      {R"({"op": "set", "block": "mul", "attr": "T", "text": "a; b = 1"})", Code::kInvalidArgument, "mul", "T", "that attribute text can hold", ""},
      {R"({"op": "set", "block": "mul", "attr": "a b", "value": 1})", Code::kInvalidArgument, "mul", "a b", "needs the name of an attribute", ""},
      {R"({"op": "set", "block": "mul", "attr": "k", "value": null})", Code::kNotFound, "mul", "k", "has its default already", ""},
      {R"({"op": "set", "block": "pool", "attr": "k", "value": {"x": 1}})", Code::kInvalidArgument, "pool", "k", "found an object", ""},
      {R"({"op": "move", "block": "who", "layout": [1, 2]})", Code::kNotFound, "who", "", "there is no block 'who'", ""},
      {R"({"op": "move", "block": "b", "layout": [1, 2], "place": 5})", Code::kOutOfRange, "", "", "found 5", ""},
  };
  for (const Refused& refused : all) {
    INFO(refused.edit);
    Page page = SamplePage();
    // Edits before it in the list are taken back, too.
    const std::string list = Cat(R"([{"op": "remove", "block": "op"}, {"op": "move", "block": "a", "layout": [5, 5]}, )", refused.edit, "]");
    for (const std::string& json : {std::string(refused.edit), list}) {
      if (json == list && refused.message.find("0 to 10") != std::string_view::npos) continue;
      auto undo = ApplyEdits(page, Edits(json));
      REQUIRE(!undo.ok());
      const Status& status = undo.status();
      INFO(ToString(status));
      CHECK(status.code() == refused.code);
      CHECK(status.place().block == refused.block);
      CHECK(status.place().port == refused.port);
      CHECK(status.place().pointer == (json == list ? "/2" : "/0"));
      CHECK(status.message().find(refused.message) != std::string::npos);
      CHECK(status.hint().find(refused.hint) != std::string::npos);
      CHECK(WritePage(page) == kSamplePage);
    }
  }
  ReadPageResult odd = ReadText(R"({"weft": 1, "page": "p", "blocks": [{"id": "a", "block": "NoOp"}], "layout": {"a": 1}})");
  CHECK(ApplyEdits(odd.page, Edits(R"({"op": "move", "block": "a", "layout": [1, 2]})")).status().code() == Code::kFailedPrecondition);
  CHECK(ApplyEdits(odd.page, Edits(R"({"op": "remove", "block": "a"})")).ok());
}

TEST_CASE("edits: what a host makes without JSON is checked, too", "[edit]") {
  const auto refused = [](const Edit& edit, std::string_view message) {
    Page page = SamplePage();
    const Status status = ApplyEdits(page, {&edit, 1}).status();
    INFO(ToString(status));
    CHECK(status.code() == Code::kInvalidArgument);
    CHECK(status.message().find(message) != std::string::npos);
    CHECK(WritePage(page) == kSamplePage);
  };
  // Text that is no JSON object would end the page's own JSON.
  refused(SetAttrs{"pool", true, "", "{\"k\": 1}, \"id\": \"other\"", false}, "JSON");
  refused(SetAttrs{"pool", true, "", "[1]", false}, "needs an object");
  refused(SetAttrs{"pool", true, "", "{\"k\": {\"x\": 1}}", false}, "found an object");
  AddBlock added;
  added.block.id = "n";
  added.block.type = "NoOp";
  added.block.has_attrs = true;
  added.block.attrs_object = "{";
  refused(added, "JSON");
  added.block.attrs_object.clear();
  added.block.extra = "\"id\": \"other\"";
  refused(added, "cannot be among the others");
  added.block.extra = "\"note\": 1}, {";
  refused(added, "JSON");
  // No wire spells these ports.
  for (const char* port : {"a.b", "a[", "a]", "a b", "a[0]", ""}) {
    INFO(port);
    refused(Connect{Wire{"a", "output", -1}, {"mul", port, -1}}, "a port needs a name");
    refused(SetInput{{"mul", port, -1}, PageInput{"x", false, {Wire{"a", "output", -1}}}, -1}, "a port needs a name");
    added.block.extra.clear();
    added.block.inputs = {PageInput{port, false, {Wire{"a", "output", -1}}}};
    refused(added, "a port needs a name");
  }
  refused(Connect{Literal{}, {"mul", "x", -1}}, "needs a value");

  // What is no UTF-8 would be written as something else.
  refused(SetKey{"mul", "k\xff", "1", -1}, "UTF-8");
  refused(SetAttrs{"mul", true, "k_ = \xff;", "", false}, "UTF-8");
  refused(SetAttr{"mul", "T", "", "\xff"}, "UTF-8");
  refused(Connect{Wire{"a", "o\xff", -1}, {"mul", "x", -1}}, "UTF-8");
  refused(Connect{Wire{"a", "output", -1}, {"mul", "x\xff", -1}}, "UTF-8");

  // What is accepted is written in the canonical spelling.
  Page page = SamplePage();
  added.block.inputs.clear();
  added.block.extra = "\"note\":1 , \"b\":[1,2]";
  const std::vector<Edit> edits = {SetAttrs{"pool", true, "", "{ \"padding\":\"VALID\" }", false}, added};
  REQUIRE(ApplyEdits(page, edits).ok());
  CHECK(LineOf(page, "pool").find("\"attrs\": {\"padding\": \"VALID\"}") != std::string::npos);
  CHECK(page.blocks[3].attrs == "padding_ = VALID;");
  CHECK(LineOf(page, "n").ends_with("\"note\": 1, \"b\": [1, 2]}"));
  CHECK(WritePage(ReadText(WritePage(page)).page) == WritePage(page));
}

TEST_CASE("edits: what a faulty page has is taken away and comes back", "[edit]") {
  ReadPageResult read = ReadText(PageWith(
      "{\"id\": \"a b\", \"block\": \"NoOp\"}, {\"id\": \"n\", \"block\": \"\"}, {\"id\": \"p\", \"block\": \"Add\", \"attrs\": {\"k\": {\"x\": 1}}, "
      "\"inputs\": {\"x.y\": \"n.output\", \"z\": 3}}, {\"id\": \"n\", \"block\": \"NoOp\"}"));
  REQUIRE(read.diagnostics.errors() == 6);
  const std::string before = WritePage(read.page);
  for (const char* id : {"a b", "p"}) {
    INFO(id);
    const Edit remove = RemoveBlock{id};
    auto undo = ApplyEdits(read.page, {&remove, 1});
    REQUIRE(undo.ok());
    REQUIRE(ApplyEdits(read.page, *undo).ok());
    CHECK(WritePage(read.page) == before);
  }
  // A list of edits that fails is taken back, whatever the page had.
  const std::vector<Edit> edits = {RemoveBlock{"a b"}, RemoveBlock{"n"}, RemoveBlock{"p"}, RemoveBlock{"nowhere"}};
  CHECK(ApplyEdits(read.page, edits).status().code() == Code::kNotFound);
  CHECK(WritePage(read.page) == before);
}

TEST_CASE("edits: JSON that is no edit is refused with its place", "[edit]") {
  const std::vector<std::array<std::string_view, 3>> all = {
      {R"([{"op": "remove", "block": "a"}, {"op": "delete", "block": "a"}])", "/1/op", "there is no edit 'delete'"},
      {R"([{"op": "remove"}])", "/0", "needs the key \"block\""},
      {R"([{"op": "remove", "block": 3}])", "/0/block", "needs a string, found a number"},
      {R"([{"op": "remove", "block": "a", "keepwires": true}])", "/0/keepwires", "does not know"},
      {R"([{"op": "remove", "block": "a", "keep_wires": 1}])", "/0/keep_wires", "needs true or false"},
      {R"([{"op": "connect", "from": "a", "to": "b.x"}])", "/0/from", "is not a wire"},
      {R"([{"op": "connect", "from": "a.x", "value": "a.x", "to": "b.x"}])", "/0", "found both"},
      {R"([{"op": "connect", "value": ["a.x"], "to": "b.x"}])", "/0/value", "needs one wire or value"},
      {R"([{"op": "set", "input": "a.x", "value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1]}}])", "/0/value", "2"},
      {R"([{"op": "set", "block": "a", "attr": "k"}])", "/0", "either \"value\" or \"text\""},
      {R"([{"op": "set", "block": "a", "attrs": 1}])", "/0/attrs", "needs a string"},
      {R"([{"op": "set", "block": "a", "attrs": {"k": {}}}])", "/0/attrs", "found an object"},
      {R"([{"op": "add", "block": {"id": "a"}}])", "/0/block", "block"},
      {R"([{"op": "add", "block": {"id": "a", "block": "B", "inputs": {"x": 1}}}])", "/0/block/inputs/x", "needs a wire"},
      {R"([{"op": "add", "block": {"id": "a", "block": "B"}, "place": -1}])", "/0/place", "0 or more"},
      {R"([{"op": "move", "block": "a", "layout": [1]}])", "/0/layout", "needs [x, y]"},
      {R"([{"op": "move", "block": "a"}])", "/0", "needs the key \"layout\""},
      {R"([3])", "/0", "needs an object, found a number"},
      {R"("remove")", "", "needs an array"},
      {R"([{"op": "remove", "block": "a"})", "", ""},
      {R"({"op": "remove", "op": "add"})", "", ""},
      {"", "", ""},
  };
  for (const auto& [json, pointer, message] : all) {
    auto edits = ReadEdits(json);
    INFO(json << "\n" << ToString(edits.status()));
    REQUIRE(!edits.ok());
    if (!pointer.empty()) CHECK(edits.status().place().pointer.starts_with(pointer));
    CHECK(edits.status().message().find(message) != std::string::npos);
  }
  // A file beside the page is read as the page's reader reads it.
  ReadOptions options;
  options.read_file = [](const std::string&, int64_t, int64_t size) -> Result<std::string> { return std::string(static_cast<size_t>(size), '\0'); };
  auto edits = ReadEdits(R"({"op": "set", "input": "a.value", "value": {"dtype": "DT_INT32", "shape": [2], "file": "v.bin"}})", options);
  REQUIRE(edits.ok());
  CHECK(WriteEdits(*edits).find("\"file\": \"v.bin\"") != std::string::npos);
}

}  // namespace weft
