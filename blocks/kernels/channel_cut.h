// How a tensor that is seen as [outer, channels, inner] is cut into tasks: by its sizes alone, so that sums are the same bits for any
// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace weft::kernels {

/// Elements at ((o * channels + c) * inner + i). NHWC has inner 1, NCHW has outer N.
struct ChannelBox {
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t count() const { return outer * channels * inner; }
  int64_t per_channel() const { return outer * inner; }
};

/// Two forms. Rows: memory is [rows, width] and a register holds neighbouring channels; also used where `inner` is shorter than a register
/// (each position of a row then has sums of its own, `fold` of them to a channel). Runs: `inner` elements of one channel lie together.
struct ChannelCut {
  ChannelBox box;
  bool runs = false;
  int64_t fold = 1;         // positions of a row that make up one channel; the partial sums are [blocks, width]
  int64_t width = 0;        // rows: channels * fold; runs: channels
  int64_t rows = 0;         // rows of memory; runs: how many runs a channel has
  int64_t group = 1;        // rows: so many narrow rows are taken as one
  int64_t piece = 0;        // runs: elements of a piece of a run; the last piece of a run is longer
  int64_t pieces = 1;       // runs: pieces a run
  int64_t block_rows = 1;   // rows (or runs) in a block
  int64_t blocks = 0;       // blocks of rows; of pieces where a run has several
  int64_t tile = 1, tiles = 0;  // positions (or channels) a task takes

  int64_t tasks() const { return blocks * tiles; }
  /// Elements of one partial sum for every block and position.
  int64_t partials() const { return blocks * width; }

  /// What a task covers.
  struct Part {
    int64_t block, first_row, end_row, begin, length, first, end;  // rows or runs; [begin, begin + length) of a run; positions or channels
  };
  Part part(int64_t task) const {
    Part p;
    p.block = task / tiles;
    p.first = task % tiles * tile;
    p.end = std::min(width, p.first + tile);
    const int64_t rows_block = p.block / pieces, at = p.block % pieces;
    p.first_row = rows_block * block_rows;
    p.end_row = std::min(rows, p.first_row + block_rows);
    p.begin = at * piece;
    p.length = at + 1 == pieces ? box.inner - p.begin : piece;
    return p;
  }
  /// Elements of each position (rows) or channel (runs) in a block.
  int64_t block_count(int64_t block) const {
    const Part p = part(block * tiles);
    return (p.end_row - p.first_row) * (runs ? p.length : 1);
  }
};

/// Positions that a task of the rows form takes at most, in registers.
inline constexpr int kTileRegisters = 64;

inline ChannelCut CutRows(ChannelBox box, int lanes, int64_t task_elements) {
  ChannelCut cut;
  cut.box = box;
  cut.fold = box.inner;
  cut.width = box.channels * box.inner;
  cut.rows = box.outer;
  if (cut.width == 0 || cut.rows == 0) return cut;  // no tasks
  const int64_t tile_limit = int64_t{kTileRegisters} * lanes;
  // Narrow rows: as many as fill whole registers, and four of them at least, so that no lane is wasted. Short registers take more of them:
  // the longer a chain of additions, the more digits are lost.
  if (cut.width * 2 <= tile_limit) {
    const int64_t whole = lanes / std::gcd<int64_t>(cut.width, lanes);
    if (whole * cut.width <= tile_limit) cut.group = whole * std::max<int64_t>(1, std::max(4 * lanes, 64) / (whole * cut.width));
    else cut.group = tile_limit / cut.width;
    if (cut.group > cut.rows) cut.group = 1;
  }
  cut.tiles = (cut.width + tile_limit - 1) / tile_limit;
  cut.tile = std::min(tile_limit, cut.width);
  cut.block_rows = std::max<int64_t>(1, task_elements / (cut.tile * cut.group)) * cut.group;
  cut.blocks = (cut.rows + cut.block_rows - 1) / cut.block_rows;
  return cut;
}

/// `tile` is the number of channels that a task takes; 0: as many as it is worth.
inline ChannelCut CutRuns(ChannelBox box, int64_t task_elements, int64_t tile = 0) {
  ChannelCut cut;
  cut.box = box;
  cut.runs = true;
  cut.width = box.channels;
  cut.rows = box.outer;
  const int64_t longest = task_elements / 2;
  cut.pieces = std::max<int64_t>(1, box.inner / longest);
  cut.piece = cut.pieces > 1 ? longest : box.inner;
  cut.tile = std::clamp<int64_t>(tile > 0 ? tile : task_elements / cut.piece, 1, std::max<int64_t>(1, box.channels));
  cut.tiles = (cut.width + cut.tile - 1) / cut.tile;
  cut.block_rows = cut.pieces > 1 ? 1 : std::clamp<int64_t>(task_elements / (cut.tile * box.inner), 1, cut.rows);
  cut.blocks = (cut.rows + cut.block_rows - 1) / cut.block_rows * cut.pieces;
  return cut;
}

/// `lanes` is the number of elements in a register, `task_elements` about the size of a task.
inline ChannelCut CutChannels(ChannelBox box, int lanes, int64_t task_elements) {
  if (box.count() == 0) return CutRows({0, box.channels, 1}, lanes, task_elements);
  return box.inner < lanes ? CutRows(box, lanes, task_elements) : CutRuns(box, task_elements);
}

}  // namespace weft::kernels
