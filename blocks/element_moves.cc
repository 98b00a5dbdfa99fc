#include "blocks/element_moves.h"

#include "blocks/kernels/index/strided_copy_tiles.h"
#include "weft/block/block.h"

// Numbers are read and written here as integers of their size, which C++ allows for none but bytes. A function of this mark is neither
// compiled into its caller nor known by what it accesses, so that no compiler takes a float that it wrote for one that nobody wrote, also
// where the whole program is optimised at once.
#if defined(__clang__)
#define WEFT_RAW_ACCESS [[gnu::noinline]]  // what it accesses is not looked at across functions
#else
#define WEFT_RAW_ACCESS [[gnu::noipa]]
#endif

namespace weft::blocks {
namespace {

template <class T>
WEFT_RAW_ACCESS void MoveBox(const kernels::BoxCopy& box, const void* from, void* to, int64_t begin, int64_t end) {
  kernels::CopyBox(box, static_cast<const T*>(from), static_cast<T*>(to), begin, end);
}

template <class T>
WEFT_RAW_ACCESS void MoveRows(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows, int64_t columns) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  if (columns == 1) {
    for (int64_t i = 0; i < rows; ++i) target[i * to_step] = source[i * from_step];
  } else {
    kernels::internal::CopyRows(source, from_step, target, to_step, rows, columns);
  }
}

template <class T>
WEFT_RAW_ACCESS void Fill(void* to, int64_t n, const void* value) {
  std::fill_n(static_cast<T*>(to), n, value == nullptr ? T{} : *static_cast<const T*>(value));
}

template <class T>
WEFT_RAW_ACCESS void CopyRow(const void* x, const void*, void* z, int64_t n) {
  if (x != z) std::copy_n(static_cast<const T*>(x), n, static_cast<T*>(z));
}
template <class T>
WEFT_RAW_ACCESS void RepeatElement(const void* x, const void*, void* z, int64_t n) {
  std::fill_n(static_cast<T*>(z), n, *static_cast<const T*>(x));
}

template <class T>
constexpr ElementMoves kMoves{sizeof(T), MoveBox<T>, MoveRows<T>, Fill<T>, {CopyRow<T>, RepeatElement<T>, nullptr}};

}  // namespace

const ElementMoves& MovesOf(DType dtype) {
  return *DispatchSize(dtype, []<class T>() -> const ElementMoves* { return &kMoves<T>; });
}

}  // namespace weft::blocks
