// Edits: of a page without faults, of one with many, and of an open document. What is made is taken back, and every byte is as it was.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/host/document.h"
#include "weft/page/edit.h"
#include "weft/page/writer.h"

namespace weft::fuzz {
namespace {

constexpr std::string_view kGood = R"({
  "weft": 1,
  "page": "p",
  "blocks": [
    {"id": "a", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2.5], "note": "kept"}}},
    {"id": "v", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [2], "values": [0, 0]}}, "color": "red"},
    {"id": "sum", "block": "AddN", "inputs": {"inputs": ["a.output", "v.ref", "a.output"]}},
    {"id": "cast", "block": "Cast", "attrs": {"DstT": "DT_INT32", "Truncate": false}, "inputs": {"x": "sum.sum"}},
    {"id": "mul", "block": "Multiply", "attrs": "T_ = DT_FLOAT;", "inputs": {"x": "a.output", "y": "sum.sum"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["mul.z", "cast.y"]}}
  ],
  "layout": {"a": [40, 80], "gone": [1, 2], "mul": [0.5, -3]},
  "author": "someone"
}
)";
constexpr std::string_view kFaulty = R"({
  "weft": 1,
  "page": "p",
  "blocks": [
    {"id": "a b", "block": "NoOp"},
    {"id": "a", "block": "Const", "inputs": {"x.y": "mul.z", "value": 3}},
    {"id": "a", "block": "", "attrs": {"k": {"x": 1}}},
    {"id": "mul", "block": "Multiply", "attrs": "T_ = {;", "inputs": {"x": ["a b.output", 7], "y": "nowhere.z"}}
  ],
  "layout": {"a": 1}
}
)";

Page Read(std::string_view text) { return ReadPage(text, {.name = "p", .read_file = {}}).page; }

/// Makes the edits and takes them back. Where they are refused, the page is as it was.
void MakeAndTakeBack(std::string_view text, const std::vector<Edit>& edits, bool good) {
  Page page = Read(text);
  const std::string before = WritePage(page);
  auto undo = ApplyEdits(page, edits);
  if (!undo.ok()) {
    CheckStatus(undo.status());
    Require(WritePage(page) == before, "an edit that was refused has changed the page: ", WritePage(page));
    return;
  }
  const std::string after = WritePage(page);
  const ReadPageResult read = ReadPage(after, {.name = "p", .read_file = {}});
  if (good) {
    Require(!read.diagnostics.has_errors(), "the edited page is refused: ", ToString(read.diagnostics.FirstError()), "\n", after);
    Require(WritePage(read.page) == after, "the edited page is written otherwise when it was read: ", after, "\nand ", WritePage(read.page));
  }
  const auto redo = ApplyEdits(page, *undo);
  // Of a faulty page, what comes back one edit at a time may be refused: a second block of an id.
  if (!redo.ok() && !good) return CheckStatus(redo.status());
  Require(redo.ok(), "the edits cannot be taken back: ", ToString(redo.status()));
  Require(WritePage(page) == before, "taken back, the page is ", WritePage(page));
}

void EditDocument(const std::vector<Edit>& edits) {
  // A document owns its runtime; this one has no end.
  static const std::shared_ptr<Runtime> runtime(&SharedRuntime(), [](Runtime*) {});
  const auto document = Document::Open(runtime, kGood, {.name = "p"});
  const std::string before = document->Write();
  for (const EditMode mode : {EditMode::kTry, EditMode::kOpenInputs, EditMode::kApply}) {
    Diagnostics found;
    const auto made = document->Apply(edits, mode, found);
    CheckFindings(found);
    if (!made.ok()) {
      CheckStatus(made.status());
      Require(document->Write() == before, "an edit that was refused has changed the document");
      continue;
    }
    if (mode == EditMode::kTry) continue;
    CheckFindings(document->diagnostics());
    const auto undone = document->Undo();
    Require(undone.ok(), "the edits cannot be undone: ", ToString(undone.status()));
    Require(document->Write() == before, "undone, the document is ", document->Write());
  }
}

/// One field of an edit; fields are lines.
std::string Field(std::string_view& bytes) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  std::string field(bytes.substr(0, end));
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return field;
}

