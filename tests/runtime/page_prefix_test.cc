// Documents of all formats that end early. (Damaged ones: tests/fuzz.)
#include <catch2/catch.hpp>

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

TEST_CASE("Every prefix of a page gives a report", "[page]") {
  for (const std::string& document : Documents()) {
    for (size_t size = 0; size < document.size(); ++size) {
      if (!ReadText(std::string_view(document).substr(0, size)).diagnostics.has_errors()) FAIL_CHECK(document.substr(0, size));
    }
  }
}

}  // namespace
}  // namespace weft
