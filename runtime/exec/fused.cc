#include "runtime/exec/fused.h"

#include <algorithm>

#include "runtime/exec/stream_copy.h"

namespace weft {

using Operand = FusedSteps::Operand;

namespace {

std::byte* ElementsFrom(const Operand& operand, const Value* values, int64_t begin) {
  return static_cast<std::byte*>(values[operand.slot].data) + begin * operand.element_bytes;
}

/// Elements from one whole value to the next, of those whose tiles begin at one offset.
int64_t WholeTileElements(int64_t count) { return (count + 63) / 64 * 64; }

}  // namespace

Status FusedRunner::Make(int threads) {
  int64_t bytes = 0, parts = 0;
  size_t operands = 0, partials = 0, steps = 0;
  for (const FusedSteps& fused : plan_.fused) {
    bytes = std::max(bytes, fused.tile * fused.element_bytes);
    parts = std::max(parts, fused.parts());
    operands = std::max(operands, fused.operands.size());
    size_t links = 0;
    for (const FusedSteps::Chain& chain : fused.chains) links += chain.links.size();
    steps = std::max(steps, links);
    if (!fused.reductions.empty()) partials = std::max(partials, static_cast<size_t>(fused.parts()) * (fused.reductions.size() + 1));
  }
  if (plan_.fused.empty()) return {};
  // Each thread has memory that begins on a page: threads that write to neighbouring cache lines slow one another down.
  constexpr int64_t kPage = 4096;
  bytes = (std::max<int64_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  const int64_t count = std::min<int64_t>(threads, parts);
  WEFT_ASSIGN_OR_RETURN(memory_, Buffer::Allocate(DType::kUInt8, count * bytes, services_.budget));
  states_.resize(static_cast<size_t>(count));
  partials_.resize(partials);
  for (size_t l = 0; l < states_.size(); ++l) {
    ThreadState& state = states_[l];
    state.values.resize(operands);
    state.steps.resize(steps);
    state.moving.reserve(steps);
    state.memory = static_cast<std::byte*>(memory_->data()) + static_cast<int64_t>(l) * bytes;
    FrameOf(state.ctx).values = state.values.data();
    FrameOf(state.ctx).services = &services_;
  }
  return {};
}

// What is the same in every tile.
void FusedRunner::Begin(const FusedSteps& fused, const Value* values, ThreadState& state) const {
  state.status = Status();
  for (size_t o = 0; o < fused.operands.size(); ++o) {
    const Operand& operand = fused.operands[o];
    if (operand.kind == Operand::Kind::kOne) state.values[o] = {values[operand.slot].data, 1, &operand.shape, false};
    if (operand.InThread()) state.values[o] = {state.memory + operand.offset * fused.tile, fused.tile, &fused.shapes[0], false};
  }
  BeginChains(fused, values, state);
}

void FusedRunner::BeginChains(const FusedSteps& fused, const Value* values, ThreadState& state) {
  state.moving.clear();
  ChainOp* step = state.steps.data();
  for (const FusedSteps::Chain& chain : fused.chains) {
    for (const FusedSteps::Chain::Link& link : chain.links) {
      *step = {link.run, nullptr, link.use};
      if (link.use != ChainOp::Use::kNothing) {
        const Operand& operand = fused.operands[link.operand];
        const bool moves = operand.kind == Operand::Kind::kSliced || link.run == chain.kind->stream;
        if (moves) state.moving.push_back({step, static_cast<std::byte*>(values[operand.slot].data), operand.element_bytes});
        else step->memory = state.values[link.operand].data;
      }
      ++step;
    }
  }
}

void FusedRunner::MoveTo(const FusedSteps& fused, const Value* values, int64_t begin, size_t shape, ThreadState& state) {
  for (size_t o = 0; o < fused.operands.size(); ++o) {
    const Operand& operand = fused.operands[o];
    if (operand.kind == Operand::Kind::kOne) continue;
    Value& value = state.values[o];
    if (operand.kind == Operand::Kind::kSliced) value.data = ElementsFrom(operand, values, begin);
    value.count = fused.shapes[shape].count();
    value.shape = &fused.shapes[shape];
  }
}

// Copies what a step made to where it outlives the group, while it is in the nearest cache.
inline void FusedRunner::CopyOut(const Operand& operand, const Value* values, int64_t begin, const Value& tile) {
  if (operand.kind != Operand::Kind::kCopied) return;
  StreamCopy(tile.data, ElementsFrom(operand, values, begin), tile.count * operand.element_bytes);
}

// False where a step fails.
bool FusedRunner::RunTile(const FusedSteps& fused, const Value* values, int64_t begin, size_t shape, ThreadState& state) const {
  for (const ThreadState::Moving& moving : state.moving) moving.step->memory = moving.elements + begin * moving.element_bytes;
  const ChainOp* steps = state.steps.data();
  auto chain = fused.chains.begin();
  for (size_t m = 0; m < fused.members.size(); ++m) {
    if (chain != fused.chains.end() && chain->first == m) {
      chain->kind->run(steps, fused.shapes[shape].count());
      steps += chain->links.size();
      m = chain->end - 1;
      ++chain;
      continue;
    }
    const FusedSteps::Member& member = fused.members[m];
    const PlannedBlock& block = member.blocks[shape];
    FrameOf(state.ctx).inputs = fused.table.data() + member.first_input;
    FrameOf(state.ctx).outputs = fused.table.data() + member.first_output;
    FrameOf(state.ctx).in_first = member.in_first.table().data();
    FrameOf(state.ctx).out_first = member.out_first.table().data();
    Status status = block.run(block.parameters.get(), state.ctx);
    if (status.ok()) {
      const uint32_t made = fused.table[member.first_output];
      CopyOut(fused.operands[made], values, begin, state.values[made]);
      continue;
    }
    // Later tiles may fail at an earlier step: they run, too, so that the failure reported does not depend on the threads.
    if (state.status.ok() || member.step < state.failed) {
      state.failed = member.step;
      state.failed_at = begin;
      state.status = std::move(status);
    }
    return false;
  }
  return true;
}

// Takes parts while there are some, and each in tiles.
void FusedRunner::Work(const FusedSteps& fused, const Value* values, const PoolWorkers& workers, ThreadState& state) {
  const int64_t parts = fused.parts();
  Begin(fused, values, state);
  for (int64_t part = next_.fetch_add(1); part < parts; part = next_.fetch_add(1)) {
    Partial* partials = partials_.data() + part * static_cast<int64_t>(fused.reductions.size());
    for (size_t t = 0; t < fused.reductions.size(); ++t) fused.reductions[t].partial.initialize(&partials[t]);
    const int64_t end = std::min(fused.count, (part + 1) * fused.part);
    for (int64_t begin = part * fused.part; begin < end; begin += fused.tile) {
      if (workers.Stopped()) return StreamCopiesDone();
      const int64_t count = std::min(fused.tile, end - begin);
      size_t shape = 0;
      while (fused.shapes[shape].count() != count) ++shape;
      MoveTo(fused, values, begin, shape, state);
      if (!RunTile(fused, values, begin, shape, state)) continue;
      for (size_t t = 0; t < fused.reductions.size(); ++t) {
        const FusedSteps::Reduction& reduction = fused.reductions[t];
        reduction.partial.accumulate(reduction.parameters.get(), state.values[reduction.operand].data, count, &partials[t]);
      }
    }
  }
  StreamCopiesDone();
}

Status FusedRunner::RunGroup(const FusedSteps& fused, const Value* values, PoolWorkers& workers, size_t& failed) {
  next_.store(0);
  for (ThreadState& state : states_) state.status = Status();
  const int64_t count = std::min(static_cast<int64_t>(states_.size()), fused.parts());
  workers.Run(count, [&](int64_t l) { Work(fused, values, workers, states_[static_cast<size_t>(l)]); });
  ThreadState* first = nullptr;
  for (ThreadState& state : states_) {
    if (state.status.ok()) continue;
    if (first == nullptr || std::pair(state.failed, state.failed_at) < std::pair(first->failed, first->failed_at)) first = &state;
  }
  if (first != nullptr) {
    failed = static_cast<size_t>(first->failed);
    return std::move(first->status);
  }
  if (!workers.Stopped()) Finish(fused, values);
  return {};
}

void FusedRunner::Finish(const FusedSteps& fused, const Value* values) {
  const int64_t parts = fused.parts(), reductions = static_cast<int64_t>(fused.reductions.size());
  for (int64_t t = 0; t < reductions; ++t) {
    const FusedSteps::Reduction& reduction = fused.reductions[static_cast<size_t>(t)];
    Partial* of_group = partials_.data() + parts * reductions;
    for (int64_t p = 0; p < parts; ++p) of_group[p] = partials_[static_cast<size_t>(p * reductions + t)];
    reduction.partial.finalize(reduction.parameters.get(), of_group, values[reduction.output].data);
  }
}

void* FusedRunner::TileMemory(const Slot& slot) const {
  if (!whole()) return memory_ == nullptr ? nullptr : memory_->data();
  return static_cast<std::byte*>(whole_tiles_->data()) + slot.offset * WholeTileElements(slot.shape.count());
}

Status FusedRunner::MakeWhole(ResultSet& set) {
  if (whole()) return {};
  int64_t bytes = 0;
  for (const FusedSteps& fused : plan_.fused) bytes = std::max(bytes, fused.element_bytes * WholeTileElements(fused.count));
  WEFT_ASSIGN_OR_RETURN(whole_tiles_, Buffer::Allocate(DType::kUInt8, bytes, services_.budget));
  // Only what lies in tiles: other values of the run may have been replaced.
  for (size_t s = 0; s < plan_.slots.size(); ++s) {
    const Slot& slot = plan_.slots[s];
    const int root = slot.storage == Slot::Storage::kShared ? set.root[s] : -1;
    void*& data = set.values[s].data;
    if (slot.storage == Slot::Storage::kTile) data = TileMemory(slot);
    else if (root >= 0 && plan_.slots[root].storage == Slot::Storage::kTile) data = set.values[root].data;
  }
  set.tiles_whole = true;
  return {};
}

}  // namespace weft
