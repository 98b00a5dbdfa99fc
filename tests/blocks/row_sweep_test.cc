// Whether the bits of a row depend on the batch around it, of every block: the cases of a block are put among others along the first axis. Where
// what comes out are the rows of the case, but for rounding, they must be so to the last bit. (Long sums, and the shapes that kernels choose by,
// are in row_bits_test.cc.)
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "tests/blocks/row_dependent.h"
#include "tests/kit/scaled_case.h"
#include "weft/base/float16.h"

namespace weft::kit::row_sweep {
namespace {

constexpr auto kInexact = TypeList<float, double, half, bfloat16, std::complex<float>, std::complex<double>>{};
constexpr int64_t kParts = 5, kPlace = 2;  // the case is part 2 of 5

bool IsInexact(DType dtype) { return IsFloating(dtype) || IsComplex(dtype); }

/// Inputs that have the same first axis, by port and place in its list.
using Batched = std::set<std::pair<std::string, size_t>>;

/// The sets of inputs that may be batches of one size: all of the same length along the first axis, and each by itself.
std::set<Batched> BatchesOf(const cases::TestCase& test) {
  std::map<int64_t, Batched> by_length;
  std::set<Batched> batches;
  for (const auto& [port, input] : test.inputs) {
    for (size_t k = 0; k < input.values.size(); ++k) {
      const Shape& shape = input.values[k].shape();
      if (shape.rank() == 0 || shape.count() == 0 || port == "like") continue;  // of what is called so the shape alone counts
      by_length[shape[0]].insert({port, k});
      batches.insert(Batched{{port, k}});
    }
  }
  for (const auto& [length, inputs] : by_length) batches.insert(inputs);
  return batches;
}

/// The rows among others: of the same values from other places on, and half as large where they are no whole numbers, so that no sum of all is alike.
Tensor Among(const Tensor& rows) {
  Tensor all = Repeated(rows, 0, kParts);
  const size_t size = ElementSize(rows.dtype());
  const auto* from = static_cast<const std::byte*>(rows.data());
  for (int64_t part = 0; part < kParts; ++part) {
    if (part == kPlace) continue;
    const auto turned = static_cast<size_t>((3 * part + 1) % rows.count()), count = static_cast<size_t>(rows.count());
    auto* to = static_cast<std::byte*>(all.data()) + static_cast<size_t>(part) * count * size;
    CopyElements(rows.dtype(), from + turned * size, to, static_cast<int64_t>(count - turned));
    CopyElements(rows.dtype(), from, to + (count - turned) * size, static_cast<int64_t>(turned));
    Dispatch(rows.dtype(), kInexact, [&]<class T>() {
      for (T& value : std::span(reinterpret_cast<T*>(to), count)) value = value * T(0.5f);
    });
  }
  return all;
}

cases::TestCase Among(const cases::TestCase& test, const Batched& batched) {
  cases::TestCase among = test;
  for (const auto& [port, k] : batched) among.inputs.at(port).values[k] = Among(test.inputs.at(port).values[k]);
  return among;
}

template <class T>
std::complex<double> Wide(const T& value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) return static_cast<float>(value);
  else return std::complex<double>(value);
}

enum class Rows : uint8_t { kNone, kSame, kRounded };  // no rows; those of the case; those but for rounding

Rows Compare(const Tensor& among, const Tensor& alone) {
  const Shape &whole = among.shape(), &part = alone.shape();
  if (among.dtype() != alone.dtype() || part.rank() == 0 || whole.rank() != part.rank() || part.count() == 0) return Rows::kNone;
  if (whole.count() != kParts * part.count() || whole[0] != kParts * part[0]) return Rows::kNone;
  const auto* at = static_cast<const std::byte*>(among.data()) + kPlace * alone.bytes();
  if (!IsManaged(alone.dtype()) && std::memcmp(at, alone.data(), static_cast<size_t>(alone.bytes())) == 0) return Rows::kSame;
  if (!IsInexact(alone.dtype())) return Rows::kNone;
  double most = 0, apart = 0;
  Dispatch(alone.dtype(), kInexact, [&]<class T>() {
    const auto *rows = reinterpret_cast<const T*>(at), *own = static_cast<const T*>(alone.data());
    for (int64_t i = 0; i < alone.count(); ++i) {
      const std::complex<double> a = Wide(rows[i]), b = Wide(own[i]);
      const bool finite = std::isfinite(std::abs(a)) && std::isfinite(std::abs(b));
      if (finite) most = std::max(most, std::abs(b)), apart = std::max(apart, std::abs(a - b));
      else if (std::memcmp(&rows[i], &own[i], sizeof(T)) != 0) apart = INFINITY;
    }
  });
  const bool is_short = alone.dtype() == DType::kHalf || alone.dtype() == DType::kBFloat16;
  return apart <= (is_short ? 0.02 : 1e-4) * most ? Rows::kRounded : Rows::kNone;
}

/// The rows of all outputs that have some; kNone where none has, or one's are others.
Rows CompareAll(const BlockResult& among, const BlockResult& alone) {
  Rows rows = Rows::kNone;
  for (const auto& [port, value] : alone.outputs) {
    const auto whole = among.outputs.find(port);
    if (whole == among.outputs.end() || !IsInexact(value.dtype()) || whole->second.shape() == value.shape()) continue;
    const Rows found = Compare(whole->second, value);
    if (found == Rows::kNone) return Rows::kNone;
    rows = std::max(rows, found);
  }
  return rows;
}

/// The case, and the case with longer rows.
std::vector<cases::TestCase> LongerRows(const cases::TestCase& test) {
  constexpr int64_t kLonger = 61, kMostElements = int64_t{1} << 16;
  std::vector<cases::TestCase> longer = {test};
  for (const Scaling& scaling : ScalingsOf(test)) {
    if (scaling.axis <= 0 || scaling.element >= 0) continue;
    cases::TestCase scaled = Scaled(test, scaling, kLonger);
    if (ElementsOf(scaled) <= kMostElements) longer.push_back(std::move(scaled));
  }
  return longer;
}

bool Succeeds(const BlockResult& result) { return result.status.ok() && result.skipped.empty(); }

struct Found {
  bool inexact = false;  // has an output of floating point
  Rows rows = Rows::kNone;
  std::string how;
};

void TryCase(const cases::TestCase& test, Found& found) {
  const BlockResult alone = RunScaled(test);
  if (!Succeeds(alone)) return;
  if (std::ranges::none_of(alone.outputs, [](const auto& output) { return IsInexact(output.second.dtype()); })) return;
  found.inexact = true;
  for (const Batched& batched : BatchesOf(test)) {
    const BlockResult among = RunScaled(Among(test, batched));
    const Rows rows = Succeeds(among) ? CompareAll(among, alone) : Rows::kNone;
    if (rows == Rows::kRounded) found.how = Cat(test.name, ", ", batched.begin()->first, " of ", ElementsOf(test), " elements");
    found.rows = std::max(found.rows, rows);
  }
}

/// The largest cases of each type.
Found TryBlock(const std::vector<cases::TestCase>& tests) {
  constexpr int kMostOfType = 2;
  std::map<DType, int> tried;
  Found found;
  for (const cases::TestCase& test : tests) {
    if (ElementsOf(test) == 0) continue;
    const auto inexact = std::ranges::find_if(test.inputs, [](const auto& input) { return !input.second.values.empty() && IsInexact(input.second.values[0].dtype()); });
    if (tried[inexact == test.inputs.end() ? DType::kInvalid : inexact->second.values[0].dtype()]++ >= kMostOfType) continue;
    for (const cases::TestCase& longer : LongerRows(test)) TryCase(longer, found);
  }
  return found;
}

}  // namespace

TEST_CASE("of every block, rows among others have the bits that they have alone, but for the blocks that the README lists", "[rows]") {
  const auto blocks = CasesOfBlocks();
  std::set<std::string> by_rows;
  for (const auto& [name, tests] : blocks) {
    const BlockDef* def = Catalog().Find(name);
    if (def == nullptr || def->structural != Structural::kNone) continue;
    const Found found = TryBlock(tests);
    if (found.rows != Rows::kNone) by_rows.insert(name);
    if (found.rows == Rows::kRounded && !kRowDependent.contains(name)) FAIL_CHECK(name << " (" << found.how << ") has other bits among other rows");
  }
  // (Were nothing found, nothing would be checked.)
  for (const char* name : {"MatMul", "BatchMatMulV2", "Conv2D", "Softmax", "LRN", "Cumsum", "BiasAdd", "AvgPool", "Tanh", "Add"}) CHECK(by_rows.contains(name));
}

}  // namespace weft::kit::row_sweep
