#include "blocks/kernels/index/gather_scatter.h"

#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/simd/widen.h"
#include "weft/base/float16.h"

namespace weft::kernels {
namespace {

template <class A>
A Product(A a, A b) {
  if constexpr (std::is_same_v<A, bool>) return a && b;
  else return WrapMultiply(a, b);
}
template <class A>
A Quotient(A a, A b) {
  // The lowest integer by -1 is itself.
  if constexpr (Integer<A> && std::is_signed_v<A>) return b == A(-1) ? WrapSubtract(A(0), a) : static_cast<A>(a / b);
  else if constexpr (Integer<A>) return static_cast<A>(a / b);
  else if constexpr (std::is_same_v<A, bool>) return a;
  else return a / b;
}

template <class A, class T>
void Update(A* table, const T* updates, const RowUpdates& u, int64_t first, int64_t last, const auto& op) {
  const int64_t columns = last - first;
  if (columns == 0) return;  // rows of nothing have no update to read
  for (int64_t i = 0; i < u.count; ++i) {
    if (u.rows[i] < 0) continue;
    A* row = table + u.rows[i] * u.width + first;
    const T* from = u.step == 0 ? updates : updates + i * u.step + first;
    if (columns == 1) {
      *row = op(*row, WidenOne<A>(*from));
    } else if (u.step == 0) {
      const A value = WidenOne<A>(*from);
      for (int64_t c = 0; c < columns; ++c) row[c] = op(row[c], value);
    } else {
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) row[c] = op(row[c], WidenOne<A>(from[c]));
    }
  }
}

}  // namespace

template <class A, class T>
void UpdateRows(RowUpdate op, A* table, const T* updates, const RowUpdates& u, int64_t first, int64_t last) {
  switch (op) {
    case RowUpdate::kAdd: return Update(table, updates, u, first, last, [](A a, A b) -> A { return WrapAdd(a, b); });
    case RowUpdate::kSubtract: return Update(table, updates, u, first, last, [](A a, A b) -> A { return WrapSubtract(a, b); });
    case RowUpdate::kMultiply: return Update(table, updates, u, first, last, [](A a, A b) -> A { return Product(a, b); });
    case RowUpdate::kDivide: return Update(table, updates, u, first, last, [](A a, A b) -> A { return Quotient(a, b); });
  }
}

#define WEFT_UPDATE_ROWS(T) \
  template void UpdateRows<Accumulator<T>, T>(RowUpdate, Accumulator<T>*, const T*, const RowUpdates&, int64_t, int64_t);
WEFT_FOR_NUMBERS(WEFT_UPDATE_ROWS)
WEFT_UPDATE_ROWS(bool)

}  // namespace weft::kernels
