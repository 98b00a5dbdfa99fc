// Attribute text: every spelling that pages use, what each fault is called, and that no text does harm.
#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <random>

#include "tests/kit/sanitized.h"
#include "weft/block/attr.h"

using namespace weft;

namespace {

AttrValue Parsed(AttrType type, std::string_view text) {
  auto value = ParseAttrValue(type, text);
  INFO(text << ": " << ToString(value.status()));
  REQUIRE(value.ok());
  return *value;
}

template <class V>
V As(AttrType type, std::string_view text) {
  AttrValue value = Parsed(type, text);
  REQUIRE(value.index() == static_cast<size_t>(type) + 1);
  CHECK(Parsed(type, AttrText(value)) == value);
  return std::get<V>(value);
}

PartialShape ShapeOf(std::vector<int64_t> dims) { return PartialShape::Make(std::move(dims)).value(); }

void Refused(AttrType type, std::string_view text, std::string_view part = "") {
  auto value = ParseAttrValue(type, text);
  INFO(AttrTypeName(type) << " " << text);
  REQUIRE(!value.ok());
  CHECK(value.status().code() == Code::kInvalidArgument);
  CHECK_THAT(value.status().message(), Catch::Contains(std::string(part)));
}

constexpr Attr<Layout> kDataFormat{"data_format", "NHWC", "layout", "NHWC|NCHW"};
constexpr Attr<float> kEpsilon{"epsilon", "0.0001", "added to the variance"};
constexpr Attr<bool> kTraining{"is_training", "true", "whether"};
constexpr Attr<Ints> kStrides{"strides", kRequired, "a step an axis", nullptr, 2};
constexpr Attr<DType> kType{"dtype", kRequired, "the type", "DT_INT32|DT_INT64"};
constexpr Attr<int64_t> kAxis{"axis", "0", "an axis", nullptr, -1};

std::vector<AttrSpec> Specs() {
  AttrSpec inferred;
  inferred.name = "T";
  inferred.type = AttrType::kType;
  inferred.inferred = true;
  return {SpecOf(kDataFormat), SpecOf(kEpsilon), SpecOf(kTraining), SpecOf(kStrides), SpecOf(kType), SpecOf(kAxis), inferred};
}

struct Parse {
  explicit Parse(std::string_view text) { values = ParseAttrs(text, Specs(), diagnostics); }
  const Status& only() const {
    REQUIRE(diagnostics.all().size() == 1);
    return diagnostics.all()[0].status;
  }
  Diagnostics diagnostics;
  std::vector<AttrValue> values;
};

}  // namespace

TEST_CASE("attribute numbers", "[attr]") {
  CHECK(As<int64_t>(AttrType::kInt, " -7\n") == -7);
  CHECK(As<int64_t>(AttrType::kInt, "+3") == 3);
  CHECK(As<int64_t>(AttrType::kInt, "9223372036854775807") == INT64_MAX);
  CHECK(As<int64_t>(AttrType::kInt, "-9223372036854775808") == INT64_MIN);
  Refused(AttrType::kInt, "9223372036854775808", "an int of 64 bits");
  for (const char* text : {"", "x", "1.0", "1f", "--1", "+-1", "1 2", "0x10", "{1}", "\"1\""}) Refused(AttrType::kInt, text, "an int");

  CHECK(As<float>(AttrType::kFloat, "0.0001f") == 0.0001f);
  CHECK(As<float>(AttrType::kFloat, "1e-4") == 1e-4f);
  CHECK(As<float>(AttrType::kFloat, "1e-05f") == 1e-5f);
  CHECK(As<float>(AttrType::kFloat, "-6.0F") == -6.0f);
  CHECK(As<float>(AttrType::kFloat, "3") == 3.0f);
  CHECK(As<float>(AttrType::kFloat, ".5") == 0.5f);
  CHECK(As<float>(AttrType::kFloat, "1.f") == 1.0f);
  CHECK(As<float>(AttrType::kFloat, "inf") == INFINITY);
  CHECK(As<float>(AttrType::kFloat, "-inf") == -INFINITY);
  CHECK(std::isnan(std::get<float>(Parsed(AttrType::kFloat, "nan"))));
  CHECK(As<float>(AttrType::kFloat, "1e-60") == 0);
  CHECK(As<float>(AttrType::kFloat, "0.00000000000000000000000000000000000000000000000000000000000001") == 0);
  CHECK(As<float>(AttrType::kFloat, "1e-45") > 0);
  for (const char* text : {"1e39", "1000000000000000000000000000000000000000000", "1e999999999999999999999"}) {
    Refused(AttrType::kFloat, text, "a float of 32 bits");
  }
  for (const char* text : {"", "f", "x", "1ff", "1..2", "+-1", "inff", "nan(1)", "infinity", "-", "1e", "0x1p3"}) Refused(AttrType::kFloat, text, "a float");
}

