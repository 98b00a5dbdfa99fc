#include "runtime/session/fused.h"

#include <algorithm>

#include "runtime/session/executor.h"

namespace weft {

using Operand = FusedSteps::Operand;

Status FusedRunner::Make(const Plan& plan, const Services& services) {
  Clear();
  int64_t bytes = 0, tiles = 0;
  size_t operands = 0;
  for (const FusedSteps& fused : plan.fused) {
    bytes = std::max(bytes, fused.tile * fused.element_bytes);
    tiles = std::max(tiles, (fused.count + fused.tile - 1) / fused.tile);
    operands = std::max(operands, fused.operands.size());
  }
  if (plan.fused.empty()) return {};
  services_ = services;
  services_.workers = &serial_;
  // Lanes begin on pages of their own: threads that write to neighbouring lines slow one another down.
  constexpr int64_t kPage = 4096;
  bytes = (std::max<int64_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  const int64_t count = std::min<int64_t>(services.workers->threads(), tiles);
  WEFT_ASSIGN_OR_RETURN(memory_, Buffer::Allocate(DType::kUInt8, count * bytes, services.budget));
  lanes_.resize(static_cast<size_t>(count));
  for (size_t l = 0; l < lanes_.size(); ++l) {
    Lane& lane = lanes_[l];
    lane.values.resize(operands);
    lane.memory = static_cast<std::byte*>(memory_->data()) + static_cast<int64_t>(l) * bytes;
    lane.ctx.values = lane.values.data();
    lane.ctx.services = &services_;
  }
  return {};
}

// What is the same in every tile.
void FusedRunner::Begin(const FusedSteps& fused, const Value* values, Lane& lane) const {
  lane.status = Status();
  for (size_t o = 0; o < fused.operands.size(); ++o) {
    const Operand& operand = fused.operands[o];
    if (operand.kind == Operand::Kind::kOne) lane.values[o] = {values[operand.slot].data, 1, &operand.shape, false};
    if (operand.kind == Operand::Kind::kTile) lane.values[o] = {lane.memory + operand.offset * fused.tile, fused.tile, &fused.tile_shape, false};
  }
}

void FusedRunner::MoveTo(const FusedSteps& fused, const Value* values, int64_t tile, Lane& lane) {
  const int64_t begin = tile * fused.tile, count = std::min(fused.tile, fused.count - begin);
  const Shape* shape = count == fused.tile ? &fused.tile_shape : &fused.rest_shape;
  for (size_t o = 0; o < fused.operands.size(); ++o) {
    const Operand& operand = fused.operands[o];
    if (operand.kind == Operand::Kind::kOne) continue;
    Value& value = lane.values[o];
    if (operand.kind == Operand::Kind::kSliced) value.data = static_cast<std::byte*>(values[operand.slot].data) + begin * operand.element_bytes;
    value.count = count;
    value.shape = shape;
  }
}

void FusedRunner::RunTile(const FusedSteps& fused, int64_t tile, Lane& lane) const {
  const bool rest = (tile + 1) * fused.tile > fused.count;
  for (size_t m = 0; m < fused.members.size(); ++m) {
    const FusedSteps::Member& member = fused.members[m];
    const PlannedBlock& block = rest ? member.rest : member.tile;
    lane.ctx.inputs = fused.table.data() + member.first_input;
    lane.ctx.outputs = fused.table.data() + member.first_output;
    lane.ctx.in_first = member.in_first.table().data();
    lane.ctx.out_first = member.out_first.table().data();
    Status status = block.run(block.parameters.get(), lane.ctx);
    if (status.ok()) continue;
    // Tiles that come yet may fail at an earlier step: they run, too, so that the failure told does not depend on the threads.
    if (lane.status.ok() || m < lane.failed) {
      lane.failed = m;
      lane.failed_tile = tile;
      lane.status = std::move(status);
    }
    return;
  }
}

void FusedRunner::Work(const FusedSteps& fused, const Value* values, const PoolWorkers& workers, Lane& lane) {
  const int64_t tiles = (fused.count + fused.tile - 1) / fused.tile;
  Begin(fused, values, lane);
  for (int64_t tile = next_.fetch_add(1); tile < tiles && !workers.Stopped(); tile = next_.fetch_add(1)) {
    MoveTo(fused, values, tile, lane);
    RunTile(fused, tile, lane);
  }
}

Status FusedRunner::Run(const FusedSteps& fused, const Value* values, PoolWorkers& workers, int& failed) {
  next_.store(0);
  const int64_t tiles = (fused.count + fused.tile - 1) / fused.tile;
  for (Lane& lane : lanes_) lane.status = Status();
  workers.Run(std::min(static_cast<int64_t>(lanes_.size()), tiles), [&](int64_t l) { Work(fused, values, workers, lanes_[static_cast<size_t>(l)]); });
  Lane* first = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.status.ok()) continue;
    if (first == nullptr || std::pair(lane.failed, lane.failed_tile) < std::pair(first->failed, first->failed_tile)) first = &lane;
  }
  if (first == nullptr) return {};
  failed = fused.first + static_cast<int>(first->failed);
  return std::move(first->status);
}

// Runs the group that begins with the step, and leaves `step` at its last, or at the one that failed.
Status Executor::RunFused(const ResultSet& set, size_t& step) {
  const FusedSteps& fused = plan_.fused[static_cast<size_t>(records_[step].fused)];
  if (workers_.Stopped()) return Stopped();
  int failed = fused.last;
  Status status = fused_.Run(fused, set.values.data(), workers_, failed);
  step = static_cast<size_t>(failed);
  return status;
}

// A step of a group that runs alone, for an observer, reads and writes whole values.
Status Executor::OwnTiles(ResultSet& set) {
  if (whole_tiles_ != nullptr) return {};
  int64_t bytes = 0;
  for (const FusedSteps& fused : plan_.fused) bytes = std::max(bytes, fused.element_bytes * WholeTileElements(fused.count));
  WEFT_ASSIGN_OR_RETURN(whole_tiles_, Buffer::Allocate(DType::kUInt8, bytes, services_.budget));
  PointAtMemory(set);
  for (ResultSet& other : sets_) other.moved |= &other != &set;
  return {};
}

}  // namespace weft