int64_t Number(const std::string& field) { return static_cast<int64_t>(SeedOf(field) % 8) - 2; }

InputItem ItemOf(std::string_view& bytes) {
  const std::string kind = Field(bytes);
  if (kind == "wire") {
    std::string block = Field(bytes), port = Field(bytes);
    return Wire{std::move(block), std::move(port), static_cast<int>(Number(Field(bytes)))};
  }
  Literal literal;
  literal.extra = Field(bytes);
  literal.text = Field(bytes);
  literal.form = kind == "text" ? Literal::Form::kText : Literal::Form::kValues;
  if (kind == "value") {
    literal.tensor = Tensor::Allocate(DType::kFloat, Shape{}).value();
    literal.tensor.values<float>()[0] = 1;
    literal.dtype = DType::kFloat;
    literal.shape = Shape{};
  }
  return literal;
}

Wire WireFrom(std::string_view& bytes) {
  std::string block = Field(bytes), port = Field(bytes);
  return Wire{std::move(block), std::move(port), static_cast<int>(Number(Field(bytes)))};
}

Edit EditFrom(std::string_view& bytes) {
  const std::string op = Field(bytes);
  if (op == "add") {
    AddBlock edit;
    PageBlock& block = edit.block;
    for (std::string* field : {&block.id, &block.type, &block.attrs, &block.attrs_object, &block.extra}) *field = Field(bytes);
    block.has_attrs = !(block.attrs.empty() && block.attrs_object.empty());
    const std::string port = Field(bytes);
    if (!port.empty()) block.inputs.push_back({port, false, {ItemOf(bytes)}});
    edit.place = Number(Field(bytes));
    return edit;
  }
  if (op == "remove") return RemoveBlock{Field(bytes), false, false};
  if (op == "connect") {
    InputItem item = ItemOf(bytes);
    return Connect{std::move(item), WireFrom(bytes)};
  }
  if (op == "disconnect") return Disconnect{WireFrom(bytes)};
  if (op == "input") {
    Wire to = WireFrom(bytes);
    PageInput value{"", false, {ItemOf(bytes)}};
    return SetInput{std::move(to), std::move(value), -1};
  }
  SetAttr attr;
  if (op == "attr") {
    for (std::string* field : {&attr.block, &attr.attr, &attr.json, &attr.text}) *field = Field(bytes);
    return attr;
  }
  if (op == "attrs") {
    SetAttrs edit;
    for (std::string* field : {&edit.block, &edit.attrs, &edit.attrs_object}) *field = Field(bytes);
    edit.has_attrs = !(edit.attrs.empty() && edit.attrs_object.empty());
    return edit;
  }
  if (op == "rename") {
    std::string block = Field(bytes);
    return RenameBlock{std::move(block), Field(bytes)};
  }
  if (op == "move") return MoveBlock{Field(bytes), LayoutEntry{"", 1, 2}, Number(Field(bytes))};
  SetKey key;
  for (std::string* field : {&key.block, &key.key, &key.json}) *field = Field(bytes);
  return key;
}

}  // namespace

void JsonEdits(std::string_view bytes) {
  const auto edits = ReadEdits(bytes);
  if (!edits.ok()) return CheckStatus(edits.status());
  const std::string written = WriteEdits(*edits);
  const auto again = ReadEdits(written);
  Require(again.ok(), "edits that were written are refused: ", ToString(again.status()), "\n", written);
  Require(WriteEdits(*again) == written, "edits are written as ", written, "and then as ", WriteEdits(*again));
  MakeAndTakeBack(kGood, *edits, true);
  MakeAndTakeBack(kFaulty, *edits, false);
  EditDocument(*edits);
}

void PlainEdits(std::string_view bytes) {
  std::vector<Edit> edits;
  while (!bytes.empty() && edits.size() < 8) edits.push_back(EditFrom(bytes));
  (void)WriteEdits(edits);
  MakeAndTakeBack(kGood, edits, true);
  MakeAndTakeBack(kFaulty, edits, false);
}

}  // namespace weft::fuzz
