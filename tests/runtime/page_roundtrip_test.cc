// Reading and writing Weft's own pages: byte for byte where they are canonical, canonical and stable else.
#include <catch2/catch.hpp>
#include <random>

#include "tests/runtime/page_test.h"

namespace weft {
namespace {

constexpr const char* kCanonical[] = {
    R"({
  "weft": 1,
  "page": "bias_grad",
  "blocks": [
    {"id": "dy", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1, 2, 2], "values": [1, 2, 3, 4]}}},
    {"id": "db", "block": "BiasAddGrad", "attrs": "data_format_ = NHWC;", "inputs": {"out_backprop": "dy.output"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["db.output"]}}
  ],
  "layout": {"dy": [40, 80], "db": [260, 80.5]}
}
)",
    R"({
  "weft": 1,
  "page": "",
  "blocks": []
}
)",
    R"({
  "weft": 1,
  "page": "keeps what it does not know",
  "blocks": [
    {"id": "a", "block": "No Such Block", "attrs": "", "inputs": {}, "note": {"b": [1.0, 1e5, -0, null, true, "\u0000\"é"], "a": {}}, "x": []},
    {"id": "b", "block": "X", "attrs": {"strides": [1, 2, 2, 1], "padding": "SAME"}, "inputs": {"in": ["a.out[3]", {"text": "{1,2}"}], "z": []}},
    {"id": "c", "block": "X", "inputs": {"in": {"dtype": "DT_DOUBLE", "text": "1;2", "unit": "m", "of": [1]}}}
  ],
  "layout": {"a": [0, 0], "b": "somewhere"},
  "title": "T",
  "more": [1, {"a": 2}]
}
)",
    R"({
  "weft": 1,
  "page": "special values",
  "blocks": [
    {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_COMPLEX128", "shape": [2], "values": [[-0, "nan"], ["-inf", 0.1]]}}},
    {"id": "s", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": [{"base64": "/w=="}]}}},
    {"id": "q", "block": "Const", "inputs": {"value": {"dtype": "DT_QUINT8", "shape": [1, 1], "values": [255]}}}
  ]
}
)",
};

std::string Rewritten(std::string_view text) {
  const ReadPageResult result = ReadText(text);
  for (size_t i = 0; i < result.diagnostics.all().size(); ++i) UNSCOPED_INFO(Finding(result, i));
  CHECK_FALSE(result.diagnostics.has_errors());
  return WritePage(result.page);
}

TEST_CASE("Canonical pages are written back byte for byte", "[page]") {
  for (const char* text : kCanonical) CHECK(Rewritten(text) == text);
}

TEST_CASE("Other pages come out canonical, and then stay", "[page]") {
  const std::string text =
      "\xEF\xBB\xBF{ \"z\" : 1.50,\n\"layout\":{\"a\":[1.0,2e1]},\r\n\"blocks\":[{\"inputs\":{\"value\":{\"values\":[1.0,2.50],\"shape\":[2],"
      "\"dtype\":\"float32\",\"k\":0.10}},\"block\":\"Con\\u0073t\",\"id\":\"a\"}],\"weft\":1}";
  const std::string canonical = R"({
  "weft": 1,
  "page": "p",
  "blocks": [
    {"id": "a", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2.5], "k": 0.10}}}
  ],
  "layout": {"a": [1, 20]},
  "z": 1.50
}
)";
  CHECK(Rewritten(text) == canonical);
  CHECK(Rewritten(canonical) == canonical);
}

TEST_CASE("Attribute objects become enuSpace's strings", "[page]") {
  const auto attrs = [](std::string_view object) {
    const ReadPageResult result = ReadText(PageWith(Cat("{\"id\": \"a\", \"block\": \"A\", \"attrs\": ", object, "}")));
    CHECK_FALSE(result.diagnostics.has_errors());
    return result.page.blocks[0].attrs;
  };
  CHECK(attrs(R"({"strides": [1, 2, 2, 1], "padding": "SAME", "eps": 1e-3, "on": true})") ==
        "strides_ = {1,2,2,1};padding_ = SAME;eps_ = 1e-3;on_ = true;");
  CHECK(attrs(R"({"name_": "a b;c", "empty": "", "list": [], "shapes": [[2, 2], [3], []], "any": null, "part": [null, 3]})") ==
        "name_ = \"a b;c\";empty_ = \"\";list_ = {};shapes_ = {[2][2],[3],[]};any_ = ?;part_ = {?,3};");
}

TEST_CASE("Wires", "[page]") {
  CHECK(ToString(ParseWire("a.b").value()) == "a.b");
  CHECK(ParseWire("a.b[12]").value() == Wire{"a", "b", 12});
  CHECK(ParseWire("1 x.b").value().block == "1 x");
  for (const char* bad :
       {"", "a", ".", "a.", ".b", "a.b[", "a.b[]", "a.b[x]", "a.b[-1]", "a.b[1", "a.b[1]x", "a.b.c", "a.b c", "a.[1]", "a.b[1][2]"}) {
    INFO(bad);
    CHECK(ParseWire(bad).status().code() == Code::kInvalidArgument);
  }
  CHECK(ParseWire("a.b[99999999999]").status().code() == Code::kOutOfRange);
}

