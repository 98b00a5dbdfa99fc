// Chains by themselves: any count, memory at any alignment, results written
// past the cache, and operands that are written over.
#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "blocks/kernels/elementwise/chain.h"

using namespace weft;
using namespace weft::kernels;
using Use = ChainOp::Use;

namespace {

struct Times {
  template <class V>
  static V Of(V a, V b) {
    return a * b;
  }
};
struct Less {
  template <class V>
  static V Of(V a, V b) {
    return a - b;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("chains compute the elements they are asked for and touch no others", "[chains]", float, double) {
  using T = TestType;
  const ChainKind& kind = *KindOfChain<T>();
  const ChainLink &times = *LinkOfTwo<Times, T>(), &less = *LinkOfTwo<Less, T>();
  const T one = 3, untouched = 7;
  for (int64_t n : {0, 1, 15, 17, 127, 128, 129, 300, 1100}) {
    // Two results that may both be streamed from some element on, and two that
    // never may at once.
    for (const auto& [at, other_at] : {std::pair<int64_t, int64_t>{0, 0}, {5, 5}, {16, 0}, {3, 8}}) {
      INFO(n << " elements, from " << at << " and " << other_at);
      const auto size = static_cast<size_t>(n + 64);
      std::vector<T> x(size), y(size), square(size, untouched), rest(size + 16, untouched), other(size + 16, untouched);
      for (size_t i = 0; i < size; ++i) {
        x[i] = static_cast<T>(i % 50);
        y[i] = static_cast<T>(i % 7);
      }
      const std::vector<T> before = x;
      T* const over = x.data() + at;
      const ChainOp steps[] = {{kind.load, over, Use::kRead},
                                 {times.register_register},
                                 {kind.store, square.data() + at, Use::kWrite},
                                 {less.scalar_register, const_cast<T*>(&one), Use::kScalar},
                                 {kind.stream, rest.data() + at, Use::kWrite},
                                 {less.register_memory, y.data() + at, Use::kRead},
                                 {kind.store, over, Use::kWrite},
                                 {kind.load, square.data() + at, Use::kRead},
                                 {less.memory_register, over, Use::kRead},
                                 {kind.stream, other.data() + other_at, Use::kWrite},
                                 {kind.last}};
      kind.run(steps, n);
      bool same = true;
      for (int64_t i = 0; i < n + 64; ++i) {
        const auto s = static_cast<size_t>(i);
        const bool in = i >= at && i < at + n, other_in = i >= other_at && i < other_at + n;
        const T a = before[s] * before[s], b = one - a;
        same = same && square[s] == (in ? a : untouched) && rest[s] == (in ? b : untouched) && x[s] == (in ? b - y[s] : before[s]);
        const size_t from = static_cast<size_t>(std::min(i - other_at + at, n + 63));
        const T c = other_in ? before[from] * before[from] : 0;
        same = same && other[s] == (other_in ? one - c - y[from] - c : untouched);
      }
      CHECK(same);
    }
  }
}
