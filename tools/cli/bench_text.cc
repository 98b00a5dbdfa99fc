// The cases of `weft bench` that work on strings: words to split and to hash, messages to parse.
#include <array>

#include "tools/cli/bench_cases.h"
#include "weft/base/text.h"

namespace weft::cli {
namespace {

constexpr int64_t kWords = 100'000, kLines = 10'000, kExamples = 1'000;

/// Words of 1 to 20 letters, the same in every run.
class RandomWords {
 public:
  std::string Next() {
    std::string word(1 + Draw() % 20, 'a');
    for (char& letter : word) letter = static_cast<char>('a' + Draw() % 26);
    return word;
  }
  uint32_t Draw() { return (state_ = state_ * 1664525 + 1013904223) >> 8; }

 private:
  uint32_t state_ = 1;
};

KernelInput Texts(const char* port, std::vector<std::string> texts, bool scalar = false) {
  KernelInput input{port, DType::kString, {}, false, {}, {}};
  if (!scalar) input.shape.push_back(static_cast<int64_t>(texts.size()));
  input.texts = std::move(texts);
  return input;
}

KernelCase HashWords() {
  RandomWords words;
  std::vector<std::string> texts(kWords);
  for (std::string& text : texts) text = words.Next();
  return MakeCase(Cat("StringToHashBucketFast.", kWords), "StringToHashBucketFast", {{"num_buckets", 1000}},
                  {Texts("input", std::move(texts))}, {"output"}, 8.0 * kWords);
}

KernelCase SplitLines() {
  RandomWords words;
  std::vector<std::string> lines(kLines);
  double bytes = 0;
  for (std::string& line : lines) {
    for (int64_t k = 0; k < kWords / kLines; ++k) line += (k > 0 ? " " : "") + words.Next();
    bytes += static_cast<double>(line.size());
  }
  return MakeCase(Cat("StringSplit.", kWords), "StringSplit", {{"skip_empty", true}},
                  {Texts("input", std::move(lines)), Texts("delimiter", {" "}, true)}, {"indices", "values", "shape"},
                  bytes + 16.0 * kWords);
}

// ---- Example messages, of bytes below 128, so that a page can hold them as text -------------------------------------------

std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + std::string(1, static_cast<char>(bytes.size())) + bytes;
}
std::string Feature(const std::string& key, int kind, const std::string& list) {
  return Field(1, Field(1, key) + Field(2, Field(kind, list)));
}
/// 0.5, 2, 8 or 0.125, in whose bits no byte is above 127.
std::string Float(uint32_t choice) {
  constexpr std::array<const char*, 4> kHighBytes = {"\x00\x3f", "\x00\x40", "\x00\x41", "\x00\x3e"};
  return std::string(2, '\0') + std::string(kHighBytes[choice % 4], 2);
}

std::string Example(RandomWords& words) {
  std::string floats, tags;
  for (int k = 0; k < 4; ++k) floats += Float(words.Draw());
  for (uint32_t k = words.Draw() % 3; k > 0; --k) tags += Field(1, words.Next());
  const std::string features = Feature("x", 2, Field(1, floats)) + Feature("tag", 1, tags) +
                               Feature("y", 3, Field(1, std::string(1, static_cast<char>(words.Draw() % 100))));
  return Field(1, features);  // of less than 128 bytes, like all that is in it
}

KernelCase ParseExamples() {
  RandomWords words;
  std::vector<std::string> messages(kExamples);
  for (std::string& message : messages) message = Example(words);
  std::vector<KernelInput> inputs = {Texts("serialized", std::move(messages)), Texts("names", {})};
  for (auto [port, key] : {std::pair("sparse_keys", "tag"), std::pair("dense_keys", "x"), std::pair("dense_keys", "y")}) {
    inputs.push_back(Texts(port, {key}, true));
    inputs.back().list = true;
  }
  for (DType dtype : {DType::kFloat, DType::kInt64}) {
    inputs.push_back({"dense_defaults", dtype, {0}, false, {}, {}});
    inputs.back().list = true;
  }
  nlohmann::ordered_json attrs = {{"sparse_types", {"DT_STRING"}}, {"dense_shapes", {{4}, nlohmann::ordered_json::array()}}};
  return MakeCase(Cat("ParseExample.", kExamples), "ParseExample", std::move(attrs), std::move(inputs),
                  {"sparse_indices[0]", "sparse_values[0]", "sparse_shapes[0]", "dense_values[0]", "dense_values[1]"}, 24.0 * kExamples);
}

}  // namespace

void AddTexts(std::vector<KernelCase>& cases) {
  cases.push_back(HashWords());
  cases.push_back(SplitLines());
  cases.push_back(ParseExamples());
}

}  // namespace weft::cli