// A page of random parts, all of which can be written.
class RandomPage {
 public:
  explicit RandomPage(uint32_t seed) : random_(seed) {}

  Page Make() {
    Page page;
    page.name = Text();
    const int blocks = Below(8);
    for (int i = 0; i < blocks; ++i) page.blocks.push_back(Block(i));
    page.has_layout = Below(2) == 0;
    if (page.has_layout) {
      for (int i = 0; i < blocks; ++i) page.layout.push_back({Cat("b", i), Below(4000) / 8.0, -Below(100) * 0.1});
    }
    if (Below(3) == 0) page.extra = "\"k\": 1,\n  \"l\": [1, {\"m\": null}]";
    return page;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  std::string Text() {
    static const std::vector<std::string> kParts = {"a", "Z", "\"", "\\",   "\n", "\t", "\x01", "é", "\xF0\x9F\x98\x80",
                                                    " ", "/", "{",  "\x7f", "0"};
    std::string text;
    for (int i = Below(6); i > 0; --i) text += kParts[static_cast<size_t>(Below(static_cast<int>(kParts.size())))];
    return text;
  }

  Literal Value() {
    Literal literal;
    if (Below(3) == 0) {
      literal.form = Literal::Form::kText;
      literal.text = Text();
      if (Below(2)) literal.dtype = DType::kInt64;
      if (Below(2)) literal.shape = Shape{Below(3)};
      return literal;
    }
    static constexpr DType kTypes[] = {DType::kFloat,  DType::kDouble, DType::kHalf,      DType::kBFloat16,
                                       DType::kInt8,   DType::kUInt64, DType::kBool,      DType::kString,
                                       DType::kQInt32, DType::kInt64,  DType::kComplex64, DType::kComplex128};
    const DType dtype = kTypes[Below(12)];
    literal.tensor = Tensor::Allocate(dtype, Below(2) ? Shape{Below(4)} : Shape{}).value();
    literal.dtype = dtype;
    literal.shape = literal.tensor.shape();
    if (dtype == DType::kString) {
      for (String& text : literal.tensor.values<String>()) text = Below(4) ? Text() : "\xFF" + Text();
    } else {
      auto* bytes = static_cast<uint8_t*>(literal.tensor.data());
      for (int64_t i = 0; i < literal.tensor.bytes(); ++i) bytes[i] = static_cast<uint8_t>(dtype == DType::kBool ? Below(2) : Below(256));
    }
    if (Below(5) == 0) literal.extra = "\"unit\": \"m\"";
    return literal;
  }

  InputItem Item() {
    if (Below(2)) return Value();
    return Wire{Cat("b", Below(9)), Below(2) ? "output" : "z", Below(3) - 1};
  }

  PageBlock Block(int index) {
    PageBlock block;
    block.id = Cat("b", index);
    block.type = "T" + Text();
    std::erase_if(block.type, [](char c) { return c >= 0 && (c < ' ' || c == 0x7F); });
    block.has_attrs = Below(2);
    if (block.has_attrs) block.attrs = Text();
    block.has_inputs = Below(3) > 0;
    for (int i = block.has_inputs ? Below(4) : 0; i > 0; --i) {
      PageInput input{Cat("in", i), Below(2) == 0, {}};
      const int items = input.list ? Below(4) : 1;
      for (int k = 0; k < items; ++k) input.items.push_back(Item());
      block.inputs.push_back(std::move(input));
    }
    if (Below(4) == 0) block.extra = "\"note\": {\"a\": [1, 2.50]}, \"n2\": \"é\"";
    return block;
  }

  std::mt19937 random_;
};

TEST_CASE("Random pages are written and read back the same", "[page]") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    INFO(seed);
    const Page page = RandomPage(seed).Make();
    const std::string text = WritePage(page);
    const ReadPageResult result = ReadText(text);
    for (size_t i = 0; i < result.diagnostics.all().size(); ++i) UNSCOPED_INFO(Finding(result, i));
    REQUIRE_FALSE(result.diagnostics.has_errors());
    REQUIRE(WritePage(result.page) == text);
    REQUIRE(result.page.blocks.size() == page.blocks.size());
    for (size_t b = 0; b < page.blocks.size(); ++b) {
      REQUIRE(result.page.blocks[b].inputs.size() == page.blocks[b].inputs.size());
      CHECK(result.page.blocks[b].attrs == page.blocks[b].attrs);
    }
  }
}

TEST_CASE("Weft pages in UTF-16", "[page]") {
  for (const bool big : {false, true}) {
    for (const bool mark : {false, true}) CHECK(Rewritten(Utf16(kCanonical[0], big, mark)) == kCanonical[0]);
  }
}

}  // namespace
}  // namespace weft
