#include "weft/page/writer.h"

#include <cmath>

#include "runtime/page/json_text.h"
#include "runtime/page/unicode.h"
#include "runtime/page/unread.h"
#include "runtime/page/writer_parts.h"
#include "weft/base/float16.h"

namespace weft {
namespace {

using page::AppendJsonNumber;
using page::AppendJsonString;

template <class T>
void AppendReal(std::string& out, T value) {
  const double wide = static_cast<double>(value);
  if (std::isfinite(wide)) AppendJsonNumber(out, value);
  else out += std::isnan(wide) ? "\"nan\"" : wide > 0 ? "\"inf\"" : "\"-inf\"";
}

void AppendString(std::string& out, std::string_view value) {
  if (page::FindInvalidUtf8(value) == std::string::npos) return AppendJsonString(out, value);
  out += "{\"base64\": \"";
  out += page::EncodeBase64(value);
  out += "\"}";
}

template <class T>
void AppendElement(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, String>) {
    AppendString(out, value);
  } else if constexpr (Complex<T>) {
    out += '[';
    AppendReal(out, value.real());
    out += ", ";
    AppendReal(out, value.imag());
    out += ']';
  } else if constexpr (Float<T>) {
    AppendReal(out, value);
  } else {
    AppendJsonNumber(out, value);
  }
}

// All types whose elements can be written; handles cannot.
constexpr auto kWritten = kNumbers + kQuantized + TypeList<bool, String>{};

void AppendValues(std::string& out, const Tensor& tensor) {
  out += '[';
  Dispatch(tensor.dtype(), kWritten, [&]<class T>() {
    bool first = true;
    for (const T& value : tensor.values<T>()) {
      if (!first) out += ", ";
      first = false;
      AppendElement(out, value);
    }
  });
  out += ']';
}

void AppendShape(std::string& out, const Shape& shape) {
  out += '[';
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(shape[i]);
  }
  out += ']';
}

void AppendMemberStart(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ", ";
  AppendJsonString(out, key);
  out += ": ";
}

void AppendExtra(std::string& out, const std::string& extra) {
  if (extra.empty()) return;
  if (out.back() != '{') out += ", ";
  out += extra;
}

void AppendTypeAndShape(std::string& out, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  if (dtype) {
    AppendMemberStart(out, "dtype");
    AppendJsonString(out, DTypeName(*dtype));
  }
  if (shape) {
    AppendMemberStart(out, "shape");
    AppendShape(out, *shape);
  }
}

void AppendLiteral(std::string& out, const Literal& literal) {
  if (literal.form == Literal::Form::kUnread) {
    out += literal.text.empty() ? "null" : literal.text;  // without one the document ended in it
    return;
  }
  out += '{';
  if (literal.form == Literal::Form::kValues && literal.tensor.defined()) {
    AppendTypeAndShape(out, literal.tensor.dtype(), literal.tensor.shape());
    AppendMemberStart(out, "values");
    AppendValues(out, literal.tensor);
  } else {
    AppendTypeAndShape(out, literal.dtype, literal.shape);
  }
  if (literal.form == Literal::Form::kText) {
    AppendMemberStart(out, "text");
    AppendJsonString(out, literal.text);
  } else if (literal.form == Literal::Form::kFile) {
    AppendMemberStart(out, "file");
    AppendJsonString(out, literal.file);
    if (literal.offset != 0) {
      AppendMemberStart(out, "offset");
      out += std::to_string(literal.offset);
    }
  }
  AppendExtra(out, literal.extra);
  out += '}';
}

void AppendItem(std::string& out, const InputItem& item) {
  if (const Wire* wire = std::get_if<Wire>(&item)) AppendJsonString(out, ToString(*wire));
  else AppendLiteral(out, *LiteralOf(item));
}

}  // namespace

namespace page {

void AppendInputValue(std::string& out, const PageInput& input) {
  const bool list = input.list || input.items.size() != 1;
  if (list) out += '[';
  for (size_t i = 0; i < input.items.size(); ++i) {
    if (i > 0) out += ", ";
    AppendItem(out, input.items[i]);
  }
  if (list) out += ']';
}

/// Appends what the document had under this key and a reader could not read; false where there is none.
static bool AppendUnread(std::string& out, const PageBlock& block, std::string_view key) {
  const std::string* unread = UnreadOf(block, key);
  if (unread != nullptr) out += *unread;
  return unread != nullptr;
}

void AppendBlock(std::string& out, const PageBlock& block) {
  out += "{\"id\": ";
  if (!AppendUnread(out, block, "id")) AppendJsonString(out, block.id);
  AppendMemberStart(out, "block");
  if (!AppendUnread(out, block, "block")) AppendJsonString(out, block.type);
  if (block.has_attrs || !block.attrs.empty()) {
    AppendMemberStart(out, "attrs");
    if (block.attrs_object.empty()) AppendJsonString(out, block.attrs);
    else out += block.attrs_object;
  } else if (const std::string* unread = UnreadOf(block, "attrs")) {
    AppendMemberStart(out, "attrs");
    out += *unread;
  }
  if (block.has_inputs || !block.inputs.empty()) {
    AppendMemberStart(out, "inputs");
    out += '{';
    for (const PageInput& input : block.inputs) {
      AppendMemberStart(out, input.port);
      AppendInputValue(out, input);
    }
    out += '}';
  } else if (const std::string* unread = UnreadOf(block, "inputs")) {
    AppendMemberStart(out, "inputs");
    out += *unread;
  }
  AppendExtra(out, block.extra);
  out += '}';
}

std::string LayoutText(const Page& page) {
  if (!page.layout_text.empty()) return page.layout_text;
  if (!page.has_layout && page.layout.empty()) return "";
  std::string out = "{";
  for (const LayoutEntry& entry : page.layout) {
    AppendMemberStart(out, entry.block);
    out += '[';
    AppendReal(out, entry.x);
    out += ", ";
    AppendReal(out, entry.y);
    out += ']';
  }
  out += '}';
  return out;
}

}  // namespace page

std::string WritePage(const Page& page) {
  std::string out;
  out.reserve(256 + page.blocks.size() * 160);
  out += "{\n  \"weft\": ";
  out += std::to_string(Page::kVersion);
  out += ",\n  \"page\": ";
  AppendJsonString(out, page.name);
  out += ",\n  \"blocks\": [";
  for (size_t i = 0; i < page.blocks.size(); ++i) {
    out += i == 0 ? "\n    " : ",\n    ";
    page::AppendBlock(out, page.blocks[i]);
  }
  out += page.blocks.empty() ? "]" : "\n  ]";
  if (const std::string layout = page::LayoutText(page); !layout.empty()) {
    out += ",\n  \"layout\": ";
    out += layout;
  }
  if (!page.extra.empty()) {
    out += ",\n  ";
    out += page.extra;
  }
  out += "\n}\n";
  return out;
}

std::string WriteTensor(const Tensor& tensor) {
  Literal literal;
  literal.tensor = tensor;
  std::string out;
  AppendLiteral(out, literal);
  return out;
}

}  // namespace weft
