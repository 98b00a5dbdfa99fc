// A page as a drawing: boxes with ports, and wires. Made from the page, and placed by a layered layout or as the page says. Lengths are
// in pixels, y goes down.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "weft/page/page.h"
#include "weft/plan/graph.h"

namespace weft {

struct DrawnPoint {
  double x = 0, y = 0;
};

struct DrawnPort {
  std::string label;
  std::string value;   // inputs: the literal on the page, shortened; outputs: type and shape
  bool wired = false;
  bool unknown = false;  // the block type has no such port
  double y = 0;          // below the top of its box
};

struct DrawnBox {
  enum class Style : uint8_t { kPlain, kSession, kVariable, kUnknown };
  std::string id, type, category;
  Style style = Style::kPlain;
  std::vector<DrawnPort> inputs, outputs;
  std::vector<std::string> notes;  // attributes that the page gives
  double x = 0, y = 0, width = 0, height = 0;
  double value_width = 0;  // of the texts beside the outputs, right of the box
};

struct DrawnWire {
  enum class Kind : uint8_t { kValue, kReference, kOperation, kFeed };
  int from = -1, from_port = -1;  // a box and its output; port -1: the block as an operation
  int to = -1, to_port = -1;
  Kind kind = Kind::kValue;
  bool back = false;        // runs against the order of the layers
  std::vector<DrawnPoint> path;  // where it passes; the curve is horizontal at each point
};

struct Drawing {
  std::string title;
  std::vector<DrawnBox> boxes;
  std::vector<DrawnWire> wires;
  double width = 0, height = 0;
};

/// By "ID.port" or "ID.port[2]": type and shape ("float [4,2]").
using ValueTexts = std::unordered_map<std::string, std::string>;

/// Boxes of the right size, not yet placed, and the wires between them. Never fails: what the page has wrong is marked.
Drawing MakeDrawing(const Page& page, const Registry& registry, const ValueTexts& values);

/// Places boxes in columns from left to right, so that wires run forwards, cross rarely and pass between the boxes.
void LayOutInLayers(Drawing& drawing);
/// Places boxes where the page says; those it does not name go below.
void LayOutAsPage(Drawing& drawing, const Page& page);

/// Where LayOutInLayers places the page's blocks, in page order. Linear in the page's size but for a few sweeps over its layers.
std::vector<LayoutEntry> AutomaticLayout(const Page& page, const Registry& registry, const ValueTexts& values);

/// The width of a text, about: fonts differ.
double TextWidth(std::string_view text, double font_size);

// Sizes that the parts of a drawing agree on.
inline constexpr double kHeader = 40, kRow = 19, kNoteRow = 15, kFoot = 8, kIdFont = 13, kTypeFont = 11, kPortFont = 11, kSmallFont = 10;
inline constexpr double kMargin = 28;
/// Where a wire that stands for a whole block leaves it, below its top.
inline constexpr double kOperationY = kHeader / 2;

}  // namespace weft
