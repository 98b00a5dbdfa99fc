// A placed drawing as SVG: plain shapes and real text.
#include "weft/host/drawing_svg.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "runtime/base/call_limit.h"
#include "weft/base/text.h"

namespace weft {
namespace {

struct Tint {
  const char *fill, *line;
};

Tint TintOf(std::string_view category) {
  static constexpr std::pair<std::string_view, Tint> kTints[] = {
      {"array_ops", {"#d7f0ee", "#0f8b82"}},        {"control_flow_ops", {"#fbe3ef", "#c0337c"}}, {"core", {"#e6eaf0", "#5b6b80"}},
      {"data_flow_ops", {"#fde6d5", "#c9601a"}},    {"io_ops", {"#efe6dc", "#8a5a2b"}},           {"math", {"#dbe8fc", "#2f66c8"}},
      {"nn", {"#e8e0fb", "#6d44c4"}},               {"parsing_op", {"#efe6dc", "#8a5a2b"}},       {"random", {"#dff3dd", "#3a8a32"}},
      {"sparse_ops", {"#d7f0ee", "#0f8b82"}},       {"state", {"#fdf0c8", "#b07d06"}},            {"training", {"#fadfdf", "#c23b3b"}}};
  for (const auto& [name, tint] : kTints) {
    if (name == category) return tint;
  }
  return {"#e6eaf0", "#5b6b80"};
}

/// Text as XML holds it; what XML cannot hold, and bytes that are not UTF-8, become U+FFFD.
std::string Escaped(std::string_view text) {
  constexpr const char* kReplacement = "\xEF\xBF\xBD";
  bool valid = IsValidUtf8(text);
  std::string out;
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (u < 0x20 || u == 0x7F || (u >= 0x80 && !valid)) out += kReplacement;
    else out += c;
  }
  // U+FFFE and U+FFFF are the only other characters that XML refuses.
  for (const char* refused : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (size_t at; (at = out.find(refused)) != std::string::npos;) out.replace(at, 3, kReplacement);
  }
  return out;
}

std::string Num(double value) {
  double rounded = std::round(value * 10) / 10;
  return Cat(rounded == 0 ? 0.0 : rounded);
}

/// Where a wire that runs back does so: between its boxes where one is above the other, else below both.
double LevelOfBackWire(const DrawnBox& from, const DrawnBox& to) {
  double from_end = from.y + from.height, to_end = to.y + to.height;
  if (to.y - from_end > 24) return (from_end + to.y) / 2;
  if (from.y - to_end > 24) return (to_end + from.y) / 2;
  return std::max(from_end, to_end) + 14;
}

class SvgWriter {
 public:
  explicit SvgWriter(const Drawing& drawing) : drawing_(drawing) {}
  std::string Write();

 private:
  template <class... Parts>
  void Line(const Parts&... parts) {
    out_ += Cat(parts..., "\n");
  }
  void Text(double x, double y, const char* kind, std::string_view text) {
    if (!text.empty()) Line("<text class=\"", kind, "\" x=\"", Num(x), "\" y=\"", Num(y), "\">", Escaped(text), "</text>");
  }
  void Head();
  void WirePath(const DrawnWire& wire);
  void Box(const DrawnBox& box);
  void Ports(const DrawnBox& box);

