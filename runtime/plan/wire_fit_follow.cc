#include "runtime/plan/wire_fit_follow.h"

#include <algorithm>
#include <bit>

#include "runtime/base/call_limit.h"

namespace weft {
namespace {

uint64_t HashOf(const OfferedOutputs& outputs) {
  uint64_t hash = outputs.broken ? 1 : 2;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29; };
  for (const OfferedValue& value : outputs.values) {
    mix(static_cast<uint64_t>(value.type) << 8 | static_cast<uint64_t>(value.kind));
    if (value.constant != nullptr) mix(reinterpret_cast<uintptr_t>(value.constant->data()));
  }
  for (uint32_t first : outputs.first) mix(first);
  return hash;
}

}  // namespace

void Refusals::Begin(bool brief) {
  all_.clear();
  brief_ = brief;
}

// As diagnostics of the page place it.
Refusal Refusals::MakeAt(int block, const Status& status) {
  if (brief_) return &brief_refusal_;
  const PageBlock& written = graph_.page().blocks[static_cast<size_t>(block)];
  const std::string& port = status.place().port;
  std::string pointer = BlockPointer(graph_.page(), static_cast<size_t>(block));
  if (written.pointer.empty() && !port.empty()) pointer += Cat("/inputs/", port);
  Status placed(status.code(), status.message());
  return Make(std::move(placed)
                    .WithHint(status.hint())
                    .WithPage(graph_.name())
                    .WithPointer(pointer)
                    .WithBlock(written.id)
                    .WithPort(port)
                    .WithNeeded(status.needed())
                    .WithFound(status.found())
                    .WithPhase(Phase::kConnect));
}

ChangeFollower::ChangeFollower(const Graph& graph, const PageValues& values, BlockTyping& typing, PageLinks& links, Refusals& refusals)
    : graph_(graph),
      values_(values),
      typing_(typing),
      links_(links),
      refusals_(refusals),
      first_followed_(graph.page().blocks.size(), -1),
      nothing_changed_(graph.page().blocks.size()),
      changed_(graph.page().blocks.size()) {}

void ChangeFollower::Begin(bool brief, size_t most_blocks) {
  if (!brief || !refusals_.brief()) {  // what is remembered points into the refusals
    followed_.clear();
    std::ranges::fill(first_followed_, -1);
  }
  refusals_.Begin(brief);
  blocks_left_ = most_blocks;
}

// What the outputs of the reader would be; null where they stay, or an edit waits. `refused` says why it would not take what it gets.
const OfferedOutputs* ChangeFollower::OutputsAfter(int reader, Refusal& refused) {
  const BlockDef* def = values_.DefOf(reader);
  if (def == nullptr || def->structural == Structural::kSession || def->structural == Structural::kGradients || def->structural == Structural::kOperation) return nullptr;
  if (def->structural == Structural::kOutput) return nullptr;  // by an index that need not be there any more
  const Node& node = graph_.node(reader);
  if (as_many_ && def->structural == Structural::kNone && !node.broken) {
    values_.ValuesOf(reader, changed_, given_);
  } else if (!values_.ItemsOf(reader, changed_, given_)) {
    return nullptr;
  }
  if (def->structural == Structural::kList) {
    OfferedOutputs& list = lists_.emplace_back(OfferedOutputs{false, {}, {0, static_cast<uint32_t>(given_.size())}});
    for (const GivenItem& item : given_) list.values.push_back(item.value);
    return &list;
  }
  const BlockTyping::Outcome& outcome = typing_.Connect(reader, given_);
  if (outcome.status.ok()) return &outcome.outputs;
  if (!outcome.complete) return nullptr;  // an edit waits for its other inputs
  // A fault that is there already is not the wire's.
  std::vector<GivenItem> before;
  const bool known = node.broken && values_.ItemsOf(reader, nothing_changed_, before);
  if (!known || typing_.Connect(reader, before).status.message() != outcome.status.message()) refused = refusals_.MakeAt(reader, outcome.status);
  return nullptr;
}

// The block's outputs would be these: those that read them are to be looked at.
void ChangeFollower::Change(int block, const OfferedOutputs& outputs) {
  const Node& node = graph_.node(block);
  as_many_ &= !node.broken && node.def->structural != Structural::kList && std::ranges::equal(outputs.first, node.out_first.table());
  changed_.Set(block, outputs);
  for (const int reader : links_.ReadersOf(block)) {
    const auto order = static_cast<size_t>(graph_.node(reader).order);
    const uint64_t bit = uint64_t{1} << (order % 64);
    open_count_ += (open_[order / 64] & bit) == 0;
    open_[order / 64] |= bit;
    first_open_ = std::min(first_open_, order / 64);
  }
}

// Takes the first of the blocks that are to be looked at.
int ChangeFollower::NextOpen() {
  while (open_[first_open_] == 0) ++first_open_;
  uint64_t& word = open_[first_open_];
  const auto order = first_open_ * 64 + static_cast<size_t>(std::countr_zero(word));
  word &= word - 1;
  --open_count_;
  return graph_.in_order()[order];
}

const ChangeFollower::Followed* ChangeFollower::FindFollowed(int block, uint64_t outputs) const {
  for (int i = first_followed_[static_cast<size_t>(block)]; i >= 0; i = followed_[static_cast<size_t>(i)].next) {
    if (followed_[static_cast<size_t>(i)].outputs == outputs) return &followed_[static_cast<size_t>(i)];
  }
  return nullptr;
}

void ChangeFollower::Remember(Refusal refused) {
  for (const auto& [block, hash] : passed_) {
    if (FindFollowed(block, hash) != nullptr) continue;
    int& first = first_followed_[static_cast<size_t>(block)];
    followed_.push_back({hash, refused, std::exchange(first, static_cast<int>(followed_.size()))});
  }
}

// What comes of the block giving these outputs.
Refusal ChangeFollower::Follow(int block, const OfferedOutputs& outputs) {
  if (outputs.broken || values_.Gives(block, outputs)) return nullptr;
  passed_.assign(1, {block, HashOf(outputs)});
  if (const Followed* known = FindFollowed(block, passed_[0].second)) return known->refused;
  open_.assign(graph_.nodes().size() / 64 + 1, 0);
  open_count_ = 0;
  first_open_ = open_.size() - 1;
  changed_.Clear();
  lists_.clear();
  as_many_ = true;
  Refusal refused = nullptr;
  Change(block, outputs);
  while (open_count_ > 0 && refused == nullptr && blocks_left_ > 0) {
    CallLimit::Check();
    --blocks_left_;
    const int reader = NextOpen();
    const OfferedOutputs* now = OutputsAfter(reader, refused);
    if (now == nullptr || now->broken || values_.Gives(reader, *now)) continue;
    if (open_count_ == 0) {
      passed_.emplace_back(reader, HashOf(*now));
      if (const Followed* known = FindFollowed(reader, passed_.back().second)) {
        refused = known->refused;
        break;
      }
    }
    Change(reader, *now);
  }
  if (blocks_left_ == 0) return refused;
  Remember(refused);
  return refused;
}

}  // namespace weft