TEST_CASE("attribute truth values, strings and types", "[attr]") {
  for (const char* text : {"true", "TRUE", "1"}) CHECK(As<bool>(AttrType::kBool, text));
  for (const char* text : {"false", "FALSE", "0"}) CHECK(!As<bool>(AttrType::kBool, text));
  for (const char* text : {"", "yes", "2", "truee"}) Refused(AttrType::kBool, text, "true or false");

  CHECK(As<std::string>(AttrType::kString, " NHWC ") == "NHWC");
  CHECK(As<std::string>(AttrType::kString, "two words") == "two words");
  CHECK(As<std::string>(AttrType::kString, "").empty());
  CHECK(As<std::string>(AttrType::kString, "\"\"").empty());
  CHECK(As<std::string>(AttrType::kString, R"("say \"hi\";\n then {go} = 1")") == "say \"hi\";\n then {go} = 1");
  CHECK(As<std::string>(AttrType::kString, R"("\u00e9\ud83d\ude00\t\u0000x")") == std::string("\xC3\xA9\xF0\x9F\x98\x80\t\0x", 9));
  CHECK(As<std::string>(AttrType::kString, "\"\xFF\"") == "\xFF");
  for (const char* text : {"\"", "\"a", "\"a\"b", R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", "\"\\"}) {
    Refused(AttrType::kString, text, "a string in double quotes");
  }

  CHECK(As<DType>(AttrType::kType, "DT_FLOAT") == DType::kFloat);
  CHECK(As<DType>(AttrType::kType, "float32") == DType::kFloat);
  for (const char* text : {"", "DT_VARIANT", "DT_INVALID", "\"DT_FLOAT\""}) Refused(AttrType::kType, text, "a type such as DT_FLOAT");
  CHECK(ParseAttrValue(AttrType::kType, "DT_FLOTA").status().hint() == "did you mean 'DT_FLOAT'?");
}

TEST_CASE("attribute shapes", "[attr]") {
  for (const char* text : {"{2,3}", "[2][3]", "[2,3]", "{ 2 , 3 }", "[ 2 ]\n[ 3 ]", "[2, 3]"}) {
    CHECK(As<PartialShape>(AttrType::kShape, text) == ShapeOf({2, 3}));
  }
  for (const char* text : {"[]", "{}"}) CHECK(As<PartialShape>(AttrType::kShape, text) == ShapeOf({}));
  CHECK(As<PartialShape>(AttrType::kShape, "?") == PartialShape());
  CHECK(As<PartialShape>(AttrType::kShape, "[?][-1][2]") == ShapeOf({-1, -1, 2}));
  CHECK(As<PartialShape>(AttrType::kShape, "{?}") == ShapeOf({-1}));
  CHECK(As<PartialShape>(AttrType::kShape, "[0]") == ShapeOf({0}));
  CHECK(As<PartialShape>(AttrType::kShape, "5") == ShapeOf({5}));
  for (const char* text : {"", "[", "]", "[2", "[2]3", "[2][", "[2][]", "[2,3][4]", "{2}{3}", "[a]", "{[2],[3]}", "{2,}", "[-2]", "x", "{",
                           "[4294967296][4294967296]"}) {
    Refused(AttrType::kShape, text);
  }
  std::string many;
  for (int i = 0; i < kMaxRank; ++i) many += "[1]";
  CHECK(As<PartialShape>(AttrType::kShape, many).rank() == kMaxRank);
  Refused(AttrType::kShape, many + "[1]", "rank");
}

