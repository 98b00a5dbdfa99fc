// Literals as text, in every spelling of enuSpace's pages, and as JSON.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/runtime/page_test.h"
#include "weft/base/float16.h"

namespace weft {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Parsed(std::string_view text, std::optional<DType> dtype = std::nullopt, std::optional<Shape> shape = std::nullopt) {
  INFO(text);
  Result<Tensor> tensor = ParseTextLiteral(text, dtype, shape);
  INFO(ToString(tensor.status()));
  CHECK(tensor.ok());
  return tensor.ok() ? *tensor : Tensor();
}

std::string Refused(std::string_view text, std::optional<DType> dtype = std::nullopt, std::optional<Shape> shape = std::nullopt) {
  const Result<Tensor> tensor = ParseTextLiteral(text, dtype, shape);
  if (tensor.ok()) return Cat("accepted: ", *tensor);
  return Cat(CodeName(tensor.status().code()), ": ", tensor.status().message(), tensor.status().hint().empty() ? "" : " | ",
             tensor.status().hint());
}

TEST_CASE("Text literals: spellings", "[page]") {
  CHECK(SameBits(Parsed("{{1.5,3.5},{0.5f,1}}"), Tensor::Of<float>({1.5f, 3.5f, 0.5f, 1}, Shape{2, 2})));
  CHECK(SameBits(Parsed(" {\n{ 79 } , {110} }\n"), Tensor::Of<int32_t>({79, 110}, Shape{2, 1})));
  CHECK(SameBits(Parsed("1;2;3;4", DType::kDouble, Shape{2, 2}), Tensor::Of<double>({1, 2, 3, 4}, Shape{2, 2})));
  CHECK(SameBits(Parsed("1,2,3,4"), Tensor::Of<int32_t>({1, 2, 3, 4})));
  CHECK(SameBits(Parsed("1;2;"), Tensor::Of<int32_t>({1, 2})));
  CHECK(SameBits(Parsed("7"), Tensor::Scalar<int32_t>(7)));
  CHECK(SameBits(Parsed("{7}"), Tensor::Of<int32_t>({7})));
  CHECK(SameBits(Parsed("{}", DType::kFloat), Tensor::Of<float>({})));
  CHECK(SameBits(Parsed("{{},{}}", DType::kFloat), Tensor::Of<float>({}, Shape{2, 0})));
  CHECK(SameBits(Parsed("", DType::kFloat, Shape{0, 3}), Tensor::Of<float>({}, Shape{0, 3})));
  CHECK(SameBits(Parsed("{{1,2}}", std::nullopt, Shape{2}), Tensor::Of<int32_t>({1, 2})));
  CHECK(SameBits(Parsed("TRUE"), Tensor::Scalar(true)));
  CHECK(SameBits(Parsed("true;False"), Tensor::Of<bool>({true, false})));
  CHECK(SameBits(Parsed("1;0", DType::kBool), Tensor::Of<bool>({true, false})));
}

TEST_CASE("Text literals: strings", "[page]") {
  CHECK(SameBits(Parsed("\"a;b\";\"c\\n\\u00e9\\ud83d\\ude00\""), Tensor::Of<String>({"a;b", "c\n\xC3\xA9\xF0\x9F\x98\x80"})));
  CHECK(SameBits(Parsed("{\"a\",\"}\"}"), Tensor::Of<String>({"a", "}"})));
  CHECK(SameBits(Parsed("\"\""), Tensor::Scalar<String>("")));
  CHECK(SameBits(Parsed("a, b;c", DType::kString), Tensor::Of<String>({"a, b", "c"})));
  CHECK(SameBits(Parsed("00;04;;", DType::kString, Shape{4}), Tensor::Of<String>({"00", "04", "", ""})));
  CHECK(SameBits(Parsed("C:\\Users\\x", DType::kString), Tensor::Scalar<String>("C:\\Users\\x")));
  CHECK(Refused("\"C:\\Users\"") ==
        "invalid_argument: needs one of the escapes of JSON, found a backslash at character 4 | write \\\\ for a backslash");
  CHECK(Refused("\"abc") == "invalid_argument: needs a closing quote for the one at character 1");
  CHECK(Refused("\"\\ud83d\"") ==
        "invalid_argument: needs one of the escapes of JSON, found a backslash at character 2 | write \\\\ for a backslash");
  CHECK(Refused("\"a\" x") == "invalid_argument: needs ';' or ',', found 'x' at character 5");
}

TEST_CASE("Text literals: the type that the text tells", "[page]") {
  const std::vector<std::pair<std::string, DType>> kTypes = {
      {"1", DType::kInt32},          {"-1;2", DType::kInt32},       {"1.0", DType::kDouble},   {"1e3", DType::kDouble},
      {"1E3", DType::kDouble},       {"1.0f", DType::kFloat},       {"1;2;3f", DType::kFloat}, {"1+2j", DType::kComplex128},
      {"1f;2j", DType::kComplex128}, {"\"1\"", DType::kString},     {"true", DType::kBool},    {"inf;1", DType::kDouble},
      {"nan;1f", DType::kFloat},     {"{inf,1.5}", DType::kDouble},
  };
  for (const auto& [text, dtype] : kTypes) {
    INFO(text);
    CHECK(Parsed(text).dtype() == dtype);
  }
}

TEST_CASE("Text literals: numbers", "[page]") {
  CHECK(SameBits(Parsed("1.000000;2f;1e2", DType::kInt64), Tensor::Of<int64_t>({1, 2, 100})));
  CHECK(SameBits(Parsed("9223372036854775807;-9223372036854775808", DType::kInt64),
                 Tensor::Of<int64_t>({std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()})));
  CHECK(SameBits(Parsed("18446744073709551615", DType::kUInt64), Tensor::Scalar(std::numeric_limits<uint64_t>::max())));
  CHECK(SameBits(Parsed("+.5;-1.;-0;1e-60", DType::kFloat), Tensor::Of<float>({0.5f, -1.0f, -0.0f, 0.0f})));
  CHECK(SameBits(Parsed("inf;-INF;Infinity", DType::kFloat), Tensor::Of<float>({kInf, -kInf, kInf})));
  CHECK(std::isnan(Parsed("-nan(ind)", DType::kDouble).values<double>()[0]));
  CHECK(SameBits(Parsed("1+2j;-1.5e3-2e-1j;j;-j;4;(1-1j)"),
                 Tensor::Of<complex128>({{1, 2}, {-1500, -0.2}, {0, 1}, {0, -1}, {4, 0}, {1, -1}})));
  // Once rounded: by way of a double, or of a float, the last digit would be another one.
  CHECK(SameBits(Parsed("1.00000005960464478", DType::kFloat), Tensor::Scalar(1.00000011920928955f)));
  CHECK(SameBits(Parsed("1.00048828125000001", DType::kHalf), Tensor::Scalar(half(1.0f))));
  CHECK(SameBits(Parsed("1.000488281251", DType::kHalf), Tensor::Scalar(half(1.0009765625f))));
  CHECK(SameBits(Parsed("1.0039062501", DType::kBFloat16), Tensor::Scalar(bfloat16(1.0078125f))));
  CHECK(SameBits(Parsed("5.9604644775390625e-8", DType::kHalf), Tensor::Scalar(half(5.9604645e-8f))));
}

TEST_CASE("Text literals: exact errors with their place", "[page]") {
  CHECK(Refused("") == "invalid_argument: needs a value, found an empty text | an empty string is written \"\"");
  CHECK(Refused("abc") == "invalid_argument: needs a number, found 'abc' at character 1 | a string stands in double quotes");
  CHECK(Refused("1;2x;3") == "invalid_argument: needs a number, found '2x' at character 3");
  CHECK(Refused("1;;3") == "invalid_argument: needs a value, found ';' at character 3");
  CHECK(Refused("1,") == "invalid_argument: needs a value, found the end of the text");
  CHECK(Refused("{1,2") == "invalid_argument: needs ',' or '}', found the end of the text");
  CHECK(Refused("{1,2}}") == "invalid_argument: needs the end after the last brace, found '}' at character 6");
  CHECK(Refused("{{1,2},{3}}") == "invalid_argument: needs rows of one length: 2 elements, found 1 in the one that ends at character 10");
  CHECK(Refused("{1,{2}}") == "invalid_argument: needs elements that are nested equally deep, found '{' at character 4");
  CHECK(Refused("{{1},2}") == "invalid_argument: needs elements that are nested equally deep, found '2' at character 6");
  CHECK(Refused("{,1}") == "invalid_argument: needs a value, found ',' at character 2");
  CHECK(Refused("300", DType::kInt8) == "out_of_range: needs a number from -128 to 127 (DT_INT8), found 300 at character 1");
  CHECK(Refused("3000000000") == "out_of_range: needs a number from -2147483648 to 2147483647 (DT_INT32), found 3000000000 at character 1");
  CHECK(Refused("1.5", DType::kInt32) == "invalid_argument: needs a whole number (DT_INT32), found 1.5 at character 1");
  CHECK(Refused("1e999") == "out_of_range: needs a number that a double can hold, found '1e999' at character 1");
  CHECK(Refused("maybe", DType::kBool) == "invalid_argument: needs true or false (DT_BOOL), found 'maybe' at character 1");
  CHECK(Refused("1+2", DType::kComplex64) == "invalid_argument: needs a number, found '1+2' at character 1");
  CHECK(Refused("1;2;3", std::nullopt, Shape{2, 2}) == "invalid_argument: needs 4 values for the shape [2,2], found 3");
  CHECK(Refused("1", std::nullopt, Shape{1000000, 1000000}) ==
        "invalid_argument: needs 1000000000000 values for the shape [1000000,1000000], found 1");
  CHECK(Refused("1", DType::kResource) == "unsupported: a value of DT_RESOURCE cannot be written on a page");
  CHECK(Refused(std::string(10000, '{')) == "invalid_argument: needs at most 254 nested braces, found '{' at character 255");
}

TEST_CASE("Tensors as JSON come back with all bits", "[page]") {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Tensor, std::string>> kTensors = {
      {Tensor::Of<float>({1, 0.1f, -0.0f, kInf, -kInf, 1e-45f, 3.4028235e38f}),
       "{\"dtype\": \"DT_FLOAT\", \"shape\": [7], \"values\": [1, 0.1, -0, \"inf\", \"-inf\", 1e-45, 3.4028235e+38]}"},
      {Tensor::Of<double>({0.1, kNan}), "{\"dtype\": \"DT_DOUBLE\", \"shape\": [2], \"values\": [0.1, \"nan\"]}"},
      {Tensor::Of<half>({half(0.1f), half(65504.0f), half(5.9604645e-8f)}),
       "{\"dtype\": \"DT_HALF\", \"shape\": [3], \"values\": [0.1, 65504, 6e-08]}"},
      {Tensor::Of<bfloat16>({bfloat16(0.1f), bfloat16(3.0f)}), "{\"dtype\": \"DT_BFLOAT16\", \"shape\": [2], \"values\": [0.1, 3]}"},
      {Tensor::Of<int64_t>({std::numeric_limits<int64_t>::min(), 9007199254740993}),
       "{\"dtype\": \"DT_INT64\", \"shape\": [2], \"values\": [-9223372036854775808, 9007199254740993]}"},
      {Tensor::Of<uint64_t>({std::numeric_limits<uint64_t>::max()}),
       "{\"dtype\": \"DT_UINT64\", \"shape\": [1], \"values\": [18446744073709551615]}"},
      {Tensor::Of<int8_t>({-128, 127}, Shape{1, 2}), "{\"dtype\": \"DT_INT8\", \"shape\": [1, 2], \"values\": [-128, 127]}"},
      {Tensor::Of<bool>({true, false}), "{\"dtype\": \"DT_BOOL\", \"shape\": [2], \"values\": [true, false]}"},
      {Tensor::Of<complex64>({{1, -0.5f}, {kInf, 0}}),
       "{\"dtype\": \"DT_COMPLEX64\", \"shape\": [2], \"values\": [[1, -0.5], [\"inf\", 0]]}"},
      {Tensor::Of<String>({"a\"\\\n\x01\x7f", std::string("\0x", 2), "\xFF\xFE", "\xC3\xA9"}),
       "{\"dtype\": \"DT_STRING\", \"shape\": [4], \"values\": [\"a\\\"\\\\\\n\\u0001\x7f\", \"\\u0000x\", {\"base64\": \"//4=\"}, \"\xC3\xA9\"]}"},
      {Tensor::Scalar<int32_t>(5), "{\"dtype\": \"DT_INT32\", \"shape\": [], \"values\": [5]}"},
      {Tensor::Of<float>({}, Shape{2, 0}), "{\"dtype\": \"DT_FLOAT\", \"shape\": [2, 0], \"values\": []}"},
  };
  for (const auto& [tensor, text] : kTensors) {
    CHECK(WriteTensor(tensor) == text);
    Result<Tensor> read = ReadTensor(text);
    INFO(ToString(read.status()));
    REQUIRE(read.ok());
    CHECK(SameBits(*read, tensor));
  }
}

TEST_CASE("Every half and bfloat16 is written shortly and read back", "[page]") {
  const auto check = [](DType dtype, auto zero) {
    using T = decltype(zero);
    Tensor all = Tensor::Allocate(dtype, Shape{65536}).value();
    for (uint32_t i = 0; i < 65536; ++i) {
      T value = Eigen::numext::bit_cast<T>(static_cast<uint16_t>(i));
      all.values<T>()[i] = (Eigen::numext::isnan)(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    }
    const std::string text = WriteTensor(all);
    CHECK(text.size() < 65536 * 11);
    const Tensor read = ReadTensor(text).value();
    int wrong = 0;
    for (int i = 0; i < 65536; ++i) {
      const T a = all.values<T>()[i], b = read.values<T>()[i];
      wrong += (Eigen::numext::isnan)(a) ? !(Eigen::numext::isnan)(b)
                                         : Eigen::numext::bit_cast<uint16_t>(a) != Eigen::numext::bit_cast<uint16_t>(b);
    }
    CHECK(wrong == 0);
  };
  check(DType::kHalf, half());
  check(DType::kBFloat16, bfloat16());
}

TEST_CASE("ReadTensor: text, and what it refuses", "[page]") {
  CHECK(SameBits(ReadTensor("{\"text\": \"{1,2}\"}").value(), Tensor::Of<int32_t>({1, 2})));
  CHECK(SameBits(ReadTensor("{\"values\": [1, \"inf\"], \"shape\": [2], \"dtype\": \"DT_FLOAT\"}").value(), Tensor::Of<float>({1, kInf})));
  CHECK_FALSE(ReadTensor("5").ok());
  CHECK_FALSE(ReadTensor("[]").ok());
  CHECK_FALSE(ReadTensor("").ok());
  CHECK_FALSE(ReadTensor("{\"dtype\": \"DT_FLOAT\"}").ok());
  CHECK(ReadTensor("{\"dtype\": \"DT_INT8\", \"shape\": [1], \"values\": [300]}").status().place().pointer == "/values/0");
}

}  // namespace
}  // namespace weft
