#include "runtime/host/ranks/shard_join.h"

#include <algorithm>

#include "weft/block/stored_state.h"

namespace weft {
namespace {

/// The mean of the shards' losses has of each row a share of what the loss of its shard has.
Status DivideRows(Tensor& rows, int shards) {
  const std::optional<SumForm> form = SumFormOf(rows.dtype());
  if (!form || form->type == SumType::kInteger) return {};
  std::vector<char> sums(static_cast<size_t>(rows.count() * form->parts) * SizeOf(form->type));
  StoreElements(rows, sums.data());
  DivideSums(form->type, sums.data(), rows.count() * form->parts, shards);
  RoundElements(sums.data(), rows);
  return {};
}

}  // namespace

// ---- how -------------------------------------------------------------------------------------------------------------------------------

void ShardJoin::Forget() {
  join_.reset();
  joined_.assign(divided_.values.size(), {});
}

void ShardJoin::Learn(const ShardPlans& plans) {
  if (made()) return;  // as they are
  for (size_t v = 0; v < joined_.size(); ++v) {
    const Shape *all = KnownShape(plans.whole, divided_.values[v].value), *own = KnownShape(plans.part, divided_.values[v].value);
    if (all == nullptr || own == nullptr) continue;
    if (*all == *own) joined_[v].way = Way::kAdd;
    else if (IsRows(*all, *own, options_.shards)) joined_[v].way = Way::kRows;
  }
}

bool ShardJoin::KnowsAll() const {
  return std::ranges::all_of(joined_, [](const Joined& joined) { return joined.way != Way::kUnknown; });
}

ShardJoin::Way ShardJoin::WayOf(size_t value, const Tensor& of_shard) const {
  const Joined& joined = joined_[value];
  if (joined.way != Way::kUnknown) return joined.way;
  if (of_shard.shape().rank() == 0) return Way::kAdd;
  if (joined.of_two) return IsRows(*joined.of_two, of_shard.shape(), 2) ? Way::kRows : Way::kAdd;
  return rows_.HasRowsOfASource(of_shard.shape()) ? Way::kRows : Way::kAdd;
}

Status ShardJoin::Make(const Session& shard, const std::shared_ptr<MemoryBudget>& budget) {
  budget_ = budget;
  std::vector<ValueToJoin> values;
  for (size_t v = 0; v < joined_.size(); ++v) {
    WEFT_ASSIGN_OR_RETURN(const ResultValue value, shard.Get(divided_.values[v].value));
    joined_[v].way = WayOf(v, value.tensor);
    joined_[v].rank = value.tensor.shape().rank();
    if (joined_[v].way != Way::kAdd) continue;
    joined_[v].index = values.size();
    values.push_back({divided_.values[v].name, value.tensor.dtype(), value.tensor.shape(), options_.sum ? JoinKind::kSum : JoinKind::kMean});
  }
  auto join = std::make_unique<ValueJoin>(collectives_, tree_, cancelled_);
  WEFT_RETURN_IF_ERROR(join->Make(values, budget));
  join_ = std::move(join);
  return {};
}

Status ShardJoin::AgreeOnValues() const {
  std::string text;
  for (size_t v = 0; v < joined_.size(); ++v) {
    text += Cat(divided_.values[v].name, " ", joined_[v].way == Way::kRows ? "rows" : Cat(join_->result(joined_[v].index).shape()), "\n");
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(collectives_, CollectiveUser::kControl, text, "for the values that are joined"));
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    return Aborted(RankName(collectives_, r), " would join other values than rank 0:\n", all[r], "and not\n", all[0]);
  }
  return {};
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------------

void ShardJoin::Begin() {
  if (made()) join_->Begin();
  for (Joined& joined : joined_) joined.of_shards.clear();
}

Status ShardJoin::Take(size_t value, int shard, const Tensor& tensor) {
  Joined& joined = joined_[value];
  if (joined.way == Way::kAdd) return join_->Add(joined.index, shard, tensor);
  const Shape& shape = tensor.shape();
  if (shape.rank() == 0 || shape.rank() != joined.rank) {
    return InvalidArgument("'", divided_.values[value].name, "' of shard ", shard, " needs the rank that it had in the first step, ", joined.rank,
                           ", found the shape ", shape)
        .WithHint("its rows are joined: keep them an axis of their own, whatever the batch");
  }
  joined.of_shards.push_back(tensor);
  return {};
}

Status ShardJoin::Finish(bool results) {
  WEFT_RETURN_IF_ERROR(join_->Finish());
  buckets_ += join_->buckets();
  for (size_t v = 0; v < joined_.size(); ++v) {
    Joined& joined = joined_[v];
    if (joined.way == Way::kAdd) {
      joined.value = join_->result(joined.index);
    } else if (Needs(v, results)) {
      WEFT_ASSIGN_OR_RETURN(joined.value, RowsOfAll(v));
      if (divided_.values[v].gradient && !options_.sum) WEFT_RETURN_IF_ERROR(DivideRows(joined.value, options_.shards));
    }
  }
  return {};
}

Result<Tensor> ShardJoin::RowsOfAll(size_t value) const {
  const Joined& joined = joined_[value];
  const Tensor& first = joined.of_shards.front();
  const Status other = InvalidArgument("'", divided_.values[value].name, "' has other rows in another shard");
  const std::string shape = Cat(first.shape(), "\n");  // also of the same number of elements
  std::string bytes = shape;
  for (const Tensor& rows : joined.of_shards) {
    if (!(rows.shape() == first.shape())) return other;
    AppendElements(rows, bytes);
  }
  const std::string what = Cat("for the rows of '", divided_.values[value].name, "'");
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(collectives_, CollectiveUser::kControl, bytes, what));
  bytes.clear();
  for (const std::string& rows : all) {
    if (!rows.starts_with(shape)) return other;
    bytes += std::string_view(rows).substr(shape.size());
  }
  WEFT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Allocate(first.dtype(), WithRows(first.shape(), first.shape().dim(0) * options_.shards), budget_));
  WEFT_RETURN_IF_ERROR(ReadElements(bytes, whole, budget_));
  return whole;
}

}  // namespace weft
