// Page: a document of blocks and wires as written. It does not depend on which block types exist.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "weft/base/tensor.h"

namespace weft {

/// `block.port` or `block.port[index]`, an output port of another block.
struct Wire {
  std::string block;
  std::string port;
  int index = -1;  // element of a list port; -1 where none is named

  friend bool operator==(const Wire&, const Wire&) = default;
};
std::string ToString(const Wire& wire);
/// invalid_argument where the text is not ID.port or ID.port[N]. Ids of imported pages may hold any character but '.'.
Result<Wire> ParseWire(std::string_view text);

/// A value written on the page. Forms kValues and kFile are read with the page. Text may need the type of the port, so it is read when the
/// graph is built (ParseTextLiteral in weft/page/literal.h).
struct Literal {
  enum class Form : uint8_t {
    kValues,  // {"dtype", "shape", "values"}: `tensor` holds it
    kText,    // {"text"} in enuSpace's spelling, with dtype and shape where given
    kFile,    // {"dtype", "shape", "file", "offset"}: `tensor` holds what the reader read
    kUnread,  // of a faulty input: JSON that is no value and no wire; `text` is how it was written, `dtype` there where that could be read
  };
  Form form = Form::kValues;
  std::optional<DType> dtype;  // as written; always present for values and files
  std::optional<Shape> shape;  // as written; always present for values and files
  Tensor tensor;               // undefined for text
  std::string text;            // kText and kUnread only
  std::string file;            // kFile only: relative to the page
  int64_t offset = 0;          // kFile only: bytes from the start of the file
  std::string extra;           // unknown keys: the members as JSON text ("\"a\": 1, \"b\": 2"), or empty
};

/// A value on the heap that is copied with its owner: keeps a variant small although one alternative is large.
template <class T>
class Boxed {
 public:
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(std::make_unique<T>(*other.value_)) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  std::unique_ptr<T> value_;  // null once moved from
};

using InputItem = std::variant<Wire, Boxed<Literal>>;
/// The item's wire or literal; null where it is the other.
inline const Wire* WireOf(const InputItem& item) { return std::get_if<Wire>(&item); }
inline const Literal* LiteralOf(const InputItem& item) {
  const auto* boxed = std::get_if<Boxed<Literal>>(&item);
  return boxed == nullptr ? nullptr : &**boxed;
}

/// What is connected to one input port. A port that is not connected has no PageInput.
struct PageInput {
  std::string port;
  bool list = false;             // written as a JSON array, also where it holds one item
  std::vector<InputItem> items;  // one, where not a list
  bool faulty = false;           // the reader reported a fault here; consequences of it are not reported again
  std::shared_ptr<const std::vector<Status>> faults = nullptr;  // what it reported, with pointers that begin in the block; or null
};

/// About how many bytes of memory the input takes, without the elements of its tensors, which count themselves.
int64_t BytesOf(const PageInput& input);

/// What a reader found wrong with a block itself, not with one of its inputs.
struct BlockFaults {
  std::vector<Status> errors;  // with pointers that begin in the block
  /// "id", "block", "attrs" or "inputs" with the JSON text of another kind of value than they need. It is written back while nothing is in its
  /// place.
  std::vector<std::pair<std::string, std::string>> unread;
};

/// One block. Unknown block types, ports, attributes and keys are kept as they were written.
struct PageBlock {
  std::string id;
  std::string type;
  std::string attrs;         // as enuSpace writes them: "a_ = 1;b_ = {1,2};"; derived from attrs_object where that was written
  std::string attrs_object;  // the JSON text of an attribute object, or empty
  bool has_attrs = false;    // whether the key "attrs" is written, even if it is empty
  bool has_inputs = false;   // the same for "inputs"
  bool faulty = false;       // the reader reported a fault of the block itself; see IsFaulty
  std::vector<PageInput> inputs;
  std::shared_ptr<const BlockFaults> faults = nullptr;  // or null
  std::string extra;    // unknown keys: the members as JSON text, or empty
  std::string pointer;  // JSON pointer of an imported block ("/object/3"); empty in Weft's own format, where it is "/blocks/INDEX"
  uint64_t serial = 0;   // identifies the block through renames and moves; 0 before the first edit of the page. Not saved
  uint64_t version = 0;  // changes with each edit of the block, renames included. Not saved
};

/// As BytesOf of an input.
int64_t BytesOf(const PageBlock& block);

/// Whether what the reader reported of the type, the attributes or the inputs as a whole is still so: consequences of it are not reported again.
bool IsFaulty(const PageBlock& block);

/// A value that an imported page recorded for an output in its last run.
struct RecordedResult {
  std::string block;
  std::string port;  // without the "result_" prefix
  int index = -1;    // element of a list port, or -1
  Literal value;
};

struct LayoutEntry {
  std::string block;
  double x = 0, y = 0;
};

/// A plain value: copyable, and readable from any thread while no thread changes it.
struct Page {
  enum class Format : uint8_t { kWeft, kEnuSpaceRuntime, kEnuSpaceDesign };
  static constexpr int kVersion = 1;

  std::string name;  // the key "page", or the file's stem for imported pages
  Format format = Format::kWeft;
  std::vector<PageBlock> blocks;
  bool has_layout = false;
  std::vector<LayoutEntry> layout;
  std::string layout_text;  // the JSON text of a layout with entries other than id -> [x, y]; written back unchanged
  std::string extra;        // unknown keys of the page: the members as JSON text, or empty
  std::vector<RecordedResult> recorded;  // imported design pages only
  uint64_t edits = 0;  // the highest serial number or version assigned; 0 before the first edit
  bool complete = true;  // false where the document ended early: wires to missing blocks are then not reported

  /// Index into blocks, or -1. Linear in the number of blocks; see IdIndex.
  int Find(std::string_view id) const;
};

/// The JSON pointer of a block: "/blocks/3", or PageBlock::pointer of an imported one.
std::string BlockPointer(const Page& page, size_t block);

}  // namespace weft
