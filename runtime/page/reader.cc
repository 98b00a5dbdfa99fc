#include "weft/page/reader.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/page/formats.h"
#include "runtime/page/literal_reader.h"
#include "runtime/page/unicode.h"
#include "runtime/page/unread.h"
#include "weft/page/literal.h"

namespace weft {
namespace {

// Where the first character stands that is no blank; npos: nowhere.
size_t PastBlanks(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    CallLimit::CheckAt(at);
    if (std::string_view(" \t\r\n").find(text[at]) == text.npos) return at;
  }
  return text.npos;
}

// The end of the value that begins at `at`, by counting brackets; npos where the text ends before it.
size_t SkipValue(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    CallLimit::Check();
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        CallLimit::Check();
        at += text[at] == '\\';
      }
      if (at >= text.size()) return text.npos;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth <= 0) return at + (depth == 0);
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return text.npos;
}

// enuSpace's runtime pages have the key "object", Weft's have "weft" and "blocks"; the first of these keys decides.
bool IsRuntimePage(std::string_view text) {
  size_t at = text.find('{');
  while (at < text.size()) {
    const size_t begin = text.find('"', at);
    if (begin == text.npos) return false;
    const size_t end = text.find('"', begin + 1);
    const size_t colon = text.find(':', std::min(end, text.size()));
    if (colon == text.npos) return false;
    const std::string_view key = text.substr(begin + 1, end - begin - 1);
    if (key == "object") return true;
    if (key == "weft" || key == "blocks") return false;
    at = SkipValue(text, colon + 1);
  }
  return false;
}

// Reads a document that is a single literal.
class TensorSink : public page::JsonSink {
 public:
  TensorSink() : report_(diagnostics_, ""), walk_(*this), literal_(report_, walk_, options_) {}

  Result<Tensor> Read(std::string_view text) {
    walk_.Run(text);
    report_.EndBlock("");
    if (diagnostics_.has_errors()) return diagnostics_.FirstError();
    Literal literal = literal_.Take();
    if (literal.form != Literal::Form::kText) return std::move(literal.tensor);
    return ParseTextLiteral(literal.text, literal.dtype, literal.shape);
  }

  void Scalar(page::JsonScalar& value) override {
    if (literal_.active()) return literal_.Scalar(value);
    report_.Error(InvalidArgument("needs a tensor {\"dtype\", \"shape\", \"values\"}, found ", page::KindName(value)), walk_.pointer());
  }
  void Start(bool object) override {
    if (literal_.active()) return literal_.Start(object);
    if (object) return literal_.Begin("");
    report_.Error(InvalidArgument("needs a tensor {\"dtype\", \"shape\", \"values\"}, found an array"), walk_.pointer());
    walk_.Stop();
  }
  void Key(std::string& key) override { literal_.Key(key); }
  void End(bool object) override { literal_.End(object); }
  void Fault(Status status) override { report_.Error(std::move(status), walk_.pointer()); }

 private:
  ReadOptions options_;
  Diagnostics diagnostics_;
  page::Report report_;
  page::JsonWalk walk_;
  page::LiteralReader literal_;
};

}  // namespace

ReadPageResult ReadPage(std::string_view bytes, const ReadOptions& options) {
  ReadPageResult result;
  const auto fail = [&](Status status) {
    result.page.complete = false;
    result.diagnostics.Error(std::move(status).WithPage(options.name));
  };
  std::string storage;
  Result<std::string_view> utf8 = page::ToUtf8(bytes, storage);
  if (!utf8.ok()) {
    fail(std::move(utf8).status());
    return result;
  }
  const size_t first = PastBlanks(*utf8);
  if (first == utf8->npos) {
    fail(InvalidArgument("needs a page, found an empty file"));
  } else if ((*utf8)[first] == '\0') {
    fail(DataLoss("needs a page, found a file that begins with a zero byte").WithHint("the file is damaged, or no text: take it from a copy"));
  } else if ((*utf8)[first] == '<') {
    page::ReadDesignPage(*utf8, options, result);
  } else if (IsRuntimePage(*utf8)) {
    page::ReadRuntimePage(*utf8, options, result);
  } else {
    page::ReadWeftPage(*utf8, options, result);
  }
  page::NoteFaults(result.diagnostics, result.page);
  return result;
}

Result<Tensor> ReadTensor(std::string_view json) { return TensorSink().Read(json); }

}  // namespace weft
