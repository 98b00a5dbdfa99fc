// How a tensor that is seen as [outer, channels, inner] is cut into tasks: by its sizes alone, so that sums are the same bits for any
// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "weft/base/divide.h"

namespace weft::kernels {

/// Elements at ((o * channels + c) * inner + i). NHWC has inner 1, NCHW has outer N.
struct ChannelBox {
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t count() const { return outer * channels * inner; }
  int64_t per_channel() const { return outer * inner; }
};

/// Two forms. Rows: memory is [outer, positions], a register holds neighbouring positions of whatever channels, and what belongs to a
/// channel is written out for each of its positions; for NHWC, and for planes so small that they would leave registers half full. Runs: a
/// register holds elements of one channel, `inner` of which lie together.
struct ChannelPartition {
  ChannelBox box;
  bool runs = false;
  int64_t group = 1;            // rows: so many narrow rows are taken as one
  int64_t piece = 0;            // runs: elements of a piece of a run; the last piece of a run is longer
  int64_t pieces = 1;           // runs: pieces a run
  int64_t block_rows = 1;       // outer steps in a block
  int64_t blocks = 0;           // blocks of outer steps; of pieces where a run has several
  int64_t tile = 1, tiles = 0;  // channels a task takes

  /// The form, for people.
  std::string form() const { return runs ? "runs of a channel" : group > 1 ? "narrow rows, several as one" : "rows"; }
  int64_t tasks() const { return blocks * tiles; }
  /// Elements of one partial sum for every block and channel.
  int64_t partials() const { return blocks * box.channels; }

  /// What a task covers.
  struct Part {
    int64_t block, first_row, end_row, begin, length, first, end;  // outer steps; [begin, begin + length) of `inner`; channels
    int64_t count() const { return (end_row - first_row) * length; }  // of each channel
  };
  Part part(int64_t task) const {
    Part p;
    p.block = task / tiles;
    p.first = task % tiles * tile;
    p.end = std::min(box.channels, p.first + tile);
    const int64_t rows_block = p.block / pieces, at = p.block % pieces;
    p.first_row = rows_block * block_rows;
    p.end_row = std::min(box.outer, p.first_row + block_rows);
    p.begin = runs ? at * piece : 0;
    p.length = runs && at + 1 < pieces ? piece : box.inner - p.begin;
    return p;
  }
};

/// Positions that a task of the rows form takes at most, in registers.
inline constexpr int kTileRegisters = 128;

/// The number of channels whose planes fill whole cache lines, whatever their type.
inline int64_t ChannelsOfWholeLines(int64_t inner) { return 32 / std::gcd<int64_t>(inner, 32); }

/// Whole rows, or equal parts of one, for passes that keep nothing by position: a task goes through memory in its order.
inline ChannelPartition PartitionMap(ChannelBox box, int64_t task_elements) {
  ChannelPartition cut;
  cut.box = box;
  const int64_t line = ChannelsOfWholeLines(box.inner), most = std::max(line, task_elements / box.inner);
  const int64_t parts = DivideUp(box.channels, most);
  cut.tile = std::min(box.channels, DivideUp(DivideUp(box.channels, parts), line) * line);
  cut.tiles = DivideUp(box.channels, cut.tile);
  cut.block_rows = std::clamp<int64_t>(task_elements / (cut.tile * box.inner), 1, cut.tiles > 1 ? 1 : box.outer);
  cut.blocks = DivideUp(box.outer, cut.block_rows);
  return cut;
}

inline ChannelPartition PartitionRows(ChannelBox box, int lanes, int64_t task_elements, bool sums) {
  ChannelPartition cut;
  cut.box = box;
  cut.tile = std::max<int64_t>(1, box.channels);
  const int64_t width = box.channels * box.inner;
  if (width == 0 || box.outer == 0) return cut;  // no tasks
  const int64_t tile_limit = int64_t{kTileRegisters} * lanes, line = ChannelsOfWholeLines(box.inner);
  const bool narrow = width * 2 <= tile_limit;
  if (!sums && !narrow && (box.inner == 1 || box.inner >= lanes)) return PartitionMap(box, task_elements);
  if (narrow) {
    // Narrow rows: as many as fill whole registers, and four of them at least, so that no lane is wasted. Short registers take more of
    // them: the longer a chain of additions, the more digits are lost.
    const int64_t whole = lanes / std::gcd<int64_t>(width, lanes);
    if (whole * width <= tile_limit) cut.group = whole * std::max<int64_t>(1, std::max(4 * lanes, 64) / (whole * width));
    else cut.group = tile_limit / width;
    if (cut.group > box.outer) cut.group = 1;
  } else if (box.inner == 1) {
    const int64_t tiles = DivideUp(2 * width, tile_limit);
    cut.tile = DivideUp(DivideUp(width, tiles), line) * line;
  } else if (width > tile_limit) {
    cut.tile = tile_limit / box.inner;
    if (cut.tile >= line) cut.tile = cut.tile / line * line;
  }
  cut.tiles = DivideUp(box.channels, cut.tile);
  // Blocks of one size, and as many for each thread. A partial sum is written, and read again by another core: that must be little beside
  // the rows it is of.
  constexpr int64_t kLeastRows = 96, kEven = 16;
  const int64_t rows = DivideUp(box.outer, cut.group);
  const int64_t least = std::max(kLeastRows, task_elements / (cut.tile * box.inner * cut.group));
  int64_t blocks = std::max<int64_t>(1, rows / least);
  if (blocks > kEven) blocks -= blocks % kEven;
  cut.block_rows = DivideUp(rows, blocks) * cut.group;
  cut.blocks = DivideUp(box.outer, cut.block_rows);
  return cut;
}

/// `tile` is the number of channels that a task takes; 0: as many as it is worth.
inline ChannelPartition PartitionRuns(ChannelBox box, int64_t task_elements, int64_t tile = 0) {
  ChannelPartition cut;
  cut.box = box;
  cut.runs = true;
  const int64_t longest = task_elements / 2;
  cut.pieces = std::max<int64_t>(1, box.inner / longest);
  cut.piece = cut.pieces > 1 ? longest : box.inner;
  cut.tile = std::clamp<int64_t>(tile > 0 ? tile : task_elements / cut.piece, 1, std::max<int64_t>(1, box.channels));
  cut.tiles = DivideUp(box.channels, cut.tile);
  cut.block_rows = cut.pieces > 1 ? 1 : std::clamp<int64_t>(task_elements / (cut.tile * box.inner), 1, box.outer);
  cut.blocks = DivideUp(box.outer, cut.block_rows) * cut.pieces;
  return cut;
}

/// `lanes` is the number of elements in a register, `task_elements` about the size of a task; `sums`: whether any pass makes sums.
inline ChannelPartition PartitionChannels(ChannelBox box, int lanes, int64_t task_elements, bool sums = true) {
  if (box.count() == 0) return PartitionRows({0, box.channels, 1}, lanes, task_elements, sums);
  // What is written out for each position must be used a few times, unless planes are so small that most of a run would be its ends.
  const bool small = box.inner < 4 * lanes || (box.inner * 4 <= kTileRegisters * lanes && box.outer >= 4);
  return small ? PartitionRows(box, lanes, task_elements, sums) : PartitionRuns(box, task_elements);
}

}  // namespace weft::kernels
