// Gradients of the special functions, and of blocks that pass values on.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

/// The block at numbers that keep to its domain: `varied` ports in the order of the block, `fixed` ones as they are.
struct Ported {
  const char* port;
  std::vector<double> numbers;
  bool varied;
};
GradientRow At(const char* block, std::vector<Ported> ports, int orders) {
  GradientRow row;
  row.block = block;
  row.orders = orders;
  row.page = [block, ports = std::move(ports)](DType dtype) {
    PageFunction f;
    PageInputs inputs;
    for (const Ported& p : ports) {
      const Shape shape = p.numbers.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(p.numbers.size())};
      const Tensor value = FromNumbers(dtype, shape, std::vector<complex128>(p.numbers.begin(), p.numbers.end()));
      const std::string wire = AddConst(f.page, p.port, value);
      if (p.varied) f.xs.push_back(wire);
      inputs.push_back({p.port, {wire}});
    }
    AddBlock(f.page, "block", block, std::move(inputs));
    f.ys.push_back("block.z");
    return f;
  };
  return row;
}

void AddOfTwo(std::vector<GradientRow>& rows) {
  for (const char* block : {"Igamma", "Igammac"}) {
    rows.push_back(At(block, {{"a", {0.5, 1.25, 2, 7.5}, true}, {"x", {0.75, 1, 3.5, 5}, true}}, 1));
    rows.push_back(At(block, {{"a", {30, 250, 1500}, true}, {"x", {28, 255, 1490}, true}}, 1));
    rows.push_back(At(block, {{"a", {1.5}, true}, {"x", {0.75, 1, 3.5, 5}, true}}, 1));
    rows.push_back(At(block, {{"a", {0.5, 1.25, 2, 7.5}, true}, {"x", {2}, true}}, 1));
    rows.push_back(At(block, {{"a", {0.5, 1.25, 2, 7.5}, false}, {"x", {0.75, 1, 3.5, 5}, true}}, 3));
  }
  rows.push_back(At("Polygamma", {{"a", {0, 1, 2, 3}, false}, {"x", {1.5, 2.5, 3, 4.25}, true}}, 3));
  rows.push_back(At("Polygamma", {{"a", {2}, false}, {"x", {1.5, 2.5, 3, 4.25}, true}}, 2));
  rows.push_back(At("Polygamma", {{"a", {0, 1, 2, 3}, false}, {"x", {2.5}, true}}, 2));
  rows.push_back(At("Zeta", {{"x", {1.5, 2, 3.25, 7}, false}, {"q", {1, 1.5, 2.25, 3}, true}}, 3));
  rows.push_back(At("Zeta", {{"x", {1.5, 2, 3.25, 7}, false}, {"q", {1.25}, true}}, 2));
}

void AddBeta(std::vector<GradientRow>& rows) {
  const std::vector<double> a = {0.5, 1, 3, 12}, b = {2, 1.5, 0.75, 20}, x = {0.25, 0.5, 0.625, 0.375};
  rows.push_back(At("Betainc", {{"a", a, false}, {"b", b, false}, {"x", x, true}}, 3));
  rows.push_back(At("Betainc", {{"a", {2.5}, false}, {"b", {3}, false}, {"x", {0.25, 0.5, 0.625}, true}}, 2));
  rows.push_back(At("Betainc", {{"a", {0.5, 1, 3}, false}, {"b", {3}, false}, {"x", {0.375}, true}}, 2));
}

}  // namespace

std::vector<GradientRow> SpecialGradients() {
  std::vector<GradientRow> rows;
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 2}}) {
    for (const char* block : {"Erf", "Erfc"}) rows.push_back({block, "", {{"x", {Any(shape)}}}, Types::kReal, 3});
    for (const char* block : {"Lgamma", "Digamma"}) {
      GradientRow row{block, "", {{"x", {Positive(shape)}}}, Types::kReal, 2};
      row.bound = 1e-7;  // near the pole at 0 high derivatives are large, and with them the error of a difference
      row.float_bound = 2e-4;
      rows.push_back(std::move(row));
    }
    rows.push_back({"Print", "", {{"input", {Any(shape)}}, {"data", {Any(shape), Ints({1, 2})}}}});
  }
  AddOfTwo(rows);
  AddBeta(rows);
  return rows;
}

TEST_CASE("Gradients of special functions agree with finite differences", "[gradients]") { CheckRows(SpecialGradients()); }

}  // namespace weft::kit
