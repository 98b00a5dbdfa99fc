// From a page to boxes and wires.
#include "weft/host/layout.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/call_limit.h"
#include "weft/base/text.h"

namespace weft {
namespace {

constexpr size_t kLongestText = 22, kMostNotes = 4, kMostPorts = 200;

/// Cut after some characters, never inside one, with spaces and line breaks as single spaces.
std::string Shorten(std::string_view text, size_t longest) {
  std::string out;
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    bool continues = (c & 0xC0) == 0x80;
    if (!continues && ++characters > longest) return out + "\xE2\x80\xA6";
    bool space = c <= ' ';
    if (space && (out.empty() || out.back() == ' ')) continue;
    out += space ? ' ' : text[i];
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string LiteralText(const Literal& literal) {
  if (literal.form == Literal::Form::kText || literal.form == Literal::Form::kUnread) return Shorten(literal.text, kLongestText);
  if (literal.form == Literal::Form::kFile) return Shorten(literal.file, kLongestText);
  if (!literal.tensor.defined()) return "";
  if (literal.tensor.count() > 64) return Cat(ToString(literal.tensor.shape()), " values");
  // "DT_FLOAT [2] {1,2}": the type and shape stand at the output, the values say enough here.
  std::string text = ToString(literal.tensor);
  std::string head = Cat(literal.tensor.dtype(), " ", literal.tensor.shape(), " ");
  return Shorten(text.starts_with(head) ? std::string_view(text).substr(head.size()) : text, kLongestText);
}

class DrawingMaker {
 public:
  DrawingMaker(const Page& page, const Registry& registry, const ValueTexts& values) : page_(page), registry_(registry), values_(values) {}

  Drawing Make();

 private:
  void AddBox(const PageBlock& block);
  void AddInputs(const PageBlock& block, DrawnBox& box);
  void AddNotes(const PageBlock& block, DrawnBox& box) const;
  void AddWires(int to);
  int OutputOf(int box, const Wire& wire);
  int AddOutput(int box, std::string label);
  DrawnWire::Kind KindOf(int from, const Wire& wire, int to, std::string_view port) const;
  void Measure(DrawnBox& box) const;

  const Page& page_;
  const Registry& registry_;
  const ValueTexts& values_;
  Drawing drawing_;
  std::vector<const BlockDef*> defs_;
  std::unordered_map<std::string_view, int> by_id_;
  std::vector<std::unordered_map<std::string, int>> outputs_;  // by box: label -> index
  struct Item {
    const PageInput* input;
    size_t item;
    int port;
  };
  std::vector<std::vector<Item>> wired_;  // by box: items that are wires
};

Drawing DrawingMaker::Make() {
  drawing_.title = page_.name;
  size_t count = page_.blocks.size();
  outputs_.resize(count);
  wired_.resize(count);
  for (const PageBlock& block : page_.blocks) {
    CallLimit::Check();
    AddBox(block);
  }
  for (size_t i = 0; i < count; ++i) {
    CallLimit::Check();
    AddWires(static_cast<int>(i));
  }
  for (size_t i = 0; i < count; ++i) {
    // Outputs that nobody reads are shown, too; of a list, only the wired elements.
    const BlockDef* def = defs_[i];
    for (size_t p = 0; def != nullptr && p < def->outputs.size(); ++p) {
      const PortSpec& port = def->outputs[p];
      bool list = port.list != PortList::kSingle;
      bool shown = std::any_of(drawing_.boxes[i].outputs.begin(), drawing_.boxes[i].outputs.end(), [&](const DrawnPort& o) {
        return o.label == port.name || (list && o.label.starts_with(port.name + "["));
      });
      if (!shown) AddOutput(static_cast<int>(i), port.name);
    }
    Measure(drawing_.boxes[i]);
  }
  return std::move(drawing_);
}

void DrawingMaker::AddBox(const PageBlock& block) {
  const BlockDef* def = registry_.Find(block.type);
  DrawnBox box;
  box.id = Shorten(block.id, 40);
  box.type = Shorten(block.type, 40);
  box.category = def == nullptr ? "" : def->category;
  if (def == nullptr) box.style = DrawnBox::Style::kUnknown;
  else if (def->structural == Structural::kSession) box.style = DrawnBox::Style::kSession;
  else if (def->structural == Structural::kVariable) box.style = DrawnBox::Style::kVariable;
  by_id_.emplace(block.id, static_cast<int>(drawing_.boxes.size()));
  defs_.push_back(def);
  drawing_.boxes.push_back(std::move(box));
  AddInputs(block, drawing_.boxes.back());
  AddNotes(block, drawing_.boxes.back());
}

void DrawingMaker::AddInputs(const PageBlock& block, DrawnBox& box) {
  const BlockDef* def = defs_.back();
  std::vector<bool> given(def == nullptr ? 0 : def->inputs.size());
  for (const PageInput& input : block.inputs) {
    int port = def == nullptr ? -1 : def->FindInput(input.port);
    int attr = def == nullptr || port >= 0 ? -1 : def->FindAttr(input.port);
    if (port >= 0) given[port] = true;
    for (size_t k = 0; k < input.items.size() && box.inputs.size() < kMostPorts; ++k) {
      DrawnPort drawn;
      drawn.label = Shorten(port >= 0 ? def->inputs[port].name : input.port, 30);
      if (input.list && input.items.size() > 1) drawn.label += Cat("[", k, "]");
      drawn.unknown = port < 0 && attr < 0 && def != nullptr;
      if (const Literal* literal = LiteralOf(input.items[k])) {
        drawn.value = LiteralText(*literal);
      } else {
        drawn.wired = true;
        wired_[drawing_.boxes.size() - 1].push_back({&input, k, static_cast<int>(box.inputs.size())});
      }
      box.inputs.push_back(std::move(drawn));
    }
  }
  for (size_t p = 0; p < given.size(); ++p) {
    if (given[p] || def->inputs[p].optional || def->structural == Structural::kVariable) continue;
    DrawnPort missing;
    missing.label = def->inputs[p].name;
    box.inputs.push_back(std::move(missing));
  }
}

void DrawingMaker::AddNotes(const PageBlock& block, DrawnBox& box) const {
  std::string_view rest = block.attrs;
  while (!rest.empty()) {
    size_t end = 0;
    bool quoted = false;
    for (; end < rest.size() && (quoted || rest[end] != ';'); ++end) {
      if (quoted && rest[end] == '\\') ++end;
      else if (rest[end] == '"') quoted = !quoted;
    }
    end = std::min(end, rest.size());
    std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    size_t equals = pair.find('=');
    std::string name = Shorten(pair.substr(0, equals), 24);
    if (name.empty()) continue;
    if (name.back() == '_') name.pop_back();
    if (box.notes.size() == kMostNotes) {
      box.notes.back() = "\xE2\x80\xA6";
      return;
    }
    box.notes.push_back(equals == std::string_view::npos ? name : Cat(name, " = ", Shorten(pair.substr(equals + 1), kLongestText)));
  }
}

int DrawingMaker::AddOutput(int box, std::string label) {
  const BlockDef* def = defs_[box];
  DrawnPort drawn;
  std::string_view port = std::string_view(label).substr(0, label.find('['));
  drawn.unknown = def != nullptr && def->FindOutput(port) < 0;
  if (auto it = values_.find(Cat(page_.blocks[box].id, ".", label)); it != values_.end()) {
    drawn.value = it->second;
  } else if (def != nullptr && !drawn.unknown) {
    PortKind kind = def->outputs[def->FindOutput(port)].kind;
    if (kind == PortKind::kTensor || kind == PortKind::kReference) drawn.value = "[?]";
  }
  drawn.label = label;
  auto& outputs = drawing_.boxes[box].outputs;
  outputs_[box].emplace(std::move(label), static_cast<int>(outputs.size()));
  outputs.push_back(std::move(drawn));
  return static_cast<int>(outputs.size()) - 1;
}

/// The drawn output that a wire starts at; -1: the block as an operation.
int DrawingMaker::OutputOf(int box, const Wire& wire) {
  const BlockDef* def = defs_[box];
  int port = def == nullptr ? -1 : def->FindOutput(wire.port);
  if (port < 0 && (wire.port == "operation" || (def != nullptr && def->FindInput(wire.port) >= 0))) return -1;
  std::string label = port >= 0 ? def->outputs[port].name : Shorten(wire.port, 30);
  if (wire.index >= 0) label += Cat("[", wire.index, "]");
  auto it = outputs_[box].find(label);
  if (it == outputs_[box].end()) return drawing_.boxes[box].outputs.size() < kMostPorts ? AddOutput(box, label) : -1;
  drawing_.boxes[box].outputs[it->second].wired = true;
  return it->second;
}

DrawnWire::Kind DrawingMaker::KindOf(int from, const Wire& wire, int to, std::string_view port) const {
  using Kind = DrawnWire::Kind;
  const BlockDef *producer = defs_[from], *consumer = defs_[to];
  int input = consumer == nullptr ? -1 : consumer->FindInput(port);
  PortKind wanted = input < 0 ? PortKind::kTensor : consumer->inputs[input].kind;
  if (wanted == PortKind::kOperation || wanted == PortKind::kStatus) return Kind::kOperation;
  if (wanted == PortKind::kFeed) return Kind::kFeed;
  int output = producer == nullptr ? -1 : producer->FindOutput(wire.port);
  if (wanted == PortKind::kReference) return Kind::kReference;
  return output < 0 && wire.port == "operation" ? Kind::kOperation : Kind::kValue;
}

void DrawingMaker::AddWires(int to) {
  for (const Item& item : wired_[to]) {
    const Wire& wire = *WireOf(item.input->items[item.item]);
    auto from = by_id_.find(wire.block);
    if (from == by_id_.end()) {
      drawing_.boxes[to].inputs[item.port].value = Cat("\xE2\x86\x90 ", Shorten(ToString(wire), kLongestText), "?");
      drawing_.boxes[to].inputs[item.port].unknown = true;
      continue;
    }
    DrawnWire drawn;
    drawn.from = from->second;
    drawn.kind = KindOf(drawn.from, wire, to, item.input->port);
    drawn.from_port = OutputOf(drawn.from, wire);
    if (drawn.from_port >= 0) drawing_.boxes[drawn.from].outputs[drawn.from_port].wired = true;
    drawn.to = to;
    drawn.to_port = item.port;
    drawing_.wires.push_back(std::move(drawn));
  }
}

void DrawingMaker::Measure(DrawnBox& box) const {
  double left = 0, right = 0, width = std::max(TextWidth(box.id, kIdFont) * 1.08, TextWidth(box.type, kTypeFont)) + 26;
  // Elements of lists in their order, ports in the block's.
  size_t rows = std::max(box.inputs.size(), box.outputs.size());
  for (size_t r = 0; r < box.inputs.size(); ++r) {
    DrawnPort& port = box.inputs[r];
    port.y = kHeader + kRow * (static_cast<double>(r) + 0.5) + 2;
    left = std::max(left, TextWidth(port.label, kPortFont) + (port.value.empty() ? 0 : 8 + TextWidth(port.value, kSmallFont)));
  }
  for (size_t r = 0; r < box.outputs.size(); ++r) {
    DrawnPort& port = box.outputs[r];
    port.y = kHeader + kRow * (static_cast<double>(r) + 0.5) + 2;
    right = std::max(right, TextWidth(port.label, kPortFont));
    box.value_width = std::max(box.value_width, port.value.empty() ? 0 : TextWidth(port.value, kSmallFont) + 14);
  }
  width = std::max(width, left + right + (left > 0 && right > 0 ? 44 : 26));
  for (const std::string& note : box.notes) width = std::max(width, TextWidth(note, kSmallFont) + 24);
  box.width = std::max(96.0, std::ceil(width));
  box.height = kHeader + kRow * static_cast<double>(rows) + kFoot;
  if (!box.notes.empty()) box.height += kNoteRow * static_cast<double>(box.notes.size()) + 2;
}

}  // namespace

double TextWidth(std::string_view text, double font_size) {
  double width = 0;
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    if ((u & 0xC0) == 0x80) continue;
    if (u >= 0xE3) width += 1.05;  // East Asian
    else if (std::string_view("ijl.,:;|!'()[]ftrI ").find(c) != std::string_view::npos) width += 0.38;
    else if (std::string_view("mwMW@%").find(c) != std::string_view::npos) width += 0.92;
    else if (c >= 'A' && c <= 'Z') width += 0.70;
    else if ((c >= '0' && c <= '9') || c == '{' || c == '}') width += 0.64;
    else width += 0.60;
  }
  return width * font_size;
}

Drawing MakeDrawing(const Page& page, const Registry& registry, const ValueTexts& values) {
  return DrawingMaker(page, registry, values).Make();
}

}  // namespace weft