  const Drawing& drawing_;
  std::string out_;
};

void SvgWriter::Head() {
  std::string w = Num(drawing_.width), h = Num(drawing_.height);
  Line("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", w, "\" height=\"", h, "\" viewBox=\"0 0 ", w, " ", h, "\">");
  Line("<title>", Escaped(drawing_.title), "</title>");
  Line("<style>");
  Line("text{font-family:Inter,\"Segoe UI\",\"DejaVu Sans\",Helvetica,Arial,sans-serif;fill:#28313d}");
  Line(".title{font-size:17px;font-weight:600}.count,.value,.literal,.note{font-size:", kSmallFont, "px;fill:#6b7685}");
  Line(".id{font-size:", kIdFont, "px;font-weight:600}.type{font-size:", kTypeFont, "px;fill:#55606e}.port{font-size:", kPortFont, "px}");
  Line(".out,.value-in{text-anchor:end}.literal{fill:#0f6b63}.wrong{fill:#c02626}.light{fill:#ffffff}.pale{fill:#b9c6d6}");
  Line(".value{paint-order:stroke;stroke:#fbfcfe;stroke-width:3px}.wire{fill:none;stroke-width:1.6;stroke-opacity:.8}");
  Line("</style>");
  Line("<rect width=\"100%\" height=\"100%\" fill=\"#fbfcfe\"/>");
  Text(kMargin, kMargin + 12, "title", drawing_.title);
  size_t count = drawing_.boxes.size();
  Text(kMargin + TextWidth(drawing_.title, 17) * 1.08 + 14, kMargin + 12, "count", Cat(count, count == 1 ? " block" : " blocks"));
}

void SvgWriter::WirePath(const DrawnWire& wire) {
  std::string d;
  double pen = wire.path[0].x;
  for (size_t i = 0; i < wire.path.size(); ++i) {
    const DrawnPoint& p = wire.path[i];
    if (i == 0) {
      d = Cat("M", Num(p.x), " ", Num(p.y));
      continue;
    }
    const DrawnPoint& last = wire.path[i - 1];
    if (std::abs(last.y - p.y) < 0.05 && p.x >= last.x) {
      // Runs of level pieces are one line.
      bool goes_on = i + 1 < wire.path.size() && std::abs(wire.path[i + 1].y - p.y) < 0.05 && wire.path[i + 1].x >= p.x;
      if (!goes_on && p.x > pen) d += Cat("H", Num(pen = p.x));
      continue;
    }
    pen = p.x;
    if (p.x < last.x) {
      double below = LevelOfBackWire(drawing_.boxes[wire.from], drawing_.boxes[wire.to]), middle = (last.x + p.x) / 2;
      d += Cat("C", Num(last.x + 46), " ", Num(last.y), " ", Num(last.x + 46), " ", Num(below), " ", Num(last.x - 10), " ", Num(below));
      d += Cat("H", Num(std::min(std::max(middle, p.x + 10), last.x - 10)), "H", Num(p.x + 10));
      d += Cat("C", Num(p.x - 46), " ", Num(below), " ", Num(p.x - 46), " ", Num(p.y), " ", Num(p.x), " ", Num(p.y));
      continue;
    }
    double bend = std::max(16.0, (p.x - last.x) / 2);
    d += Cat("C", Num(last.x + bend), " ", Num(last.y), " ", Num(p.x - bend), " ", Num(p.y), " ", Num(p.x), " ", Num(p.y));
  }
  const char* dash = wire.kind == DrawnWire::Kind::kOperation ? " stroke-dasharray=\"5 4\"" : wire.kind == DrawnWire::Kind::kFeed ? " stroke-dasharray=\"2 3\"" : "";
  const char* color = wire.kind == DrawnWire::Kind::kOperation ? "#8894a3" : TintOf(drawing_.boxes[wire.from].category).line;
  Line("<path class=\"wire\" stroke=\"", color, "\"", dash, " d=\"", d, "\"/>");
}

void SvgWriter::Ports(const DrawnBox& box) {
  Tint tint = TintOf(box.category);
  bool dark = box.style == DrawnBox::Style::kSession;
  auto dot = [&](double x, double y, bool filled) {
    Line("<circle cx=\"", Num(x), "\" cy=\"", Num(y), "\" r=\"3.6\" fill=\"", filled ? (dark ? "#8fb7ff" : tint.line) : "#ffffff", "\" stroke=\"",
         dark ? "#2b3648" : tint.line, "\" stroke-width=\"1.2\"/>");
  };
  for (const DrawnPort& port : box.inputs) {
    double y = box.y + port.y;
    if (port.wired || port.value.empty()) dot(box.x, y, port.wired);
    Text(box.x + 10, y + 4, port.unknown ? "port wrong" : dark ? "port light" : "port", port.label);
    Text(box.x + 18 + TextWidth(port.label, kPortFont), y + 4, port.unknown ? "literal wrong" : "literal", port.value);
  }
  for (const DrawnPort& port : box.outputs) {
    double y = box.y + port.y;
    dot(box.x + box.width, y, port.wired);
    Text(box.x + box.width - 10, y + 4, port.unknown ? "port out wrong" : dark ? "port out light" : "port out", port.label);
    Text(box.x + box.width + 7, y - 4, "value", port.value);
  }
}

void SvgWriter::Box(const DrawnBox& box) {
  using Style = DrawnBox::Style;
  Tint tint = TintOf(box.category);
  std::string x = Num(box.x), y = Num(box.y), w = Num(box.width), h = Num(box.height);
  Line("<g>");
  Line("<title>", Escaped(box.id), " (", Escaped(box.type), ")</title>");
  const char* body = box.style == Style::kSession ? "#2b3648" : box.style == Style::kVariable ? "#fffaf0" : box.style == Style::kUnknown ? "#fff1f1" : "#ffffff";
  const char* line = box.style == Style::kSession ? "#161d29" : box.style == Style::kUnknown ? "#c02626" : tint.line;
  const char* head = box.style == Style::kSession ? "#161d29" : box.style == Style::kUnknown ? "#fadada" : tint.fill;
  double radius = box.style == Style::kSession ? 11 : box.style == Style::kVariable ? 3 : 7;
  std::string r = Num(radius), right = Num(box.x + box.width - radius);
  // The shape of a variable's box is doubled: it keeps its value from run to run.
  if (box.style == Style::kVariable) {
    Line("<rect x=\"", Num(box.x + 4), "\" y=\"", Num(box.y + 4), "\" width=\"", w, "\" height=\"", h, "\" rx=\"3\" fill=\"#f4d98b\" stroke=\"", line,
         "\" stroke-width=\"1\"/>");
  }
  Line("<rect class=\"box\" x=\"", x, "\" y=\"", y, "\" width=\"", w, "\" height=\"", h, "\" rx=\"", r, "\" fill=\"", body, "\"/>");
  Line("<path d=\"M", x, " ", Num(box.y + kHeader), "V", Num(box.y + radius), "Q", x, " ", y, " ", Num(box.x + radius), " ", y, "H", right, "Q",
       Num(box.x + box.width), " ", y, " ", Num(box.x + box.width), " ", Num(box.y + radius), "V", Num(box.y + kHeader), "Z\" fill=\"", head, "\"/>");
  Line("<rect x=\"", x, "\" y=\"", y, "\" width=\"", w, "\" height=\"", h, "\" rx=\"", r, "\" fill=\"none\" stroke=\"", line, "\" stroke-width=\"",
       box.style == Style::kVariable ? "1.6" : "1.2", "\"", box.style == Style::kUnknown ? " stroke-dasharray=\"4 3\"" : "", "/>");
  bool dark = box.style == Style::kSession;
  Text(box.x + 11, box.y + 17, dark ? "id light" : "id", box.id);
  Text(box.x + 11, box.y + 32, dark ? "type pale" : box.style == Style::kUnknown ? "type wrong" : "type", box.style == Style::kUnknown ? Cat(box.type, " ?") : box.type);
  Ports(box);
  for (size_t n = 0; n < box.notes.size(); ++n) {
    double below = box.y + box.height - kFoot - kNoteRow * static_cast<double>(box.notes.size() - 1 - n);
    Text(box.x + 11, below, dark ? "note pale" : "note", box.notes[n]);
  }
  Line("</g>");
}

std::string SvgWriter::Write() {
  out_.reserve(1200 * drawing_.boxes.size() + 4096);
  Head();
  for (const DrawnWire& wire : drawing_.wires) {
    CallLimit::Check();
    WirePath(wire);
  }
  for (const DrawnBox& box : drawing_.boxes) {
    CallLimit::Check();
    Box(box);
  }
  Line("</svg>");
  return std::move(out_);
}

}  // namespace

std::string WriteSvg(const Drawing& drawing) { return SvgWriter(drawing).Write(); }

}  // namespace weft
