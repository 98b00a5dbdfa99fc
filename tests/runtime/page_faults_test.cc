// Faults of Weft's own pages: each with its code, place, message and hint.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/runtime/page_test.h"
#include "weft/host/document.h"

namespace weft {
namespace {

struct Fault {
  const char* name;
  std::string text;
  std::vector<std::string> findings;
};

std::string Value(std::string_view members) { return ConstWith(Cat("{", members, "}")); }
std::string Block(std::string_view members) { return PageWith(Cat("{\"id\": \"a\", \"block\": \"A\", ", members, "}")); }

const std::string kValue = "/blocks/0/inputs/value";
const std::string kWireHint = " (a wire is written ID.port, or ID.port[2] for an element of a list port)";

std::vector<Fault> DocumentFaults() {
  return {
      {"empty", "", {"invalid_argument  : needs a page, found an empty file"}},
      {"blank", " \n\t", {"invalid_argument  : needs a page, found an empty file"}},
      {"an array", "[]", {"invalid_argument  : needs a page, which is an object, found an array"}},
      {"a number", "5", {"invalid_argument  : needs a page, which is an object, found a number"}},
      {"no keys",
       "{}",
       {"invalid_argument  : a page needs the key \"weft\" with the number of its format (add \"weft\": 1)",
        "invalid_argument  : a page needs the key \"blocks\" with a list of blocks"}},
      {"a newer format",
       "{\"weft\": 2, \"blocks\": 5}",
       {"unsupported /weft : the page has format 2; this version of Weft reads formats up to 1 (use a newer version of Weft)"}},
      {"format as text",
       "{\"weft\": \"1\", \"blocks\": []}",
       {"invalid_argument /weft : needs the number of the page format, 1, found a string"}},
      {"format 0",
       "{\"weft\": 0, \"blocks\": []}",
       {"invalid_argument /weft : needs the number of the page format, 1, found another number"}},
      {"wrong kinds",
       "{\"weft\": 1, \"page\": 3, \"blocks\": {}}",
       {"invalid_argument /page : needs a string, found a number", "invalid_argument /blocks : needs a list of blocks, found an object"}},
      {"blocks of wrong kinds",
       PageWith("5, [], {\"id\": \"a\", \"block\": 2}"),
       {"invalid_argument /blocks/0 : needs a block, which is an object, found a number",
        "invalid_argument /blocks/1 : needs a block, which is an object, found an array",
        "invalid_argument /blocks/2/block a: needs a string, found a number"}},
      {"broken JSON",
       "{\"weft\": 1,\n \"blocks\": [}",
       {"invalid_argument /blocks/0 : broken JSON at line 2, column 13: error while parsing value - unexpected '}'; expected '[', '{', or a literal"}},
      {"cut off",
       "{",
       {"invalid_argument  : broken JSON at line 1, column 2: error while parsing object key - unexpected end of input; expected string "
        "literal (the file ends too early: it may have been cut off)"}},
      {"a repeated key",
       "{\"weft\": 1, \"page\": \"p\", \"blocks\": [], \"blocks\": [{}]}",
       {"already_exists /blocks : the key 'blocks' is repeated in one object (remove one of the two)"}},
      {"a repeated port",
       Block("\"inputs\": {\"x\": \"b.y\", \"x\": \"c.y\"}"),
       {"already_exists /blocks/0/inputs/x a.x: the key 'x' is repeated in one object (remove one of the two)"}},
      {"bad UTF-8",
       PageWith("{\"id\": \"a\xff\", \"block\": \"A\"}"),
       {"invalid_argument /blocks/0/id : bad UTF-8 at byte 45 (line 1, column 46) (save the file as UTF-8 or UTF-16)"}},
      {"a number beyond double",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [], \"values\": [1e999]"),
       {"out_of_range " + kValue + "/values/0 c.value: a number at line 1, column 137 is too large for any type"}},
      {"a layout of lists",
       "{\"weft\": 1, \"blocks\": [], \"layout\": [[1, 2]]}",
       {"invalid_argument /layout : the layout is not {\"ID\": [x, y], ...} throughout; it is kept, but not used"}},
      {"an irregular layout",
       "{\"weft\": 1, \"blocks\": [], \"layout\": {\"a\": [1]}}",
       {"invalid_argument /layout : the layout is not {\"ID\": [x, y], ...} throughout; it is kept, but not used"}},
  };
}

std::vector<Fault> BlockFaults() {
  return {
      {"nothing in a block",
       PageWith("{}"),
       {"invalid_argument /blocks/0 : a block needs an \"id\"",
        "invalid_argument /blocks/0 : a block needs the key \"block\" with its type (for example \"block\": \"MatMul\")"}},
      {"an id that is no identifier",
       PageWith("{\"id\": \"1 a\", \"block\": \"A\"}"),
       {"invalid_argument /blocks/0/id 1 a: a block id needs the form [A-Za-z_][A-Za-z0-9_]*, found '1 a' (write '_1_a')"}},
      {"an empty id",
       PageWith("{\"id\": \"\", \"block\": \"A\"}"),
       {"invalid_argument /blocks/0/id : a block id needs a name, found an empty string"}},
      {"a duplicate id",
       PageWith("{\"id\": \"a\", \"block\": \"A\"}, {\"id\": \"b\", \"block\": \"A\"}, {\"id\": \"a\", \"block\": \"A\"}"),
       {"already_exists /blocks/2/id a: the id 'a' belongs to the block at /blocks/0 (ids are unique on a page: rename one of the two)"}},
      {"NUL in a type",
       PageWith("{\"id\": \"a\", \"block\": \"A\\u0000\"}"),
       {"invalid_argument /blocks/0/block a: a block type needs a name without NUL characters"}},
      {"NUL in a port",
       Block("\"inputs\": {\"\\u0000\": \"b.y\"}"),
       {std::string("invalid_argument /blocks/0/inputs/\0 a.\0: a port needs a name without NUL characters", 83)}},
      {"attributes of a wrong kind",
       Block("\"attrs\": 5"),
       {"invalid_argument /blocks/0/attrs a: needs a string or an object, found a number"}},
      {"an object as an attribute",
       Block("\"attrs\": {\"n\": {\"b\": 1}}"),
       {"invalid_argument /blocks/0/attrs/n a: an attribute needs a value or a list, found an object"}},
      {"inputs of a wrong kind",
       Block("\"inputs\": []"),
       {"invalid_argument /blocks/0/inputs a: needs an object of ports, found an array"}},
      {"many bad inputs, the id last",
       PageWith(
           "{\"inputs\": {\"x\": \"dy\", \"y\": 5, \"z\": [\"a.b[x]\", [\"a.b\"]], \"w\": \".x\", \"v\": \"a.b.c\", \"u\": \"a.b[-1]\"}, \"block\": \"A\", "
           "\"id\": \"late\"}"),
       {"invalid_argument /blocks/0/inputs/x late.x: 'dy' is not a wire" + kWireHint,
        "invalid_argument /blocks/0/inputs/y late.y: needs a wire \"ID.port\", a literal {...} or a list of them, found a number",
        "invalid_argument /blocks/0/inputs/z/0 late.z: 'a.b[x]' is not a wire" + kWireHint,
        "invalid_argument /blocks/0/inputs/z/1 late.z: needs a wire \"ID.port\" or a literal {...}, found a list in a list",
        "invalid_argument /blocks/0/inputs/w late.w: '.x' is not a wire" + kWireHint,
        "invalid_argument /blocks/0/inputs/v late.v: 'a.b.c' is not a wire" + kWireHint,
        "invalid_argument /blocks/0/inputs/u late.u: 'a.b[-1]' is not a wire" + kWireHint}},
      {"a pointer with escapes",
       Block("\"inputs\": {\"x/y~\": 1}"),
       {"invalid_argument /blocks/0/inputs/x~1y~0 a.x/y~: needs a wire \"ID.port\", a literal {...} or a list of them, found a number"}},
  };
}

std::vector<Fault> LiteralFaults() {
  return {
      {"unknown dtype",
       Value("\"dtype\": \"DT_FLOT\", \"shape\": [], \"values\": [1]"),
       {"invalid_argument " + kValue + "/dtype c.value: 'DT_FLOT' is not an element type (did you mean 'DT_FLOAT'?)"}},
      {"handles cannot be written",
       Value("\"dtype\": \"DT_RESOURCE\", \"shape\": [], \"values\": [1]"),
       {"unsupported " + kValue +
        "/dtype c.value: a value of DT_RESOURCE cannot be written on a page (wire the block that makes the handle)"}},
      {"wrong kinds",
       Value("\"dtype\": 1, \"shape\": 2, \"values\": 3"),
       {"invalid_argument " + kValue + "/dtype c.value: 'dtype' needs a string such as \"DT_FLOAT\", found a number",
        "invalid_argument " + kValue + "/shape c.value: 'shape' needs a list of sizes such as [2, 3], found a number",
        "invalid_argument " + kValue + "/values c.value: 'values' needs a list of values, found a number"}},
      {"count and shape",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [2], \"values\": [1]"),
       {"invalid_argument " + kValue + "/values c.value: needs 2 values for the shape [2], found 1"}},
      {"an absurd shape",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [1000000, 1000000], \"values\": [1]"),
       {"invalid_argument " + kValue + "/values c.value: needs 1000000000000 values for the shape [1000000,1000000], found 1"}},
      {"a negative size",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [-1], \"values\": []"),
       {"invalid_argument " + kValue + "/shape/0 c.value: needs a size of 0 or more, found -1"}},
      {"a count beyond 2^63",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [4000000000, 4000000000], \"values\": []"),
       {"invalid_argument " + kValue + "/shape c.value: the element count of [4000000000,4000000000] is more than 2^63"}},
      {"values out of range",
       Value("\"dtype\": \"DT_INT8\", \"shape\": [3], \"values\": [128, -129, 1.5]"),
       {"out_of_range " + kValue + "/values/0 c.value: needs a number from -128 to 127 (DT_INT8), found 128",
        "out_of_range " + kValue + "/values/1 c.value: needs a number from -128 to 127 (DT_INT8), found -129",
        "invalid_argument " + kValue + "/values/2 c.value: needs a whole number (DT_INT8), found 1.5"}},
      {"too large for a float",
       Value("\"dtype\": \"DT_FLOAT\", \"shape\": [], \"values\": [1e39]"),
       {"out_of_range " + kValue + "/values/0 c.value: needs a number that DT_FLOAT can hold, found 1e39"}},
      {"too large for a half",
       Value("\"dtype\": \"DT_HALF\", \"shape\": [], \"values\": [65520]"),
       {"out_of_range " + kValue + "/values/0 c.value: needs a number that DT_HALF can hold, found 65520"}},
      {"nested values, before their dtype",
       Value("\"values\": [[1, 2], 3], \"dtype\": \"DT_FLOAT\", \"shape\": [2]"),
       {"invalid_argument " + kValue +
        "/values/0 c.value: needs an element of DT_FLOAT, found an array (values are one flat list, in row-major order)"}},
      {"complex parts",
       Value("\"dtype\": \"DT_COMPLEX64\", \"shape\": [2], \"values\": [[1], [1, \"x\"]]"),
       {"invalid_argument " + kValue + "/values/0 c.value: needs [real, imaginary], found a list of 1",
        "invalid_argument " + kValue + "/values/1/1 c.value: needs a number as a part of a complex one, found a string"}},
      {"strings",
       Value("\"dtype\": \"DT_STRING\", \"shape\": [3], \"values\": [{\"base64\": \"@@@@\"}, {\"b\": 1}, 5]"),
       {"invalid_argument " + kValue + "/values/0/base64 c.value: needs base64, found the character '@' at 1",
        "invalid_argument " + kValue + "/values/1/b c.value: a string is written as text or as {\"base64\": \"...\"}, found the key 'b'",
        "invalid_argument " + kValue + "/values/2 c.value: needs a string (DT_STRING), found the number 5"}},
      {"a number as a bool",
       Value("\"dtype\": \"DT_BOOL\", \"shape\": [], \"values\": [1]"),
       {"invalid_argument " + kValue + "/values/0 c.value: needs true or false (DT_BOOL), found the number 1"}},
      {"an empty object",
       Value(""),
       {"invalid_argument " + kValue +
        " c.value: a literal needs one of \"values\", \"text\" and \"file\", found none (a tensor is {\"dtype\": \"DT_FLOAT\", \"shape\": [2], "
        "\"values\": [1, 2]})"}},
      {"no dtype",
       Value("\"shape\": [1], \"values\": [1]"),
       {"invalid_argument " + kValue + " c.value: a literal needs a \"dtype\" (for example \"dtype\": \"DT_FLOAT\")"}},
      {"no shape",
       Value("\"dtype\": \"DT_INT8\", \"values\": [1]"),
       {"invalid_argument " + kValue + " c.value: a literal needs a \"shape\" (a scalar has \"shape\": [])"}},
      {"a file without a folder",
       Value("\"dtype\": \"DT_INT8\", \"shape\": [1], \"file\": \"x\""),
       {"failed_precondition " + kValue +
        "/file c.value: needs the file 'x', but no files can be read here (load the page from its folder)"}},
  };
}

