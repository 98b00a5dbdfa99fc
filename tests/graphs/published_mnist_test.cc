// The published MNIST pages, run whole on small record files in MNIST's format, and checkpoints through pages.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "blocks/io/checkpoint_v1/checkpoint_writer.h"
#include "tests/graphs/published.h"
#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::RunWeft;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
}

/// The digit that record i is labelled with.
int Digit(int i) { return (i * 7 + i / 10) % 10; }

/// Pictures whose one white square, of 4 by 4 points, tells the digit: square d of the 7 by 7 squares.
void WriteRecords(const fs::path& folder, int count, const std::function<int(int)>& square) {
  std::string images = BigEndian(2051) + BigEndian(static_cast<uint32_t>(count)) + BigEndian(28) + BigEndian(28);
  std::string labels = BigEndian(2049) + BigEndian(static_cast<uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    std::string picture(784, '\0');
    int row = square(i) / 7 * 4, column = square(i) % 7 * 4;
    for (int r = row; r < row + 4; ++r) std::fill_n(picture.begin() + r * 28 + column, 4, '\xFF');
    images += picture;
    labels += static_cast<char>(Digit(i));
  }
  kit::WriteBytes(folder / "images", images);
  kit::WriteBytes(folder / "labels", labels);
}

Texts Concat(Texts a, const Texts& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The value after NAME on each line that --watch printed.
std::vector<double> Watched(const std::string& out, const std::string& name) {
  std::vector<double> values;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string run, watched, type, shape, value;
    if (!(words >> run >> watched >> type >> shape >> value) || watched != name) continue;
    values.push_back(std::stod(value.substr(value.find_first_not_of('{'))));
  }
  return values;
}

std::vector<double> Numbers(const std::string& out, const std::string& name) {
  Json results = Json::parse(out, nullptr, false);
  REQUIRE_FALSE(results.is_discarded());
  INFO(name);
  REQUIRE(results.contains(name));
  const Json& values = results[name]["values"];
  return values.is_array() ? values.get<std::vector<double>>() : std::vector<double>{values.get<double>()};
}

