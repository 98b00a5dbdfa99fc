// Pages that enuSpace users published, as they are: they replay, run, and give the values that were computed for them.
#include "tests/graphs/published.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::RunWeft;
using Json = nlohmann::json;

Json Parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  CHECK_FALSE(json.is_discarded());
  return json;
}

/// The numbers of one result of `weft run --json`.
std::vector<double> Numbers(const Json& results, const std::string& name) {
  INFO(name);
  REQUIRE(results.contains(name));
  return results[name]["values"].get<std::vector<double>>();
}

Json RunPage(const fs::path& page, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run", page.string(), "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  kit::ProgramResult run = RunWeft(arguments);
  INFO(run.err << run.out.substr(0, 2000));
  REQUIRE(run.status == 0);
  return Parse(run.out);
}

std::map<std::string, std::set<std::string>> Verdicts(const fs::path& page, bool whole) {
  std::vector<std::string> arguments = {"replay", page.string(), "--json"};
  if (whole) arguments.push_back("--whole");
  kit::ProgramResult run = RunWeft(arguments);
  CHECK(run.status == 0);
  Json report = Parse(run.out);
  CHECK(report["page"] == page.stem().string());
  std::map<std::string, std::set<std::string>> verdicts;
  for (const Json& result : report["results"]) {
    verdicts[result["verdict"]].insert(result["result"].get<std::string>());
    if (result["verdict"] == "undetermined") CHECK_FALSE(result["reason"].get<std::string>().empty());
  }
  return verdicts;
}

TEST_CASE("Published pages replay: every result that TensorFlow confirms, and none that differs", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  Json expected = Parse(kit::FileBytes(folder / "replay.json"));
  REQUIRE(expected.size() == 4);
  for (const auto& [name, lists] : expected.items()) {
    auto verdicts = Verdicts(folder / "pages" / (name + ".svg"), false);
    CAPTURE(name);
    CHECK(verdicts["differ"].empty());
    CHECK(verdicts["agree"].size() >= lists["agree"].size());
    for (const Json& result : lists["agree"]) {
      INFO(result);
      CHECK(verdicts["agree"].count(result.get<std::string>()) == 1);
    }
  }
}

TEST_CASE("The published Xor page comes out whole", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  auto verdicts = Verdicts(folder / "pages/Xor.svg", true);
  CHECK(verdicts["agree"].size() == 45);
  CHECK(verdicts["differ"].empty());
  CHECK(verdicts["undetermined"].empty());
}

TEST_CASE("The published basic page adds", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  Json results = RunPage(folder / "pages/basic.json");
  CHECK(Numbers(results, "ID_1hvgdT0.z") == std::vector<double>{2, 4, 6, 8});
  CHECK(results["ID_1hvgdT0.z"]["dtype"] == "DT_DOUBLE");
}

// ---- gradient descent, against the same sums written out ---------------------------------------------------------------------------

constexpr double kRows[8][3] = {{1, 5, 21}, {15, 12, 22}, {35, 13, 23}, {4, 45, 24}, {5, 15, 53}, {6, 44, 7}, {12, 17, 27}, {6, 20, 28}};
constexpr double kTargets[8] = {79, 110, 135, 171, 199, 120, 132, 135};

struct Line {
  double w[3] = {1.5, 3.5, 0.5}, b = 0.5, cost = 0;

  // Everything is computed from the values before the step.
  void Descend(double rate) {
    double mean[3] = {}, mean_error = 0;
    cost = 0;
    for (int i = 0; i < 8; ++i) {
      double error = b - kTargets[i];
      for (int j = 0; j < 3; ++j) error += w[j] * kRows[i][j];
      for (int j = 0; j < 3; ++j) mean[j] += error * kRows[i][j] / 8;
      mean_error += error / 8;
      cost += error * error / 8;
    }
    for (int j = 0; j < 3; ++j) w[j] -= rate * mean[j];
    b -= rate * mean_error;
  }
};

TEST_CASE("The published gradient descent page descends", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  for (int steps : {1, 2, 200}) {
    Line line;
    for (int i = 0; i < steps; ++i) line.Descend(0.001);
    Json results = RunPage(folder / "pages/gradient_descent_xnwn_b.json", {"--steps", std::to_string(steps)});
    CAPTURE(steps);
    CHECK(Numbers(results, "ID_COST.output").at(0) == Approx(line.cost).epsilon(1e-9));
    CHECK(Numbers(results, "ID_1e1zPY122.out").at(0) == Approx(line.b).epsilon(1e-9));
    std::vector<double> weights = Numbers(results, "ID_APPLY.out");
    for (int j = 0; j < 3; ++j) CHECK(weights.at(j) == Approx(line.w[j]).epsilon(1e-9));
  }
}