void CheckFaults(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const ReadPageResult result = ReadText(fault.text);
    std::vector<std::string> found;
    for (size_t i = 0; i < result.diagnostics.all().size(); ++i) found.push_back(Finding(result, i));
    CHECK(found == fault.findings);
  }
}

TEST_CASE("Faults of a page document", "[page]") { CheckFaults(DocumentFaults()); }
TEST_CASE("Faults of blocks and wires", "[page]") { CheckFaults(BlockFaults()); }
TEST_CASE("Faults of literals", "[page]") { CheckFaults(LiteralFaults()); }

TEST_CASE("Nesting 10,000 deep is refused", "[page]") {
  for (const char* open : {"[", "{\"a\": "}) {
    std::string deep;
    for (int i = 0; i < 10000; ++i) deep += open;
    for (const std::string& text : {ConstWith(deep), "{\"weft\": 1, \"blocks\": [], \"x\": " + deep, "{\"object\": " + deep}) {
      const ReadPageResult result = ReadText(text);
      REQUIRE(result.diagnostics.has_errors());
      const Status& last = result.diagnostics.all().back().status;
      CHECK(last.code() == Code::kInvalidArgument);
      CHECK(last.message() == "objects and arrays are nested more than 64 deep");
    }
  }
}

TEST_CASE("One report lists all faults, in order, up to a limit", "[page]") {
  std::string blocks;
  for (int i = 0; i < 3000; ++i) blocks += Cat(i ? ", " : "", "{\"id\": \"b", i, "\"}");
  const ReadPageResult result = ReadText(PageWith(blocks));
  CHECK(result.diagnostics.errors() == 3000);
  CHECK(result.diagnostics.all().size() == Diagnostics::kLimit);
  CHECK(result.diagnostics.all()[999].status.place().block == "b999");
  CHECK(result.page.blocks.size() == 3000);
}

