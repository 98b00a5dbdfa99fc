// enuSpace's pages: the runtime JSON and the design SVG, small ones made here and published ones where they are at hand.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/runtime/page_test.h"
#include "weft/host/document.h"

namespace weft {
namespace {

const PageBlock& BlockOf(const Page& page, std::string_view id) {
  static const PageBlock kNone;
  const int index = page.Find(id);
  CHECK(index >= 0);
  return index < 0 ? kNone : page.blocks[static_cast<size_t>(index)];
}

// "port=wire,wire", "port='text' dtype shape" or "port=tensor" for each input, in order.
std::string Inputs(const PageBlock& block) {
  std::string out;
  for (const PageInput& input : block.inputs) {
    out += Cat(out.empty() ? "" : " ", input.port, "=");
    for (size_t i = 0; i < input.items.size(); ++i) {
      if (i > 0) out += ",";
      if (const auto* wire = std::get_if<Wire>(&input.items[i])) {
        out += ToString(*wire);
        continue;
      }
      const auto& literal = *LiteralOf(input.items[i]);
      if (literal.form == Literal::Form::kText) out += Cat("'", literal.text, "'", literal.dtype ? Cat(":", *literal.dtype) : "");
      else out += ToString(literal.tensor);
      if (literal.shape) out += ToString(*literal.shape);
    }
  }
  return out;
}

std::string RuntimePin(std::string_view name, std::string_view interface, std::string_view value, std::string_view from = "",
                       std::string_view pin = "", std::string_view more = "") {
  return Cat("{\"pin-name\":\"", name, "\",\"pin-type\":\"string\",\"pin-save\":\"text\",\"pin-shape\":\"\",\"pin-interface\":\"",
             interface, "\",\"pin-initial\":\"", value, "\",\"in-symbol-id\":\"", from, "\",\"in-symbol-pin-name\":\"", pin, "\"", more,
             "}");
}

std::string RuntimeObject(std::string_view symbol, std::string_view id, std::string_view inputs, std::string_view outputs = "") {
  return Cat("{\"symbol-name\":\"", symbol, "\",\"id\":\"", id, "\",\"input\":[", inputs, "],\"output\":[", outputs, "]}");
}

std::string RuntimeDocument() {
  const std::string sum =
      RuntimeObject("#AddN", "S",
                    RuntimePin("scope", "Scope", "scope") + "," + RuntimePin("inputs", "InputList", "", "A", "output") + "," +
                        RuntimePin("attrs", "AddN::Attrs", "a_ = 1") + "," + RuntimePin("inputs", "InputList", "", "G", "grad_outputs[1]") +
                        "," + RuntimePin("empty", "Input", ""),
                    RuntimePin("sum", "Output", "", "X", "y"));
  const std::string constant = RuntimeObject(
      "#Const", "A",
      "{\"pin-name\":\"val\",\"pin-type\":\"double\",\"pin-save\":\"text\",\"pin-shape\":\"[2][2]\",\"pin-interface\":\"Input::Initializer\","
      "\"pin-initial\":\"1,2,3,4\",\"in-symbol-id\":\"\"}",
      "{\"pin-name\":\"result_output\",\"pin-type\":\"double\",\"pin-shape\":\"[2]\",\"pin-initial\":\"1;2\"}");
  return Cat("{\"object\":[", sum, ",", constant, "]}");
}

TEST_CASE("Runtime pages: pins become inputs, attributes and results", "[page]") {
  const std::string text = RuntimeDocument();
  for (const std::string& bytes : {text, "\xEF\xBB\xBF" + text, Utf16(text, false), Utf16(text, true)}) {
    const ReadPageResult result = ReadText(bytes, "folder/some.json");
    REQUIRE(result.diagnostics.all().empty());
    const Page& page = result.page;
    CHECK(page.format == Page::Format::kEnuSpaceRuntime);
    CHECK(page.name == "some");
    REQUIRE(page.blocks.size() == 2);
    CHECK(page.blocks[0].type == "AddN");
    CHECK(page.blocks[0].attrs == "a_ = 1");
    CHECK(BlockPointer(page, 1) == "/object/1");
    CHECK(Inputs(page.blocks[0]) == "inputs=A.output,G.grad_outputs[1]");
    CHECK(page.blocks[0].inputs[0].list);
    CHECK(Inputs(page.blocks[1]) == "val='1,2,3,4':DT_DOUBLE[2,2]");
    REQUIRE(page.recorded.size() == 1);
    CHECK(page.recorded[0].block == "A");
    CHECK(page.recorded[0].port == "output");
    CHECK(SameBits(page.recorded[0].value.tensor, Tensor::Of<double>({1, 2})));
  }
}

TEST_CASE("Runtime pages: faults", "[page]") {
  const auto finding = [](std::string_view objects, size_t index = 0) {
    return Finding(ReadText(Cat("{\"object\":[", objects, "]}"), "p.json"), index);
  };
  CHECK(Finding(ReadText("{\"object\": 5}")) == "invalid_argument /object : needs a list, found a number");
  CHECK(finding("5") == "invalid_argument /object/0 : needs an object, found a number");
  CHECK(finding("{}") == "invalid_argument /object/0 : a block needs an \"id\"");
  CHECK(finding("{}", 1) == "invalid_argument /object/0 : a block needs a \"symbol-name\" (for example \"#MatMul\")");
  CHECK(finding(RuntimeObject("#A", "x y", "")) ==
        "invalid_argument /object/0/id x y: the id 'x y' is not of the form [A-Za-z_][A-Za-z0-9_]*; it is kept");
  CHECK_FALSE(ReadText(Cat("{\"object\":[", RuntimeObject("#A", "x y", ""), "]}")).diagnostics.has_errors());
  CHECK(ReadText(Cat("{\"object\":[", RuntimeObject("#A", "x.y", ""), "]}")).diagnostics.has_errors());
  CHECK(finding(RuntimeObject("#A", "a", "") + "," + RuntimeObject("#B", "a", "")) ==
        "already_exists /object/1/id a: the id 'a' belongs to the block at /object/0 (ids are unique on a page: rename one of the two)");
  CHECK(finding(RuntimeObject("#A", "a", "{}")) == "invalid_argument /object/0/input/0 a: a pin needs a \"pin-name\"");
  CHECK(finding(RuntimeObject("#A", "a", "{\"pin-name\":\"v\",\"pin-shape\":\"[2\",\"pin-initial\":\"1\"}")) ==
        "invalid_argument /object/0/input/0 a.v: needs a shape such as [2][3], found '[2'");
  CHECK(finding(RuntimeObject("#A", "a", "{\"pin-name\":\"v\",\"pin-shape\":\"[-2]\",\"pin-initial\":\"1\"}"))
            .starts_with("invalid_argument /object/0/input/0 a.v: "));
  CHECK(finding(RuntimeObject("#A", "a", "{\"pin-name\":\"v\",\"pin-type\":\"flot\",\"pin-initial\":\"1\"}")) ==
        "invalid_argument /object/0/input/0 a.v: the pin type 'flot' is not known; the text of the value decides (did you mean 'float'?)");
  CHECK(finding(RuntimeObject("#A", "a", RuntimePin("v", "Input", "", "b", "")))
            .starts_with("invalid_argument /object/0/input/0 a.v: 'b.' is not a wire"));
  const std::string cut = Utf16(RuntimeDocument(), false);
  CHECK(Finding(ReadText(cut.substr(0, 101))) ==
        "data_loss  : the UTF-16 text ends in the middle of a character, at byte 100 (the file was cut off)");
  CHECK(ReadText(cut.substr(0, 100)).diagnostics.FirstError().code() == Code::kInvalidArgument);
  const std::string bad = cut.substr(0, 20) + std::string("\x00\xDC", 2) + cut.substr(22);
  CHECK(Finding(ReadText(bad)) == "invalid_argument  : bad UTF-16: a low surrogate without its high one, at byte 20");
}

constexpr const char* kDesign = R"svg(<?xml version="1.0" encoding="UTF-16"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" transform="translate(5,5)"><script><![CDATA[a < b]]></script>
<g transform="translate(10.00,20.00)">
<use id="ID_W" type="tensorflow" xlink:href="#Variable" transform="translate(1.25,-2.50) rotate(0.00)" x="0.00">
<pg-set-pin variable="#scope" shape="" var-type="string" value="scope"/><pg-set-pin variable="#attrs" var-type="string" value="container_ =;"/>
<pg-set-pin variable="#initvalues[2][1]" save-type="binary" shape="[2][1]" var-type="float" binary-pos="4"/>
<pg-set-pin variable="#result_ref[2][1]" save-type="binary" shape="[2][1]" var-type="float" binary-pos="4"/>
<pg-set-pin variable="#result_on" shape="" var-type="bool" value="TRUE"/>
<pg-set-pin variable="#result_list[3][2]" shape="[2]" var-type="int" value="7;8"/>
<pg-set-pin variable="#result_stale[3]" shape="[3]" var-type="int" value="0"/></use></g>
<use id="S" type="tensorflow" xlink:href="#ClientSession"><pg-set-pin variable="#device" var-type="string" value="/cpu:0"/>
<pg-set-pin variable="#fetch_outputs" var-type="string" value=""/><pg-set-pin variable="#SHOW_DEBUG" var-type="bool" value="FALSE"/></use>
<use id="LCD" type="logic" xlink:href="#LCD"/>
<polyline><pg-link from-id="ID_W" param-from="ref" to-id="S" param-to="fetch_outputs"/></polyline>
<polyline><pg-link from-id="G" param-from="grad_outputs[1]" to-id="S" param-to="fetch_outputs"/></polyline>
<polyline><pg-link from-id="ID_W" param-from="result_ref" to-id="LCD" param-to="input"/></polyline></svg>)svg";

const std::string kDesignData("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12);

TEST_CASE("Design pages: pins, wires, places, results", "[page]") {
  TempFolder folder;
  folder.Write("d.dat", kDesignData);
  for (const bool utf16 : {false, true}) {
    const ReadPageResult result = ReadPageFile(folder.Write("d.svg", utf16 ? Utf16(kDesign, false) : kDesign));
    REQUIRE_FALSE(result.diagnostics.has_errors());
    REQUIRE(result.diagnostics.all().size() == 1);
    CHECK(result.diagnostics.all()[0].severity == Severity::kNote);
    const Page& page = result.page;
    CHECK(page.format == Page::Format::kEnuSpaceDesign);
    CHECK(page.name == "d");
    REQUIRE(page.blocks.size() == 2);
    CHECK(page.blocks[0].attrs == "container_ =;");
    CHECK(Inputs(page.blocks[0]) == "initvalues=DT_FLOAT [2,1] {{1},{2}}[2,1]");
    CHECK(Inputs(page.blocks[1]) == "device='/cpu:0' fetch_outputs=ID_W.ref,G.grad_outputs[1] SHOW_DEBUG='FALSE':DT_BOOL");
    REQUIRE(page.layout.size() == 2);
    CHECK(page.layout[0].x == 11.25);
    CHECK(page.layout[0].y == 17.5);
    REQUIRE(page.recorded.size() == 4);
    CHECK(SameBits(page.recorded[0].value.tensor, Tensor::Of<float>({1, 2}, Shape{2, 1})));
    CHECK(SameBits(page.recorded[1].value.tensor, Tensor::Scalar(true)));
    CHECK(page.recorded[2].port == "list");
    CHECK(page.recorded[2].index == 3);
    CHECK(SameBits(page.recorded[2].value.tensor, Tensor::Of<int32_t>({7, 8})));
    CHECK(page.recorded[3].value.form == Literal::Form::kText);  // stale: fewer values than the shape says
  }
}

TEST_CASE("Design pages: faults", "[page]") {
  TempFolder folder;
  folder.Write("d.dat", kDesignData.substr(0, 11));
  const ReadPageResult cut = ReadPageFile(folder.Write("d.svg", kDesign));
  CHECK(cut.diagnostics.errors() == 2);
  CHECK(
      Finding(cut) ==
      "data_loss /use/0/pg-set-pin/2 ID_W.initvalues: needs 8 bytes from byte 4 of 'd.dat' for DT_FLOAT [2,1], found 7 (the file was cut off, or "
      "belongs to another version of the page)");
  CHECK(Finding(cut, 1).starts_with("data_loss /use/0/pg-set-pin/3 ID_W.result_ref: "));
  std::filesystem::remove(folder.path() / "d.dat");
  const ReadPageResult absent = ReadPageFile(folder.path() / "d.svg");
  CHECK(absent.diagnostics.errors() == 1);  // the initial value is needed, the recorded result is not
  CHECK(Finding(absent).starts_with("not_found /use/0/pg-set-pin/2 ID_W.initvalues: the file 'd.dat' does not exist"));
  CHECK(Finding(ReadText("<svg><use></svg>", "p.svg")) ==
        "invalid_argument  : broken XML at line 1, column 13: Start-end tags mismatch (the file may have been cut off)");
  CHECK(Finding(ReadText("<a/>", "p.svg")) == "invalid_argument  : needs a design page, whose first element is <svg>, found <a>");
  CHECK(Finding(ReadText("<svg>\xC3</svg>", "p.svg")) ==
        "invalid_argument  : bad UTF-8 at byte 5 (line 1, column 6) (save the file as UTF-8 or UTF-16)");
  CHECK(Finding(ReadText(std::string("<svg>\0</svg>", 12), "p.svg")) ==
        "invalid_argument  : needs text without NUL characters, found one at line 1, column 6");
  CHECK(Finding(ReadText("<svg><use type=\"tensorflow\"/></svg>", "p.svg")) == "invalid_argument /use/0 : a block needs an id");
  CHECK(Finding(ReadText("<svg><pg-link from-id=\"a\" to-id=\"b\" param-to=\"x\"/></svg>", "p.svg")) ==
        "not_found /pg-link/0 b.x: a wire leads from 'a' to 'b', which does not exist");
  for (const char* picture : {"<svg/>", "<svg><g><path d=\"M0 0\"/></g><use xlink:href=\"#path\"/></svg>"}) {
    const bool has_widget = std::string_view(picture).find("<use") != std::string_view::npos;
    CHECK(Finding(ReadText(picture, "p.svg")) ==
          (has_widget ? "none" : "invalid_argument  : needs a design page of enuSpace, found a picture: it has neither blocks nor wires"));
  }
  CHECK_FALSE(ReadText("<svg pg-xcenter=\"0.00\"></svg>", "p.svg").diagnostics.has_errors());  // a page that has no block yet
  std::string deep = "<svg pg-xcenter=\"0.00\">";
  for (int i = 0; i < 100000; ++i) deep += "<g>";
  CHECK(ReadText(deep, "p.svg").diagnostics.has_errors());
  for (int i = 0; i < 100000; ++i) deep += "</g>";
  CHECK_FALSE(ReadText(deep + "</svg>", "p.svg").diagnostics.has_errors());
}

struct Published {
  const char* file;
  size_t blocks, wires, literals, recorded, layout;
};

TEST_CASE("Published pages are read without a fault", "[page]") {
  const std::filesystem::path folder = std::filesystem::path(WEFT_SOURCE_DIR) / ".." / "shared" / "enuspace" / "pages";
  if (!std::filesystem::exists(folder)) {
    std::cout << "skipped: published pages, as " << folder.string() << " is absent\n";
    return;
  }
  static constexpr Published kPages[] = {
      {"basic.json", 4, 3, 5, 0, 0},
      {"gradient_descent_xnwn_b.json", 16, 21, 19, 0, 0},
      {"Xor.svg", 46, 68, 30, 45, 46},
      {"addsymbolicgradients.svg", 36, 60, 14, 34, 36},
      {"convolution_neural_network_eval.svg", 62, 70, 64, 66, 62},
      {"mnistTrain_softmax10.svg", 65, 85, 58, 71, 65},
      {"one_hot.svg", 3, 2, 7, 2, 3},
  };
  for (const Published& published : kPages) {
    INFO(published.file);
    const ReadPageResult result = ReadPageFile(folder / published.file);
    CHECK_FALSE(result.diagnostics.has_errors());
    CHECK(result.diagnostics.warnings() == 0);
    size_t wires = 0, literals = 0;
    for (const PageBlock& block : result.page.blocks) {
      for (const PageInput& input : block.inputs) {
        for (const InputItem& item : input.items) ++(std::holds_alternative<Wire>(item) ? wires : literals);
      }
    }
    CHECK(result.page.blocks.size() == published.blocks);
    CHECK(wires == published.wires);
    CHECK(literals == published.literals);
    CHECK(result.page.recorded.size() == published.recorded);
    CHECK(result.page.layout.size() == published.layout);
    const std::string converted = WritePage(result.page);
    const ReadPageResult again = ReadText(converted);
    CHECK(again.diagnostics.all().empty());
    CHECK(WritePage(again.page) == converted);
  }
  const Page cnn = ReadPageFile(folder / "convolution_neural_network_eval.svg").page;
  const auto& weights = *LiteralOf(BlockOf(cnn, "ID_TRAIN_W").inputs[0].items[0]);
  CHECK(weights.tensor.dtype() == DType::kFloat);
  CHECK(weights.tensor.shape() == Shape{10, 3136});
  const Page gradients = ReadPageFile(folder / "addsymbolicgradients.svg").page;
  CHECK(Inputs(BlockOf(gradients, "ID_ADD")) == "outputs=ID_1eYS8f0.z inputs=ID_W1.ref,ID_W2.ref,ID_W3.ref,ID_B1.ref,ID_B2.ref,ID_B3.ref");
  CHECK(Inputs(BlockOf(gradients, "ID_1eYR9f28")).find("delta=ID_ADD.grad_outputs[1]") != std::string::npos);
  const Page descent = ReadPageFile(folder / "gradient_descent_xnwn_b.json").page;
  CHECK(Inputs(BlockOf(descent, "ID_W")) == "shape='{1,3}' dtype='DT_DOUBLE' initvalues='{{1.5,3.5,0.5}}'");
  CHECK(BlockOf(descent, "ID_1e1xrC0").attrs == "transpose_a_ = false;transpose_b_ =true;");
}

}  // namespace
}  // namespace weft