TEST_CASE("attribute lists", "[attr]") {
  for (const char* text : {"{1,2,-3}", " { 1 , 2,\n-3 } ", "1,2,-3", "1;2;-3", "{1;2;-3}"}) CHECK(As<Ints>(AttrType::kInts, text) == Ints{1, 2, -3});
  CHECK(As<Ints>(AttrType::kInts, "7") == Ints{7});
  for (const char* text : {"{}", "{ }", ""}) CHECK(As<Ints>(AttrType::kInts, text).empty());
  for (const char* text : {"{1,}", "{,1}", "{1,,2}", "{1", "1}", "{1}{2}", "{{1}}", "{1,x}", "{1]", ","}) Refused(AttrType::kInts, text);
  Refused(AttrType::kInts, "{1,x}", "at element 1");
  CHECK(As<FloatList>(AttrType::kFloats, "{0.75f, 1.33f}") == FloatList{0.75f, 1.33f});
  CHECK(As<Strings>(AttrType::kStrings, "{a,b}") == Strings{"a", "b"});
  CHECK(As<Strings>(AttrType::kStrings, R"({"a,}",b c, ""})") == Strings{"a,}", "b c", ""});
  CHECK(As<Strings>(AttrType::kStrings, R"("x;y")") == Strings{"x;y"});
  CHECK(As<DTypes>(AttrType::kTypes, "DT_STRING") == DTypes{DType::kString});
  CHECK(As<DTypes>(AttrType::kTypes, "{DT_FLOAT,DT_INT64}") == DTypes{DType::kFloat, DType::kInt64});

  Shapes two{ShapeOf({2, 2}), ShapeOf({3})};
  for (const char* text : {"{2,2},{3}", "[2][2];[3]", "{[2][2],[3]}", "{{2,2},{3}}", "[2,2],[3]", "{2,2};[3]"}) CHECK(As<Shapes>(AttrType::kShapes, text) == two);
  for (const char* text : {"{2,2}", "[2][2]", "{[2][2]}", "{{2,2}}"}) CHECK(As<Shapes>(AttrType::kShapes, text) == Shapes{ShapeOf({2, 2})});
  CHECK(As<Shapes>(AttrType::kShapes, "{}").empty());
  CHECK(As<Shapes>(AttrType::kShapes, "[]") == Shapes{ShapeOf({})});
  CHECK(As<Shapes>(AttrType::kShapes, "{[],{}}") == Shapes{ShapeOf({}), ShapeOf({})});
  CHECK(As<Shapes>(AttrType::kShapes, "?") == Shapes{PartialShape()});
  CHECK(As<Shapes>(AttrType::kShapes, "{?,?}") == Shapes{PartialShape(), PartialShape()});
  CHECK(As<Shapes>(AttrType::kShapes, "{[?],[],[2]}") == Shapes{ShapeOf({-1}), ShapeOf({}), ShapeOf({2})});
  for (const char* text : {"{[2],3}", "[2];x", "{[2],", "{{{2}}}", "[2],"}) Refused(AttrType::kShapes, text);
}

TEST_CASE("attribute text is split by its specs", "[attr]") {
  Parse all("data_format_ = NCHW;epsilon_=0.001f ; is_training = FALSE;\n strides_ = {1,2,2,1};dtype_=DT_INT64;T_=DT_FLOAT");
  CHECK(all.diagnostics.all().empty());
  CHECK(AttrAs<Layout>(all.values[0]) == Layout::NCHW);
  CHECK(AttrAs<float>(all.values[1]) == 0.001f);
  CHECK(AttrAs<bool>(all.values[2]) == false);
  CHECK(AttrAs<Ints>(all.values[3]) == Ints{1, 2, 2, 1});
  CHECK(AttrAs<DType>(all.values[4]) == DType::kInt64);
  CHECK(AttrAs<int64_t>(all.values[5]) == 0);
  CHECK(AttrAs<DType>(all.values[6]) == DType::kFloat);

  Parse defaults(" ; data_format_ = ;;strides_ = 1;2 ;dtype_ = DT_INT32; ; ");
  CHECK(defaults.diagnostics.all().empty());
  CHECK(AttrAs<Layout>(defaults.values[0]) == Layout::NHWC);
  CHECK(AttrAs<float>(defaults.values[1]) == 0.0001f);
  CHECK(AttrAs<Ints>(defaults.values[3]) == Ints{1, 2});
  CHECK(std::holds_alternative<std::monostate>(defaults.values[6]));
}