TEST_CASE("Many names are compared in little time", "[page]") {
  std::string ports, ids;
  for (int i = 0; i < 50000; ++i) {
    ports += Cat(i ? ", " : "", "\"p", i, "\": \"a.b\"");
    ids += Cat(i ? ", " : "", "{\"id\": \"same\", \"block\": \"A\"}");
  }
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(ReadText(PageWith(Cat("{\"id\": \"a\", \"block\": \"A\", \"inputs\": {", ports, "}}"))).diagnostics.has_errors());
  CHECK(ReadText(PageWith(ids)).diagnostics.errors() == 49999);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("Mistyped keys of a block, and files that are no pages", "[page]") {
  for (const char* key : {"attr", "atrs", "input", "blocks"}) {
    INFO(key);
    const ReadPageResult read = ReadText(PageWith(Cat(R"({"id": "a", "block": "A", ")", key, R"(": "x"})")));
    REQUIRE(read.diagnostics.warnings() == 1);
    CHECK(read.diagnostics.all()[0].status.hint().starts_with("did you mean '"));
    CHECK(read.page.blocks[0].extra == Cat("\"", key, "\": \"x\""));
  }
  CHECK(ReadText(PageWith(R"({"id": "a", "block": "A", "note": "x", "color": "red", "label": "y", "x": 1})")).diagnostics.all().empty());
  CHECK(Finding(ReadText(R"({"sweep": 1, "page": "p.page.json", "grid": []})")) ==
        "invalid_argument  : needs a page, found the grid of a sweep (weft sweep runs it)");
  CHECK(Finding(ReadText(R"({"block": "Add", "cases": []})")) == "invalid_argument  : needs a page, found test cases of blocks (weft test runs them)");
}

TEST_CASE("Page files: folders, absent files, files beside the page", "[page]") {
  TempFolder folder;
  CHECK(Finding(ReadPageFile(folder.path())) == Cat("invalid_argument  : needs a file, found the folder '", folder.path().string(), "'"));
  CHECK(ReadPageFile(folder.path() / "absent.page.json").diagnostics.FirstError().code() == Code::kNotFound);
  CHECK(Finding(ReadPageFile(folder.Write("empty.json", ""))) == "invalid_argument  : needs a page, found an empty file");

  folder.Write("x.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12));
  const auto literal = [&](std::string_view file, int offset) {
    const std::string value = Cat("{\"dtype\": \"DT_FLOAT\", \"shape\": [2], \"file\": \"", file, "\", \"offset\": ", offset, "}");
    return ReadPageFile(folder.Write("p.page.json", ConstWith(value)));
  };
  const ReadPageResult good = literal("x.bin", 4);
  REQUIRE_FALSE(good.diagnostics.has_errors());
  const auto& value = *LiteralOf(good.page.blocks[0].inputs[0].items[0]);
  CHECK(SameBits(value.tensor, Tensor::Of<float>({1, 2})));
  CHECK(
      Finding(literal("x.bin", 8)) ==
      "data_loss /blocks/0/inputs/value/file c.value: needs 8 bytes from byte 8 of 'x.bin' for DT_FLOAT [2], found 4 (the file was cut off, or "
      "belongs to another version of the page)");
  const ReadPageResult huge =  // 8 TB that the file has not: none of it is asked of the machine
      ReadPageFile(folder.Write("p.page.json", ConstWith(R"({"dtype": "DT_DOUBLE", "shape": [1000000000000], "file": "x.bin", "offset": 4})")));
  CHECK(Finding(huge).starts_with("data_loss /blocks/0/inputs/value/file c.value: needs 8000000000000 bytes from byte 4 of 'x.bin' for DT_DOUBLE "
                                  "[1000000000000], found 8"));
  const ReadPageResult countless =
      ReadPageFile(folder.Write("p.page.json", ConstWith(R"({"dtype": "DT_INT8", "shape": [9223372036854775807], "file": "x.bin", "offset": 4})")));
  CHECK(Finding(countless).starts_with("data_loss /blocks/0/inputs/value/file c.value: needs 9223372036854775807 bytes from byte 4"));
  CHECK(literal("absent.bin", 0).diagnostics.FirstError().code() == Code::kNotFound);
  CHECK(literal("a/../x.bin", 0).diagnostics.FirstError().code() == Code::kNotFound);  // there is no 'a' to leave again
  std::filesystem::create_directory(folder.path() / "a");
  CHECK_FALSE(literal("a/../x.bin", 0).diagnostics.has_errors());
  for (const char* outside : {"/etc/passwd", "../x.bin", "a/../../x.bin", "link/passwd"}) {
    std::error_code ignored;
    std::filesystem::create_directory_symlink("/etc", folder.path() / "link", ignored);
    INFO(outside);
    const ReadPageResult result = literal(outside, 0);
    CHECK(result.diagnostics.FirstError().code() == Code::kPermissionDenied);
    const bool by_link = std::string_view(outside).starts_with("link");
    CHECK(result.diagnostics.FirstError().hint().starts_with(by_link ? "a link on its way leads out" : "allow its folder: --allow /"));
  }
}

}  // namespace
}  // namespace weft