TEST_CASE("The published MNIST page trains on records", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  kit::TemporaryFolder temporary;
  const std::string at = temporary.path().string();
  // Each run reads ten records; the page looks at every twentieth ten. 190 records: nineteen tens, so that all have their turn.
  WriteRecords(temporary.path(), 190, Digit);
  Texts arguments = {"run", (folder / "pages/mnistTrain_softmax10.svg").string(), "--write", at,
                     "--set", "ID_1eHkzO1440.val=" + at + "/images", "--set", "ID_1eHkzO1441.val=" + at + "/labels",
                     "--set", "ID_1eJ9f10.filename=" + at + "/W", "--set", "ID_1eJ9fN24.filename=" + at + "/B"};

  SECTION("the loss falls, the weights move, and the page saves them") {
    kit::ProgramResult run = RunWeft(Concat(arguments, {"--steps", "2000", "--watch", "ID_1eJ8aC61.output"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    std::vector<double> losses = Watched(run.out, "ID_1eJ8aC61.output");
    REQUIRE(losses.size() == 2000);
    // The page starts with empty pictures and no labels; its counter is at 9, so that the first pictures come with run 11.
    CHECK(losses[10] == 0);
    CHECK(losses[11] == Approx(5.302).epsilon(1e-3));  // log(10) squared
    CHECK(losses[1999] < 0.7 * losses[11]);
    CHECK(losses[1999] < losses[1000]);
    CHECK(losses[1000] < losses[100]);
    // After a hundred tens it saved what it had learned.
    kit::WriteBytes(temporary.path() / "restore.page.json",
                    "{\"weft\": 1, \"blocks\": [{\"id\": \"w\", \"block\": \"Restore\", \"inputs\": {\"file_pattern\": {\"text\": \"W\"}, "
                    "\"tensor_name\": {\"text\": \"W\"}, \"dt\": {\"text\": \"DT_FLOAT\"}}}]}");
    kit::ProgramResult restored = RunWeft({"run", at + "/restore.page.json", "--json"});
    INFO(restored.err << restored.out.substr(0, 500));
    REQUIRE(restored.status == 0);
    std::vector<double> weights = Numbers(restored.out, "w.tensor");
    REQUIRE(weights.size() == 7840);
    // The weight from a square to its digit has grown.
    for (int d = 0; d < 10; ++d) CHECK(weights[d * 784 + (d / 7 * 4) * 28 + d % 7 * 4] > 0.01);
    CHECK(fs::exists(temporary.path() / "B"));
  }
  SECTION("the same bits on any number of threads, and from the converted page") {
    kit::ProgramResult one = RunWeft(Concat(arguments, {"--steps", "60", "--json", "--threads", "1"}));
    REQUIRE(one.status == 0);
    std::vector<double> weights = Numbers(one.out, "ID_1eHkzO1436.out");
    CHECK(std::count(weights.begin(), weights.end(), 0.0) < 7840);
    CHECK(RunWeft(Concat(arguments, {"--steps", "60", "--json", "--threads", "5"})).out == one.out);
    REQUIRE(RunWeft({"convert", arguments[1], at + "/train.page.json"}).status == 0);
    arguments[1] = at + "/train.page.json";
    kit::ProgramResult converted = RunWeft(Concat(arguments, {"--steps", "60", "--json"}));
    INFO(converted.err);
    CHECK(converted.out == one.out);
  }
  SECTION("without --allow nothing is read") {
    Texts closed = arguments;
    closed.erase(closed.begin() + 2, closed.begin() + 4);
    kit::ProgramResult run = RunWeft(closed);
    CHECK(run.status == 1);
    CHECK(run.err.find("lies outside the folders") != std::string::npos);
    CHECK(run.err.find("--allow " + at) != std::string::npos);
  }
}

// ---- the evaluation of a convolutional network -------------------------------------------------------------------------------------

/// All zeros but these elements.
void WriteTensor(const fs::path& path, const std::string& name, const Shape& shape, const std::vector<std::pair<int64_t, float>>& ones) {
  Tensor tensor = Tensor::Allocate(DType::kFloat, shape).value();
  std::fill(tensor.values<float>().begin(), tensor.values<float>().end(), 0.0f);
  for (auto [index, value] : ones) tensor.values<float>()[static_cast<size_t>(index)] = value;
  blocks::checkpoint_v1::NamedTensor named{name, std::move(tensor)};
  REQUIRE(blocks::checkpoint_v1::WriteCheckpoint(path, std::span(&named, 1)).ok());
}

/// Filters that pass the picture on in channel 0, so that after two poolings feature 64 * d tells square d; and the weights for them.
void WriteNetwork(const fs::path& folder) {
  constexpr int64_t kMiddle = 4;  // of the 3 by 3 points of a filter
  WriteTensor(folder / "W1", "W1", Shape::Make(std::vector<int64_t>{3, 3, 1, 32}).value(), {{kMiddle * 32, 1.0f}});
  WriteTensor(folder / "W2", "W2", Shape::Make(std::vector<int64_t>{3, 3, 32, 64}).value(), {{kMiddle * 32 * 64, 1.0f}});
  std::vector<std::pair<int64_t, float>> weights;
  for (int64_t d = 0; d < 10; ++d) weights.emplace_back(d * 3136 + d * 64, 1.0f);
  WriteTensor(folder / "W3", "W3", Shape::Make(std::vector<int64_t>{10, 3136}).value(), weights);
  WriteTensor(folder / "B", "B", Shape::Make(std::vector<int64_t>{1, 10}).value(), {});
}

TEST_CASE("The published convolutional network is evaluated on records", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  kit::TemporaryFolder temporary;
  const std::string at = temporary.path().string();
  // Every fourth picture shows another digit than its label says.
  auto shown = [](int i) { return i % 4 == 3 ? (Digit(i) + 1) % 10 : Digit(i); };
  WriteRecords(temporary.path(), 30, shown);
  WriteNetwork(temporary.path());
  Texts arguments = {"run", (folder / "pages/convolution_neural_network_eval.svg").string(), "--write", at, "--json",
                     "--set", "ID_1eJCtM2053.val=" + at + "/images", "--set", "ID_1eJCtM2054.val=" + at + "/labels",
                     "--set", "ID_1eQsJO66.file_pattern=" + at + "/W1", "--set", "ID_1eQsP966.file_pattern=" + at + "/W2",
                     "--set", "ID_1eJDN10.file_pattern=" + at + "/W3", "--set", "ID_1eJDNj57.file_pattern=" + at + "/B"};
  for (int steps : {1, 4, 29}) {
    CAPTURE(steps);
    kit::ProgramResult run = RunWeft(Concat(arguments, {"--steps", std::to_string(steps)}));
    INFO(run.err << run.out.substr(0, 1000));
    REQUIRE(run.status == 0);
    CHECK(Numbers(run.out, "ID_ANALSYS.output").at(0) == shown(steps - 1));
    CHECK(Numbers(run.out, "ID_INDEX.y").at(0) == Digit(steps - 1));
    // Right answers before this run, by answers with this one.
    int right = 0;
    for (int i = 0; i + 1 < steps; ++i) right += shown(i) == Digit(i);
    CHECK(Numbers(run.out, "ID_ACCURACY.z").at(0) == Approx(static_cast<double>(right) / steps).epsilon(1e-12));
  }
}

// ---- checkpoints through pages -----------------------------------------------------------------------------------------------------

std::string RestoreBlock(const std::string& id, const std::string& file, const std::string& name) {
  return "{\"id\": \"" + id + "\", \"block\": \"Restore\", \"inputs\": {\"file_pattern\": {\"dtype\": \"DT_STRING\", \"shape\": [], "
         "\"values\": [\"" + file + "\"]}, \"tensor_name\": {\"text\": \"" + name + "\"}, \"dt\": {\"text\": \"DT_FLOAT\"}}}";
}

TEST_CASE("A page restores the published checkpoints, and what it saves comes back", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  kit::TemporaryFolder temporary;
  const std::string at = temporary.path().string(), from = (folder / "checkpoints").string();
  const std::string page = at + "/copy.page.json";
  kit::WriteBytes(page, "{\"weft\": 1, \"blocks\": [" + RestoreBlock("w", from + "/trainW", "W") + "," +
                            RestoreBlock("b", from + "/trainB", "B") +
                            ",{\"id\": \"save\", \"block\": \"Save\", \"inputs\": {\"filename\": {\"text\": \"both\"}, \"tensor_names\": "
                            "{\"text\": \"{\\\"W\\\",\\\"B\\\"}\"}, \"data\": [\"w.tensor\", \"b.tensor\"]}},"
                            "{\"id\": \"run\", \"block\": \"ClientSession\", \"inputs\": {\"fetch_outputs\": [\"w.tensor\", \"b.tensor\"], "
                            "\"run_outputs\": [\"save.operation\"]}}]}");
  kit::ProgramResult run = RunWeft({"run", page, "--json", "--allow", from, "--write", at});
  INFO(run.err << run.out.substr(0, 1000));
  REQUIRE(run.status == 0);
  Json results = Json::parse(run.out);
  CHECK(results["w.tensor"]["shape"] == Json({10, 784}));
  CHECK(results["w.tensor"]["dtype"] == "DT_FLOAT");
  CHECK(results["b.tensor"]["shape"] == Json({1, 10}));

  kit::WriteBytes(page, "{\"weft\": 1, \"blocks\": [" + RestoreBlock("w", "both", "W") + "," + RestoreBlock("b", "both", "B") +
                            ",{\"id\": \"run\", \"block\": \"ClientSession\", "
                            "\"inputs\": {\"fetch_outputs\": [\"w.tensor\", \"b.tensor\"]}}]}");
  kit::ProgramResult again = RunWeft({"run", page, "--json"});
  INFO(again.err);
  REQUIRE(again.status == 0);
  // The shortest numbers that read back are the same only where the bits are.
  CHECK(Json::parse(again.out)["w.tensor"] == results["w.tensor"]);
  CHECK(Json::parse(again.out)["b.tensor"] == results["b.tensor"]);
}

}  // namespace
}  // namespace weft
