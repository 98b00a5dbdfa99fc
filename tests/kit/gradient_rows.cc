#include "tests/kit/gradient_rows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  uint32_t Next(uint32_t below) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<uint32_t>((uint64_t{state_} * below) >> 32);
  }
  /// An odd multiple of 1/128 in (low, low + 2 * steps / 128).
  double Odd(int low, uint32_t steps) { return (low + 1 + 2 * static_cast<int>(Next(steps))) / 128.0; }
  double Sign() { return Next(2) == 0 ? -1.0 : 1.0; }

 private:
  uint32_t state_;
};

std::string Replaced(std::string text, const std::string& word, std::string_view by) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) text.replace(at, word.size(), by);
  return text;
}

/// Rows of positive multiples of 1/64 that add up to 1.
std::vector<complex128> MakeShares(const Shape& shape, Random& random) {
  const size_t size = static_cast<size_t>(shape[shape.rank() - 1]);
  std::vector<complex128> numbers(static_cast<size_t>(shape.count()));
  if (size == 1) std::fill(numbers.begin(), numbers.end(), 0.25);
  for (size_t row = 0; size > 1 && row < numbers.size(); row += size) {
    double rest = 1;
    for (size_t i = 1; i < size; ++i) {
      numbers[row + i] = (1 + random.Next(static_cast<uint32_t>(64 / size))) / 64.0;
      rest -= numbers[row + i].real();
    }
    numbers[row] = rest;
  }
  return numbers;
}

DType Narrow(DType type) { return type == DType::kDouble ? DType::kFloat : DType::kComplex64; }

PageFunction FunctionOf(const GradientRow& row, DType dtype) {
  if (row.page) return row.page(dtype);
  const bool narrow = dtype == DType::kFloat || dtype == DType::kComplex64;
  BlockFunctionSpec spec{row.block, {}, {}, row.ys, row.fixed};
  spec.attrs = Replaced(row.attrs, "$REAL", narrow ? "DT_FLOAT" : "DT_DOUBLE");
  spec.attrs = Replaced(spec.attrs, "$COMPLEX", narrow ? "DT_COMPLEX64" : "DT_COMPLEX128");
  uint32_t seed = 1;
  for (const auto& [port, fills] : row.inputs) {
    auto& values = spec.inputs.emplace_back(port, std::vector<Tensor>{}).second;
    for (const Fill& fill : fills) values.push_back(MakeValues(fill, dtype, seed++));
  }
  return BlockFunction(GradientRuntime().registry(), spec);
}

std::string Title(const GradientRow& row, DType dtype) {
  std::string title = Cat(row.block, " ", row.attrs, " in ", dtype);
  for (const auto& [port, fills] : row.inputs) {
    title += Cat(" ", port);
    for (const Fill& fill : fills) title += ToString(fill.kind == Fill::Kind::kFixed ? fill.fixed.shape() : fill.shape);
  }
  return title;
}

struct Worst {
  double exact = 0, narrow = 0;
  int rows = 0;
};

void CheckRow(const GradientRow& row, DType dtype, Worst& worst) {
  const PageFunction exact = FunctionOf(row, dtype);
  const GradientReport report = CheckGradient(GradientRuntime(), exact, {.orders = row.orders});
  INFO(Title(row, dtype) << "\n" << ToString(report.status) << "\n" << report.where);
  CHECK(report.status.ok());
  CHECK(report.error <= row.bound);
  const PageFunction narrow = FunctionOf(row, Narrow(dtype));
  const GradientReport rough = CheckGradient(GradientRuntime(), narrow, {.orders = row.orders, .exact = &exact});
  INFO(Title(row, Narrow(dtype)) << "\n" << ToString(rough.status) << "\n" << rough.where);
  CHECK(rough.status.ok());
  CHECK(rough.error <= row.float_bound);
  worst.exact = std::max(worst.exact, report.error);
  worst.narrow = std::max(worst.narrow, rough.error);
  ++worst.rows;
}

}  // namespace

Fill Any(Shape shape) { return {Fill::Kind::kAny, std::move(shape), {}}; }
Fill Positive(Shape shape) { return {Fill::Kind::kPositive, std::move(shape), {}}; }
Fill Apart(Shape shape) { return {Fill::Kind::kApart, std::move(shape), {}}; }
Fill Distinct(Shape shape) { return {Fill::Kind::kDistinct, std::move(shape), {}}; }
Fill Shares(Shape shape) { return {Fill::Kind::kShares, std::move(shape), {}}; }
Fill Value(Tensor tensor) { return {Fill::Kind::kFixed, {}, std::move(tensor)}; }
Fill Ints(std::vector<int32_t> values) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, Shape{static_cast<int64_t>(values.size())}).value();
  std::copy(values.begin(), values.end(), tensor.values<int32_t>().begin());
  return Value(std::move(tensor));
}

Tensor MakeValues(const Fill& fill, DType dtype, uint32_t seed) {
  if (fill.kind == Fill::Kind::kFixed) return fill.fixed;
  Random random(seed);
  if (fill.kind == Fill::Kind::kShares) return FromNumbers(dtype, fill.shape, MakeShares(fill.shape, random));
  std::vector<complex128> numbers(static_cast<size_t>(fill.shape.count()));
  std::vector<int> places(numbers.size());
  std::iota(places.begin(), places.end(), 0);
  for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.Next(static_cast<uint32_t>(i))]);
  for (size_t i = 0; i < numbers.size(); ++i) {
    double re = 0;
    switch (fill.kind) {
      case Fill::Kind::kPositive: re = random.Odd(40, 96); break;
      case Fill::Kind::kApart: re = random.Sign() * random.Odd(52, 80); break;
      case Fill::Kind::kDistinct: re = (2 * places[i] + 1 - static_cast<int>(places.size())) / 128.0 + 1 / 256.0; break;
      default: re = random.Odd(-192, 192); break;
    }
    numbers[i] = {re, IsComplex(dtype) ? random.Odd(-128, 128) : 0.0};
  }
  return FromNumbers(dtype, fill.shape, numbers);
}

Runtime& GradientRuntime() {
  static Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  return runtime;
}

void CheckRows(const std::vector<GradientRow>& rows) {
  std::map<std::string, Worst> worst;
  for (const GradientRow& row : rows) {
    if (row.types != GradientRow::Types::kComplex) CheckRow(row, DType::kDouble, worst[row.block]);
    if (row.types != GradientRow::Types::kReal) CheckRow(row, DType::kComplex128, worst[row.block]);
  }
  std::string table;
  for (const auto& [block, w] : worst) table += Cat("\n", block, ": ", w.rows, " rows, ", w.exact, ", float ", w.narrow);
  if (std::getenv("WEFT_SHOW_GRADIENTS") != nullptr) WARN(table);
}

}  // namespace weft::kit