TEST_CASE("faults of attribute text are named", "[attr]") {
  const std::string needed = ";strides_ = {1,1};dtype_ = DT_INT32";
  auto fault = [&](std::string text, Code code, std::string port, std::string part, std::string hint = "") {
    Parse parse(text + needed);
    INFO(text << " -> " << ToString(parse.only()));
    CHECK(parse.only().code() == code);
    CHECK(parse.only().place().port == port);
    CHECK_THAT(parse.only().message(), Catch::Contains(part));
    CHECK(parse.only().hint() == hint);
  };
  fault("data_fromat_ = NHWC", Code::kNotFound, "data_fromat", "no attribute 'data_fromat'", "did you mean 'data_format'?");
  fault("data_format_ = NHCW", Code::kInvalidArgument, "data_format", "needs one of NHWC, NCHW, found 'NHCW'", "did you mean 'NHWC'?");
  fault("epsilon_ = small", Code::kInvalidArgument, "epsilon", "needs a float, found 'small'");
  fault("epsilon_ = \"1\"", Code::kInvalidArgument, "epsilon", "needs a float", "leave out the quotes");
  fault("axis_ = -2", Code::kInvalidArgument, "axis", "needs -1 or more, found -2");
  fault("axis_ = 1}", Code::kInvalidArgument, "axis", "found a '}' that nothing opened");
  fault("NHWC", Code::kInvalidArgument, "", "needs 'name = value;', found 'NHWC'");
  fault("= 3", Code::kInvalidArgument, "", "needs 'name = value;', found '= 3'");

  Parse repeated("axis_ = 1;axis = 2" + needed);
  CHECK(repeated.only().place().port == "axis");
  CHECK(repeated.diagnostics.warnings() == 1);
  CHECK(AttrAs<int64_t>(repeated.values[5]) == 1);

  CHECK(Parse("dtype_ = DT_INT32").only().message() == "needs a value of type list(int), found none");
  CHECK(Parse("strides_ = {1,1}").only().place().port == "dtype");
  CHECK(Parse("strides_ = 1;dtype_ = DT_INT32").only().message() == "needs 2 elements or more, found 1");
  CHECK(Parse("strides_ = {1,1};dtype_ = DT_FLOAT").only().message() == "needs one of DT_INT32, DT_INT64, found DT_FLOAT");
  CHECK(Parse("strides_ = {1,1;dtype_ = DT_INT32").diagnostics.errors() == 1);  // what it swallowed is not missed as well
  Parse open("strides_ = {1,1};dtype_ = DT_INT32;T_ = {");
  CHECK(open.only().place().port == "T");
  CHECK(open.only().message() == "needs a closing '}', found the end of the value");
  CHECK(Parse("strides_ = {1,1};dtype_ = \"DT").only().message() == "needs a closing quote, found the end of the text");
}

TEST_CASE("one attribute value is checked by its spec", "[attr]") {
  CHECK(CheckAttr(SpecOf(kAxis), AttrValue(int64_t{3})).ok());
  CHECK(CheckAttr(SpecOf(kAxis), AttrValue()).ok());
  CHECK(CheckAttr(SpecOf(kStrides), AttrValue()).place().port == "strides");
  Status wrong = CheckAttr(SpecOf(kAxis), AttrValue(3.0f));
  CHECK(wrong.code() == Code::kInvalidArgument);
  CHECK(wrong.place().port == "axis");
  CHECK(wrong.message() == "needs a value of type int, found float '3'");
  CHECK(SpecOf(kDataFormat).allowed == Strings{"NHWC", "NCHW"});
  CHECK(SpecOf(kDataFormat).default_value == AttrValue(std::string("NHWC")));
  CHECK(!SpecOf(kStrides).default_value);
  CHECK(AttrTypeName(AttrType::kShapes) == "list(shape)");
}

TEST_CASE("no attribute text does harm", "[attr]") {
  std::mt19937 random(7);
  const std::string seed = R"(data_format_ = NHWC;epsilon_ = 0.0001f;strides_ = {1,2,2,1};dtype_ = DT_INT32;T_ = [2][?];axis_ = "a\"\u00e9b";)";
  const std::string marks = "{}[];,=\"\\_?-+.ef01 \n\xFF";
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (int edits = 1 + static_cast<int>(random() % 6); edits > 0 && !text.empty(); --edits) {
      size_t at = random() % text.size();
      char mark = marks[random() % marks.size()];
      switch (random() % 4) {
        case 0: text[at] = mark; break;
        case 1: text.insert(at, 1, mark); break;
        case 2: text.erase(at, 1 + random() % 8); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
      }
    }
    Parse parse(text);
    REQUIRE(parse.values.size() == Specs().size());
    for (int type = 0; type <= static_cast<int>(AttrType::kShapes); ++type) {
      auto value = ParseAttrValue(static_cast<AttrType>(type), text.substr(random() % text.size()));
      if (!value.ok() || type == static_cast<int>(AttrType::kFloat)) continue;
      auto again = ParseAttrValue(static_cast<AttrType>(type), AttrText(*value));
      INFO(text << " -> " << AttrText(*value));
      REQUIRE(again.ok());
    }
  }
}

TEST_CASE("long attribute text takes linear time", "[attr]") {
  auto start = std::chrono::steady_clock::now();
  for (const std::string& piece : {std::string(";"), std::string("a;"), std::string("{"), std::string("[]"), std::string("x = 1;"), std::string("\""),
                                   std::string("axis = 1;"), std::string("; a b"), std::string("1,")}) {
    std::string text = "strides_ = ";
    for (int i = 0; i < 200000; ++i) text += piece;
    Parse parse(text);
    for (int type = 0; type <= static_cast<int>(AttrType::kShapes); ++type) (void)ParseAttrValue(static_cast<AttrType>(type), text).ok();
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(kit::kSanitized ? 200 : 20));
}