// ---- symbolic gradients, against the chain rule written out ------------------------------------------------------------------------

using Matrix = std::vector<std::vector<double>>;

Matrix Product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size(), 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b[0].size(); ++j) {
      for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Matrix Flipped(const Matrix& a) {
  Matrix b(a[0].size(), std::vector<double>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[0].size(); ++j) b[j][i] = a[i][j];
  }
  return b;
}

/// Three layers of tanh on one row, trained towards 1 with weight decay: loss = mean((y - 1)^2) + 0.01 * sum |W|^2 / 2.
struct Network {
  Matrix w[3] = {{{0.001251, 0.563585, 0.193304}, {0.808740, 0.585009, 0.479873}, {0.350291, 0.895962, 0.822840}},
                 {{0.746605, 0.174108}, {0.858943, 0.710501}, {0.513535, 0.303995}},
                 {{0.014985}, {0.091403}}};
  Matrix b[3] = {{{0.364452, 0.147313, 0.165899}}, {{0.988525, 0.445692}}, {{0.119083}}};

  void Descend(double rate) {
    Matrix h[4] = {{{0.531663, 0.571184, 0.601764}}, {}, {}, {}};
    for (int l = 0; l < 3; ++l) {
      h[l + 1] = Product(h[l], w[l]);
      for (size_t j = 0; j < h[l + 1][0].size(); ++j) h[l + 1][0][j] = std::tanh(h[l + 1][0][j] + b[l][0][j]);
    }
    Matrix back = {{2 * (h[3][0][0] - 1)}};
    for (int l = 2; l >= 0; --l) {
      for (size_t j = 0; j < back[0].size(); ++j) back[0][j] *= 1 - h[l + 1][0][j] * h[l + 1][0][j];
      Matrix dw = Product(Flipped(h[l]), back), below = Product(back, Flipped(w[l]));
      for (size_t i = 0; i < w[l].size(); ++i) {
        for (size_t j = 0; j < w[l][i].size(); ++j) w[l][i][j] -= rate * (dw[i][j] + 0.01 * w[l][i][j]);
      }
      for (size_t j = 0; j < back[0].size(); ++j) b[l][0][j] -= rate * back[0][j];
      back = below;
    }
  }
};

TEST_CASE("The published page of symbolic gradients trains", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  const char* w_names[] = {"ID_1eYR9T0.out", "ID_1eYR9f28.out", "ID_1eYR9j57.out"};
  const char* b_names[] = {"ID_1eYR9c57.out", "ID_1eYR9h57.out", "ID_1eYR9l57.out"};
  for (int steps : {1, 100}) {
    Network network;
    for (int i = 0; i < steps; ++i) network.Descend(0.01);
    Json results = RunPage(folder / "pages/addsymbolicgradients.svg", {"--steps", std::to_string(steps)});
    for (int l = 0; l < 3; ++l) {
      CAPTURE(steps, l);
      std::vector<double> got = Numbers(results, w_names[l]), expected;
      for (const auto& row : network.w[l]) expected.insert(expected.end(), row.begin(), row.end());
      CHECK_THAT(got, Catch::Matchers::Approx(expected).epsilon(2e-6).margin(2e-6));
      CHECK_THAT(Numbers(results, b_names[l]), Catch::Matchers::Approx(network.b[l][0]).epsilon(2e-6).margin(2e-6));
    }
  }
}

TEST_CASE("Published pages give the same bits as Weft pages", "[published]") {
  fs::path folder = Published();
  if (folder.empty()) return;
  kit::TemporaryFolder temporary;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "pages")) {
    if (entry.path().extension() == ".dat") continue;
    CAPTURE(entry.path().filename().string());
    std::string page = (temporary.path() / (entry.path().stem().string() + ".page.json")).string();
    REQUIRE(RunWeft({"convert", entry.path().string(), page}).status == 0);
    // What was written reads back, and is canonical.
    kit::ProgramResult again = RunWeft({"convert", page, "-"});
    CHECK(again.status == 0);
    CHECK(again.out == kit::FileBytes(page));
    kit::ProgramResult checked = RunWeft({"check", page});
    CHECK(checked.status == 0);
    // Pages that wait for record files are run in the cases of their own.
    if (entry.path().stem() == "mnistTrain_softmax10" || entry.path().stem() == "convolution_neural_network_eval") continue;
    kit::ProgramResult original = RunWeft({"run", entry.path().string(), "--json", "--steps", "5"});
    kit::ProgramResult converted = RunWeft({"run", page, "--json", "--steps", "5"});
    CHECK(original.status == 0);
    CHECK(original.out.size() > 20);
    CHECK(original.out == converted.out);
  }
}

}  // namespace
}  // namespace weft
