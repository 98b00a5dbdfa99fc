// Edits: small changes of a page, as plain data. Each can be taken back by others, and written as JSON: for undo, journals and patches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weft/page/page.h"
#include "weft/page/reader.h"

namespace weft {

/// A new block, whole. Wires that name it already are its own from then on.
struct AddBlock {
  PageBlock block;
  int64_t place = -1;  // index among the page's blocks; -1: the last
  std::optional<LayoutEntry> layout;  // its place on the drawing; the entry's id does not matter
};

/// With all wires that come from it and its layout, unless they are to stay.
struct RemoveBlock {
  std::string block;
  bool keep_wires = false;   // then they lead to nothing, which is an error where the page is checked
  bool keep_layout = false;
};

/// A wire or a literal to an input. A port that has one value gets this one instead; a list grows: before the element `to.index`, or at its
/// end. An index makes a list of a port that is none, or that has nothing.
struct Connect {
  InputItem item;
  Wire to;  // the block and its input port
};

/// What an input port has, whole, or one element of a list.
struct Disconnect {
  Wire to;
};

/// What an input port has, whole: an absent `value` takes it away. With an index, that element of a list: `value` holds one item.
struct SetInput {
  Wire to;
  std::optional<PageInput> value;  // its port does not matter
  int64_t place = -1;  // index among the block's inputs, where the port is new; -1: the last
};

/// One attribute. Just one of json and text is given; neither takes the setting away, which leaves the default.
struct SetAttr {
  std::string block;
  std::string attr;
  std::string json;  // as in an attribute object: `"NHWC"`, `[1, 2, 2, 1]`, `true`, `0.5`
  std::string text;  // as in attribute text: `NHWC`, `{1,2,2,1}`. Makes attribute text of an attribute object
};

/// All attributes, as they are written on the page.
struct SetAttrs {
  std::string block;
  bool has_attrs = false;    // there is a key "attrs"
  std::string attrs;         // its text
  std::string attrs_object;  // or its object, as JSON
  bool faulty = false;       // see PageBlock
};

/// Another id; all wires from the block follow.
struct RenameBlock {
  std::string block;
  std::string to;
  bool faulty = false;  // an id that the block had before, and the page reports
};

/// The block's place on the drawing; none takes the entry away.
struct MoveBlock {
  std::string block;
  std::optional<LayoutEntry> layout;  // the entry's id does not matter
  int64_t place = -1;                 // index among the entries, where the block has none; -1: the last
};

/// A key of a block that Weft does not know (a note, a colour), or one of the page: "page", its name, "layout", or one that is not known.
struct SetKey {
  std::string block;   // empty: the page's
  std::string key;
  std::string json;    // its value; empty: takes the key away
  int64_t place = -1;  // index among such keys, where it is new; -1: the last
};

using Edit = std::variant<AddBlock, RemoveBlock, Connect, Disconnect, SetInput, SetAttr, SetAttrs, RenameBlock, MoveBlock, SetKey>;

/// Applies edits in order, all of them or none. Gives those that take them back, to be applied in the order given: then WritePage gives the
/// bytes that it gave before. What the page means is not looked at: types, shapes and ports are checked where its graph is made.
/// not_found: a block or connection that is not there; already_exists: an id that is taken; out_of_range: an index or place; invalid_argument:
/// an id, name or value that a page cannot hold; failed_precondition: a layout that is not of the usual form. The status names block and
/// port; its pointer is that of the edit in the list ("/2").
Result<std::vector<Edit>> ApplyEdits(Page& page, std::span<const Edit> edits);

/// The block that an edit changes: of AddBlock the new one, of RenameBlock its present id; empty for keys of the page.
const std::string& BlockOf(const Edit& edit);

/// About how many bytes of memory the edits take, without the elements of their tensors, which count themselves.
int64_t BytesOf(std::span<const Edit> edits);

/// A list of edits, one a line:
///   {"op": "add", "block": {"id": "y", "block": "Add", "inputs": {"x": "a.z"}}, "place": 3, "layout": [40, 80]}
///   {"op": "remove", "block": "y", "keep_wires": true, "keep_layout": true}
///   {"op": "connect", "from": "a.z", "to": "y.x"}                     to an element of a list: "to": "y.inputs[2]"
///   {"op": "connect", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}, "to": "y.inputs"}
///   {"op": "disconnect", "to": "y.x"}
///   {"op": "set", "input": "c.value", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}, "place": 0}   or a wire, a list, null
///   {"op": "set", "block": "y", "attr": "data_format", "value": "NHWC"}   or "text": "{1,2}"; "value": null for the default
///   {"op": "set", "block": "y", "attrs": "data_format_ = NHWC;"}          or an object; null for none
///   {"op": "set", "block": "y", "key": "note", "value": "slow", "place": 0}   or null; without "block": a key of the page
///   {"op": "rename", "block": "y", "to": "z"}
///   {"op": "move", "block": "y", "layout": [40, 80], "place": 2}          or null
std::string WriteEdits(std::span<const Edit> edits);

/// Reads a list of edits, or one edit alone. Values in files are read by `options`. The status has the pointer of what is wrong.
Result<std::vector<Edit>> ReadEdits(std::string_view json, const ReadOptions& options = {});

}  // namespace weft
