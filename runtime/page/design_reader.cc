// enuSpace's design SVG -> Page.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <pugixml.hpp>
#include <set>

#include "runtime/base/call_limit.h"
#include "runtime/page/formats.h"
#include "runtime/page/imported.h"
#include "runtime/page/unicode.h"

namespace weft::page {
namespace {

struct Point {
  double x = 0, y = 0;
};

// Bytes that a document takes for each of its bytes while it is read.
constexpr int64_t kDocumentBytes = 4;

// What the parser allocates by. While it works there is no other place where it may be told to end.
pugi::allocation_function allocate_for_parser = nullptr;

void* AllocateUnlessStopped(size_t size) {
  try {
    CallLimit::Check();
  } catch (const CallStopped&) {
    return nullptr;  // ends the parser, as too little memory does
  }
  return allocate_for_parser(size);
}

// A copy of the text for the parser, made a piece at a time.
char* CopyForParser(std::string_view text) {
  constexpr size_t kPiece = size_t{4} << 20;
  std::unique_ptr<char, pugi::deallocation_function> copy(static_cast<char*>(allocate_for_parser(std::max<size_t>(text.size(), 1))),
                                                          pugi::get_memory_deallocation_function());
  if (copy == nullptr) throw std::bad_alloc();
  for (size_t at = 0; at < text.size(); at += kPiece) {
    CallLimit::CheckNow();
    std::memcpy(copy.get() + at, text.data() + at, std::min(kPiece, text.size() - at));
  }
  return copy.release();
}

pugi::xml_parse_result Parse(std::string_view text, pugi::xml_document& document) {
  static std::once_flag once;
  std::call_once(once, [] {
    allocate_for_parser = pugi::get_memory_allocation_function();
    pugi::set_memory_management_functions(AllocateUnlessStopped, pugi::get_memory_deallocation_function());
  });
  CallLimit::Grow(kDocumentBytes * static_cast<int64_t>(text.size()));
  const pugi::xml_parse_result parsed =
      document.load_buffer_inplace_own(CopyForParser(text), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (parsed.status != pugi::status_out_of_memory) return parsed;
  CallLimit::CheckNow();
  throw std::bad_alloc();  // no fault of the document
}

// The number that `text` begins with, or 0; `text` then begins after it. In any locale.
double TakeNumber(std::string_view& text) {
  while (text.starts_with(' ') || text.starts_with(',')) text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return error == std::errc() && std::abs(value) < 1e9 ? value : 0;
}

double NumberOf(std::string_view text) { return TakeNumber(text); }

// The offset of "translate(1.00,2.00) rotate(...) ..."; other parts of a transform do not move a block's corner.
Point Translation(std::string_view transform) {
  static constexpr std::string_view kTranslate = "translate(";
  const size_t at = transform.find(kTranslate);
  if (at == transform.npos) return {};
  transform.remove_prefix(at + kTranslate.size());
  const double x = TakeNumber(transform);
  return {x, TakeNumber(transform)};
}

// Two decimals, as the editor writes them.
double Rounded(double value) { return std::round(value * 100) / 100; }

class DesignReader {
 public:
  DesignReader(const ReadOptions& options, ReadPageResult& result)
      : report_(result.diagnostics, options.name), importer_(options, result.page, report_), page_(result.page) {}

  void Read(std::string_view text) {
    page_.complete = false;
    if (Status status = CheckDocument(text); !status.ok()) return report_.Error(std::move(status), "");
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = Parse(text, document);
    if (!parsed) {
      const auto offset = static_cast<size_t>(std::max<ptrdiff_t>(0, parsed.offset));
      Status status = InvalidArgument("broken XML at ", LineAndColumn(text, offset), ": ", parsed.description());
      if (offset + 16 >= text.size()) status = std::move(status).WithHint("the file may have been cut off");
      return report_.Error(std::move(status), "");
    }
    const pugi::xml_node root = document.document_element();
    if (std::string_view(root.name()) != "svg") {
      return report_.Error(InvalidArgument("needs a design page, whose first element is <svg>, found <", root.name(), ">"), "");
    }
    Visit(root);
    page_.complete = !page_.blocks.empty() || !links_.empty() || !widgets_.empty() || of_editor_;
    if (!page_.complete) {
      return report_.Error(InvalidArgument("needs a design page of enuSpace, found a picture: it has neither blocks nor wires"), "");
    }
    for (size_t i = 0; i < links_.size(); ++i) AddLink(links_[i], Cat("/pg-link/", i));
    page_.has_layout = !page_.layout.empty();
    importer_.Finish();
  }

 private:
  // Faults that the parser does not report: it ends at a NUL and does not check UTF-8.
  static Status CheckDocument(std::string_view text) {
    if (text.size() > kMostDesignBytes) {
      return InvalidArgument("needs a design page of at most ", kMostDesignBytes, " bytes, found ", text.size())
          .WithHint("save its large values in files beside it, or as a page of Weft");
    }
    WEFT_RETURN_IF_ERROR(CheckUtf8(text));
    CallLimit::CheckNow();
    const size_t zero = text.find('\0');
    if (zero != text.npos) return InvalidArgument("needs text without NUL characters, found one at ", LineAndColumn(text, zero));
    return {};
  }

  // Every element once, without recursion.
  void Visit(pugi::xml_node root) {
    std::vector<Point> offsets{{}};
    pugi::xml_node node = root;
    while (true) {
      CallLimit::Check();
      const Point moved = Translation(node.attribute("transform").value());
      const Point origin = node == root ? Point{} : Point{offsets.back().x + moved.x, offsets.back().y + moved.y};
      const std::string_view name = node.name();
      if (name == "use") Use(node, origin);
      if (name == "pg-link") links_.push_back(node);
      of_editor_ = of_editor_ || name.starts_with("pg-") || (node == root && IsOfEditor(root));
      if (node.first_child()) {
        node = node.first_child();
        offsets.push_back(origin);
        continue;
      }
      while (node != root && !node.next_sibling()) {
        node = node.parent();
        offsets.pop_back();
      }
      if (node == root) return;
      node = node.next_sibling();
    }
  }

  static bool IsOfEditor(const pugi::xml_node& root) {
    return std::ranges::any_of(root.attributes(), [](const pugi::xml_attribute& attribute) {
      const std::string_view name = attribute.name();
      return name.starts_with("pg-") || name.starts_with("enuspace-");
    });
  }

  void Use(const pugi::xml_node& use, Point origin) {
    const std::string id = use.attribute("id").value();
    if (std::string_view(use.attribute("type").value()) != "tensorflow") {
      widgets_.insert(id);
      return;
    }
    const std::string pointer = Cat("/use/", page_.blocks.size());
    const size_t block = importer_.AddBlock(pointer);
    page_.blocks[block].id = id;
    if (id.empty()) report_.Error(InvalidArgument("a block needs an id"), pointer);
    else CheckId(report_, id, pointer, true);
    blocks_.emplace(id, block);
    importer_.SetType(block, use.attribute("xlink:href").value());
    if (Status status = CheckName("a symbol", page_.blocks[block].type); !status.ok()) {
      page_.blocks[block].faulty = true;
      report_.Error(std::move(status), pointer);
    }
    const Point corner{origin.x + NumberOf(use.attribute("x").value()), origin.y + NumberOf(use.attribute("y").value())};
    page_.layout.push_back({id, Rounded(corner.x), Rounded(corner.y)});
    size_t index = 0;
    for (const pugi::xml_node& pin : use.children("pg-set-pin")) ReadPin(block, pin, Cat(pointer, "/pg-set-pin/", index++));
    report_.EndBlock(id);
  }

  void ReadPin(size_t block, const pugi::xml_node& node, const std::string& pointer) {
    Pin pin;
    pin.name = node.attribute("variable").value();
    if (pin.name.starts_with('#')) pin.name.erase(0, 1);
    pin.type = node.attribute("var-type").value();
    pin.shape = node.attribute("shape").value();
    pin.text = node.attribute("value").value();
    pin.binary = std::string_view(node.attribute("save-type").value()) == "binary";
    pin.binary_position = node.attribute("binary-pos").value();
    if (pin.name.empty()) return report_.Error(InvalidArgument("a pin needs the attribute variable"), pointer);
    if (pin.name.starts_with("result_")) return importer_.AddRecorded(block, pin, pointer);
    importer_.InputOf(block, pin.name);
    importer_.AddValue(block, pin, pointer);
  }

  void AddLink(const pugi::xml_node& link, const std::string& pointer) {
    CallLimit::Check();
    const std::string from = link.attribute("from-id").value(), to = link.attribute("to-id").value();
    const std::string port = link.attribute("param-to").value();
    const auto block = blocks_.find(to);
    if (block != blocks_.end() && !widgets_.contains(from)) {
      importer_.AddWire(block->second, port, from, link.attribute("param-from").value(), pointer);
    } else if (widgets_.contains(to) || widgets_.contains(from)) {
      report_.Note(Unsupported("the wire from '", from, "' to '", to, "' is left out: one of them is a display of the editor, not a block"),
                   pointer, port);
    } else {
      report_.Error(NotFound("a wire leads from '", from, "' to '", to, "', which does not exist"), pointer, port);
    }
    report_.EndBlock(to);
  }

  Report report_;
  Importer importer_;
  Page& page_;
  std::vector<pugi::xml_node> links_;
  std::map<std::string, size_t> blocks_;
  std::set<std::string> widgets_;  // <use> elements that are no blocks
  bool of_editor_ = false;         // the document has elements or attributes that enuSpace alone writes
};

}  // namespace

void ReadDesignPage(std::string_view text, const ReadOptions& options, ReadPageResult& result) {
  result.page.format = Page::Format::kEnuSpaceDesign;
  result.page.name = PageStem(options.name);
  DesignReader(options, result).Read(text);
}

}  // namespace weft::page
