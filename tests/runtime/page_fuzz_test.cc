// Damaged documents of all formats: any bytes give a report, and what is read can be written.
#include <catch2/catch.hpp>
#include <random>

#include "tests/runtime/page_test.h"

namespace weft {
namespace {

const std::vector<std::string>& Documents() {
  static const std::vector<std::string> kDocuments = [] {
    const std::string weft =
        "{\"weft\": 1, \"page\": \"p\", \"blocks\": [{\"id\": \"a\", \"block\": \"Const\", \"attrs\": {\"s\": [[1, 2], null]}, \"inputs\": {\"value\": "
        "{\"dtype\": \"DT_COMPLEX64\", \"shape\": [2], \"values\": [[1, \"inf\"], 2.5]}, \"x\": [\"b.y[1]\", {\"text\": \"{1,2}\"}]}, \"k\": [1e5]}, "
        "{\"values\": [{\"base64\": \"/w==\"}, \"s\\u00e9\"], \"shape\": [2]}, {\"id\": \"b\", \"block\": \"B\", \"inputs\": {\"v\": {\"values\": "
        "[1, 2], \"shape\": [2], \"dtype\": \"DT_HALF\"}, \"f\": {\"dtype\": \"DT_INT8\", \"shape\": [4], \"file\": \"f\", \"offset\": 2}}}], "
        "\"layout\": {\"a\": [1, 2]}, \"z\": {}}";
    const std::string runtime =
        "{\"object\": [{\"symbol-name\": \"#A\", \"id\": \"a\", \"input\": [{\"pin-name\": \"v\", \"pin-type\": \"float\", \"pin-shape\": \"[2][1]\", "
        "\"pin-initial\": \"1;2\"}, {\"pin-name\": \"b\", \"pin-type\": \"int\", \"pin-save\": \"binary\", \"pin-binary-pos\": \"4\", \"pin-shape\": "
        "\"[2]\"}, {\"pin-name\": \"w\", \"in-symbol-id\": \"b\", \"in-symbol-pin-name\": \"y[0]\"}], \"output\": [{\"pin-name\": \"result_y[1][2]\", "
        "\"pin-type\": \"double\", \"pin-shape\": \"[2]\", \"pin-initial\": \"{1.5,nan}\"}]}]}";
    const std::string design =
        "<svg><g transform=\"translate(1,2)\"><use id=\"a\" type=\"tensorflow\" xlink:href=\"#A\" transform=\"translate(3,4)\"><pg-set-pin "
        "variable=\"#v[2]\" shape=\"[2]\" var-type=\"float\" value=\"1;2\"/><pg-set-pin variable=\"#result_y\" save-type=\"binary\" shape=\"[2]\" "
        "var-type=\"bool\" binary-pos=\"1\"/></use></g><polyline><pg-link from-id=\"b\" param-from=\"y[2]\" to-id=\"a\" param-to=\"x\"/></polyline></svg>";
    return std::vector<std::string>{weft, runtime, design, Utf16(weft, false), Utf16(runtime, true), Utf16(design, false)};
  }();
  return kDocuments;
}

std::string Damaged(const std::string& document, std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {"{",           "}",
                                                 "[",           "]",
                                                 "\"",          ",",
                                                 ":",           "-1",
                                                 "1e400",       "9999999999999999999",
                                                 "\0",          "\xFF",
                                                 "\xD8",        "\\u0000",
                                                 "null",        "<",
                                                 "/>",          "[1000000][1000000]",
                                                 "\"weft\": 2", "true"};
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % static_cast<uint32_t>(n)); };
  std::string text = document;
  for (size_t i = 1 + below(4); i > 0 && !text.empty(); --i) {
    const size_t at = below(text.size());
    switch (below(6)) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 2: text.resize(at); break;
      case 3: text.erase(at, 1 + below(8)); break;
      case 4: text.insert(at, kPieces[below(std::size(kPieces))]); break;
      case 5: text.insert(at, text.substr(below(text.size()), below(40))); break;
    }
  }
  return text;
}

TEST_CASE("Damaged pages give a report and never more", "[page]") {
  std::mt19937 random(20);
  ReadOptions options;
  options.name = "p.json";
  options.read_file = [](const std::string&, int64_t offset, int64_t size) -> Result<std::string> {
    return std::string("0123456789")
        .substr(static_cast<size_t>(std::min<int64_t>(offset, 10)), static_cast<size_t>(std::min<int64_t>(size, 10)));
  };
  size_t faulty = 0, good = 0;
  for (const std::string& document : Documents()) {
    for (int i = 0; i < 2000; ++i) {
      const std::string text = Damaged(document, random);
      const ReadPageResult result = ReadPage(text, options);
      ++(result.diagnostics.has_errors() ? faulty : good);
      const std::string written = WritePage(result.page);
      if (result.diagnostics.has_errors()) continue;
      const ReadPageResult again = ReadPage(written, options);
      if (again.diagnostics.has_errors()) continue;  // an imported id that Weft's own pages do not take
      if (WritePage(again.page) != written) {
        INFO(text);
        CHECK(WritePage(again.page) == written);
      }
    }
  }
  CHECK(faulty > 1000);
  CHECK(good > 100);
}

TEST_CASE("Every prefix of a page gives a report", "[page]") {
  for (const std::string& document : Documents()) {
    for (size_t size = 0; size < document.size(); ++size) {
      if (!ReadText(std::string_view(document).substr(0, size)).diagnostics.has_errors()) FAIL_CHECK(document.substr(0, size));
    }
  }
}

TEST_CASE("Damaged text literals give a value or an error", "[page]") {
  std::mt19937 random(21);
  const std::string kTexts[] = {"{{1.5,3.5},{0.5f,1}}", "1;2;3", "\"a\\n\";\"\\ud83d\\ude00\"", "1+2j;-j", "true,false", "{{},{}}",
                                "nan;-inf;1e5"};
  for (int i = 0; i < 20000; ++i) {
    const std::string text = Damaged(kTexts[random() % 7], random);
    std::optional<DType> dtype;
    if (random() % 2) dtype = static_cast<DType>(1 + random() % (kDTypeCount - 1));
    std::optional<Shape> shape;
    if (random() % 2) shape = Shape{static_cast<int64_t>(random() % 4)};
    const Result<Tensor> tensor = ParseTextLiteral(text, dtype, shape);
    if (tensor.ok() && shape && !(tensor->shape() == *shape)) FAIL_CHECK(text);
  }
}

}  // namespace
}  // namespace weft
