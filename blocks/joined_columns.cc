#include "blocks/joined_columns.h"

#include <algorithm>

namespace weft::blocks {
namespace {

// Elements that a task moves, and that are moved part by part before the next rows: they stay in the first cache.
constexpr int64_t kTask = 65536, kBlock = 4096;

// Calls move(part, row, column in the part, rows, columns) for all pieces.
void MoveWholeRows(const JoinedColumns& columns, Workers& workers, const auto& move) {
  const int64_t width = columns.width(), block = std::max<int64_t>(kBlock / width, 1);
  workers.For(columns.rows, 1 + kTask / width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += block) {
      const int64_t rows = std::min(block, end - row);
      for (size_t part = 0; part + 1 < columns.first.size(); ++part) {
        if (columns.width(part) > 0) move(part, row, 0, rows, columns.width(part));
      }
    }
  });
}

// Wide rows are cut.
void MoveParts(const JoinedColumns& columns, Workers& workers, const auto& move) {
  const int64_t width = columns.width();
  workers.For(columns.rows * width, kTask, [&](int64_t begin, int64_t end) {
    const auto after = std::upper_bound(columns.first.begin(), columns.first.end(), begin % width);
    size_t part = static_cast<size_t>(after - columns.first.begin()) - 1;
    int64_t row = begin / width, column = begin % width - columns.first[part];
    for (int64_t at = begin; at < end;) {
      const int64_t count = std::min(columns.width(part) - column, end - at);
      if (count > 0) move(part, row, column, 1, count);
      at += count;
      column = 0;
      if (++part + 1 == columns.first.size()) part = 0, ++row;
    }
  });
}

void MoveColumns(const JoinedColumns& columns, Workers& workers, const auto& move) {
  if (columns.rows == 0 || columns.width() == 0) return;
  if (columns.width() <= kBlock && columns.rows > 1) MoveWholeRows(columns, workers, move);
  else MoveParts(columns, workers, move);
}

}  // namespace

void JoinColumns(const JoinedColumns& columns, FunctionRef<const std::byte*(size_t)> part, std::byte* whole, Workers& workers) {
  const ElementMoves& moves = *columns.moves;
  MoveColumns(columns, workers, [&](size_t k, int64_t row, int64_t column, int64_t rows, int64_t count) {
    const int64_t width = columns.width(k);
    moves.rows(part(k) + (row * width + column) * moves.size, width,
               whole + (row * columns.width() + columns.first[k] + column) * moves.size, columns.width(), rows, count);
  });
}

void SplitColumns(const JoinedColumns& columns, const std::byte* whole, FunctionRef<std::byte*(size_t)> part, Workers& workers) {
  const ElementMoves& moves = *columns.moves;
  MoveColumns(columns, workers, [&](size_t k, int64_t row, int64_t column, int64_t rows, int64_t count) {
    const int64_t width = columns.width(k);
    moves.rows(whole + (row * columns.width() + columns.first[k] + column) * moves.size, columns.width(),
               part(k) + (row * width + column) * moves.size, width, rows, count);
  });
}

}  // namespace weft::blocks
