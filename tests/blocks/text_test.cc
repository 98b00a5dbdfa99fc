// Blocks of strings and messages on what asks for more memory than there is, and on messages that are damaged.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

constexpr int64_t kLimit = int64_t{16} << 20;

Tensor Word(std::string_view text) { return Tensor::Scalar<String>(String(text)); }
Tensor Words(std::string_view text) { return Tensor::Of<String>({String(text)}); }
Tensor NoWords() { return Tensor::Allocate(DType::kString, Shape{0}).value(); }

Code CodeWithin(BlockTester tester) { return tester.Once(kLimit).Run().status.code(); }

/// A field of bytes.
std::string Field(int number, std::string_view bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size(); ; size >>= 7) {
    field.push_back(static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0)));
    if (size <= 0x7F) break;
  }
  return field.append(bytes);
}
std::string Feature(std::string_view key, int kind, std::string_view list) { return Field(1, Field(1, key) + Field(2, Field(kind, list))); }

std::string Mutated(std::string text, std::mt19937& random) {
  for (uint32_t slips = 1 + random() % 3; slips > 0 && !text.empty(); --slips) {
    const size_t at = random() % text.size();
    if (random() % 4 == 0) text.resize(at);
    else if (random() % 2 == 0) text[at] = static_cast<char>(random());
    else text.insert(at, text, at, 1 + random() % 8);
  }
  return text;
}

}  // namespace

TEST_CASE("strings that are too long for the page's memory are refused before they are made", "[text]") {
  const Tensor mega = Word(std::string(size_t{1} << 20, 'a'));
  CHECK(CodeWithin(BlockTester(Catalog(), "AsString").Attrs("width_ = 2000000000;").Input("input", Tensor::Scalar(1))) == Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "AsString").Attrs("precision_ = 2000000000;").Input("input", Tensor::Scalar(1.5))) ==
        Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "StringJoin").Inputs("inputs", std::vector<Tensor>(100, mega))) == Code::kResourceExhausted);
  Tensor many = Tensor::Allocate(DType::kString, Shape{100}).value();
  for (String& text : many.values<String>()) text = mega.values<String>()[0];
  CHECK(CodeWithin(BlockTester(Catalog(), "ReduceJoin").Input("inputs", many).Input("reduction_indices", Tensor::Of<int32_t>({0}))) ==
        Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "StringSplit").Input("input", many).Input("delimiter", Word("b"))) == Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "Substr").Input("input", many).Input("pos", Tensor::Scalar(1)).Input("len", Tensor::Scalar(1 << 30))) ==
        Code::kResourceExhausted);
  Tensor places = Tensor::Allocate(DType::kInt64, Shape{100, 1}).value();
  std::ranges::fill(places.values<int64_t>(), 0);
  CHECK(CodeWithin(BlockTester(Catalog(), "ScatterNd").Input("indices", places).Input("updates", many).Input("shape", Tensor::Of<int64_t>({1}))) ==
        Code::kResourceExhausted);
}

TEST_CASE("messages that are too long for the page's memory are refused before they are made", "[text]") {
  const String mega(std::string(size_t{1} << 20, 'a'));
  Tensor many = Tensor::Allocate(DType::kString, Shape{100}).value();
  for (String& text : many.values<String>()) text = mega;
  Tensor messages = Tensor::Allocate(DType::kString, Shape{100}).value(), numbers = Tensor::Allocate(DType::kFloat, Shape{100}).value();
  for (String& message : messages.values<String>()) message = Field(1, Field(8, mega.view()));
  std::ranges::fill(numbers.values<float>(), 1.0F);
  Tensor places = Tensor::Allocate(DType::kInt64, Shape{100, 1}).value();
  std::iota(places.values<int64_t>().begin(), places.values<int64_t>().end(), int64_t{0});
  CHECK(CodeWithin(BlockTester(Catalog(), "SerializeSparse").Input("sparse_indices", places).Input("sparse_values", many)
                       .Input("sparse_shape", Tensor::Of<int64_t>({100}))) == Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "TensorSummary").Input("tensor", many)) == Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "ScalarSummary").Input("tags", many).Input("values", numbers)) == Code::kResourceExhausted);
  CHECK(CodeWithin(BlockTester(Catalog(), "MergeSummary").Inputs("inputs", {messages})) == Code::kResourceExhausted);
}

TEST_CASE("messages that ask for more memory than there is are refused", "[text]") {
  // A tensor of 2^32 elements, and one of a shape that no integer counts.
  const auto proto = [](std::string_view sizes) { return "\x08\x01" + Field(2, sizes) + Field(5, std::string(4, '\1')); };
  const auto parse = [](const std::string& message) {
    return CodeWithin(BlockTester(Catalog(), "ParseTensor").Attrs("out_type_ = DT_FLOAT;").Input("serialized", Word(message)));
  };
  CHECK(parse(proto(Field(2, "\x08\x80\x80\x80\x80\x10"))) == Code::kResourceExhausted);
  const std::string huge = Field(2, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40");
  CHECK(parse(proto(huge + huge)) == Code::kInvalidArgument);

  // Steps of two bytes each, of which the reader remembers more.
  std::string steps;
  for (int i = 0; i < 2'000'000; ++i) steps += Field(1, "");
  BlockTester sequence(Catalog(), "ParseSingleSequenceExample");
  sequence.Attrs("feature_list_sparse_types_ = {DT_INT64};")
      .Input("serialized", Word(Field(2, Field(1, Field(1, "k") + Field(2, steps)))))
      .Input("feature_list_dense_missing_assumed_empty", NoWords())
      .Inputs("feature_list_sparse_keys", {Word("k")})
      .Input("debug_name", Word(""));
  CHECK(CodeWithin(std::move(sequence)) == Code::kResourceExhausted);

  const std::string json = R"({"features":{"feature":{"k":{"int64List":{"value":[)" + std::string(size_t{2} << 20, '1') + "]}}}}}";
  CHECK(CodeWithin(BlockTester(Catalog(), "DecodeJSONExample").Input("json_examples", Words(json))) == Code::kResourceExhausted);
}

TEST_CASE("damaged examples give an error or a result", "[text]") {
  const std::string whole = Field(1, Feature("x", 2, Field(1, std::string("\0\0\x80\x3f\0\0\0\x40", 8))) + Feature("y", 3, Field(1, "\x05\x80\x01")) +
                                         Feature("tag", 1, Field(1, "one") + Field(1, "two")));
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    BlockTester tester(Catalog(), "ParseExample");
    tester.Attrs("sparse_types_ = {DT_STRING};dense_shapes_ = {[2],[?]};")
        .Input("serialized", Words(i == 0 ? whole : Mutated(whole, random)))
        .Input("names", NoWords())
        .Inputs("sparse_keys", {Word("tag")})
        .Inputs("dense_keys", {Word("x"), Word("y")})
        .Inputs("dense_defaults", {Tensor::Of<float>({1, 2}), Tensor::Scalar<int64_t>(0)});
    const Status status = tester.Once(kLimit).Run().status;
    INFO(ToString(status));
    if (i == 0) REQUIRE(status.ok());
    REQUIRE((status.ok() || status.code() == Code::kInvalidArgument || status.code() == Code::kResourceExhausted));
    refused += status.ok() ? 0 : 1;
  }
  CHECK(refused > 200);
  CHECK(refused < 1900);
}

}  // namespace weft::kit
