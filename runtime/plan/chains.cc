#include "runtime/plan/chains.h"

#include <algorithm>
#include <span>

namespace weft {
namespace {

using Operand = FusedSteps::Operand;
using Chain = FusedSteps::Chain;
using Member = FusedSteps::Member;
using Use = ChainOp::Use;

/// Inputs of a chain that are prefetched; the processor's own prefetchers follow a few more.
constexpr size_t kMostPrefetched = 3;
/// A member is read for, runs, and is stored in two places at most; the last step ends the chain.
constexpr size_t kMostMembers = (ChainKind::kMaxOps - 1 - kMostPrefetched) / 4;
/// Inputs that have so many bytes together are in none of the first two levels of cache.
constexpr int64_t kFarBytes = 1 << 20;

class ChainMaker {
 public:
  explicit ChainMaker(FusedSteps& fused) : fused_(fused), reads_(fused.operands.size(), 0), made_(fused.operands.size(), false) {
    for (size_t m = 0; m < fused.members.size(); ++m) {
      made_[fused.table[fused.members[m].first_output]] = true;
      const std::span<const uint32_t> inputs = InputsOf(m);
      for (size_t v = 0; v < inputs.size(); ++v) reads_[inputs[v]] += v == 0 || inputs[v] != inputs[0];
    }
    for (const FusedSteps::Reduction& reduction : fused.reductions) ++reads_[reduction.operand];
  }

  void Run() {
    for (size_t first = 0, end = 0; first < fused_.members.size(); first = end) {
      const ChainKind* kind = KindOf(first);
      end = first + 1;
      while (end < fused_.members.size() && KindOf(end) == kind && end - first < kMostMembers) ++end;
      if (kind != nullptr && end - first > 1) Make(first, end);
    }
  }

 private:
  const ChainLink* LinkOf(size_t m) const { return fused_.members[m].blocks[0].link; }
  const ChainKind* KindOf(size_t m) const { return LinkOf(m) == nullptr ? nullptr : LinkOf(m)->kind; }
  std::span<const uint32_t> InputsOf(size_t m) const {
    const Member& member = fused_.members[m];
    return {fused_.table.data() + member.first_input, fused_.table.data() + member.first_output};
  }
  bool Reads(size_t m, uint32_t operand) const { return std::ranges::count(InputsOf(m), operand) > 0; }

  void Make(size_t first, size_t end) {
    Chain chain;
    chain.kind = KindOf(first);
    chain.first = first;
    chain.end = end;
    running_ = kNone;
    AddPrefetches(first, end, chain);
    for (size_t m = first; m < end; ++m) {
      AddMember(m, chain);
      running_ = fused_.table[fused_.members[m].first_output];
      const Operand& made = fused_.operands[running_];
      const bool handed_on = m + 1 < end && Reads(m + 1, running_);
      const bool read = reads_[running_] > (handed_on ? 1 : 0);
      if (read || made.kind == Operand::Kind::kSliced) chain.links.push_back({chain.kind->store, Use::kWrite, running_});
      if (made.kind == Operand::Kind::kCopied) chain.links.push_back({chain.kind->stream, Use::kWrite, running_});
    }
    chain.links.push_back({chain.kind->last});
    fused_.chains.push_back(std::move(chain));
  }

  /// What the chain reads and no member of the group makes is prefetched.
  void AddPrefetches(size_t first, size_t end, Chain& chain) const {
    std::vector<uint32_t> inputs;
    for (uint32_t i = fused_.members[first].first_input; i < fused_.members[end - 1].first_output; ++i) {
      const uint32_t o = fused_.table[i];
      const Operand& operand = fused_.operands[o];
      if (operand.kind != Operand::Kind::kSliced || made_[o] || std::ranges::count(inputs, o) > 0) continue;
      if (inputs.size() < kMostPrefetched) inputs.push_back(o);
    }
    if (static_cast<int64_t>(inputs.size()) * fused_.count * chain.kind->element_bytes < kFarBytes) return;
    for (uint32_t o : inputs) chain.links.push_back({chain.kind->prefetch, Use::kPrefetch, o});
  }

  void AddMember(size_t m, Chain& chain) {
    const ChainLink& link = *LinkOf(m);
    const std::span<const uint32_t> inputs = InputsOf(m);
    if (!Reads(m, running_)) {
      running_ = IsOne(inputs.front()) ? inputs.back() : inputs.front();
      chain.links.push_back({chain.kind->load, Use::kRead, running_});
    }
    if (inputs.size() == 1) {
      chain.links.push_back({link.unary});
    } else if (inputs[0] == inputs[1]) {
      chain.links.push_back({link.register_register});
    } else {
      const bool runs_first = inputs[0] == running_;
      const uint32_t other = inputs[runs_first ? 1 : 0];
      const bool one = IsOne(other);
      const ChainFunction run =
          runs_first ? (one ? link.register_scalar : link.register_memory) : (one ? link.scalar_register : link.memory_register);
      chain.links.push_back({run, one ? Use::kScalar : Use::kRead, other});
    }
  }
  bool IsOne(uint32_t operand) const { return fused_.operands[operand].kind == Operand::Kind::kOne; }

  static constexpr uint32_t kNone = ~uint32_t{0};
  FusedSteps& fused_;
  std::vector<int> reads_;  // by operand: members and reductions that read it
  std::vector<bool> made_;  // ... whether a member makes it
  uint32_t running_ = kNone;  // operand that the registers hold
};

}  // namespace

void MakeChains(FusedSteps& fused) { ChainMaker(fused).Run(); }

}  // namespace weft
