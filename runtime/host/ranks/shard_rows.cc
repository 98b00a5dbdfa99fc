// The rows of batches: cut for shards, and put together again.
#include <algorithm>
#include <cstring>

#include "runtime/host/ranks/sharded_parts.h"
#include "runtime/state/variable_store.h"

namespace weft {
namespace {

/// The shape of `rows` rows like those of another.
Shape WithRows(const Shape& shape, int64_t rows) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  auto made = Shape::Make(dims);
  return made.ok() ? *made : shape;
}

/// The shape that a plan knows of a value.
const Shape* KnownShape(const Plan& plan, ValueRef value) {
  const int slot = plan.SlotOf(value);
  return slot >= 0 && plan.slots[static_cast<size_t>(slot)].shape_known ? &plan.slots[static_cast<size_t>(slot)].shape : nullptr;
}

/// Whether `whole` is what `shards` values of the shape `part` make one below the other.
bool IsRows(const Shape& whole, const Shape& part, int shards) {
  if (part.rank() == 0 || whole.rank() != part.rank() || whole.dim(0) != part.dim(0) * shards) return false;
  for (int d = 1; d < part.rank(); ++d) {
    if (whole.dim(d) != part.dim(d)) return false;
  }
  return true;
}

}  // namespace

// ---- cutting ---------------------------------------------------------------------------------------------------------------------------

Status ShardedRun::Parts::CheckSource(const ShardSource& source, const Tensor& tensor) const {
  const auto refuse = [&](Status status) { return PlaceAtNode(*graph_, source.value.node, std::move(status)); };
  if (tensor.shape().rank() == 0) return refuse(InvalidArgument("'", source.name, "' has no rows to cut into shards: it is a scalar"));
  const int64_t rows = tensor.shape().dim(0);
  if (rows % options_.shards == 0 && rows > 0) return {};
  return refuse(InvalidArgument("'", source.name, "' has ", rows, " rows, which ", options_.shards, " shards do not divide")
                    .WithHint("take another number of shards or rows, or leave it whole: --whole"));
}

Result<Tensor> ShardedRun::Parts::RowsOf(const Tensor& whole, int shard, int count) const {
  const int64_t rows = whole.shape().dim(0) / options_.shards;
  WEFT_ASSIGN_OR_RETURN(Tensor part, Tensor::Allocate(whole.dtype(), WithRows(whole.shape(), rows * count), scope_->budget()));
  const auto* from = static_cast<const char*>(whole.data()) + part.bytes() / count * shard;
  CopyElements(whole.dtype(), from, part.data(), part.count());
  return part;
}

// What is the same as in the step before stays cut.
Status ShardedRun::Parts::CutSources() {
  whole_.resize(divided_.sources.size());
  rows_.resize(divided_.sources.size());
  for (size_t s = 0; s < divided_.sources.size(); ++s) {
    const ShardSource& source = divided_.sources[s];
    Tensor now;
    if (source.fed >= 0) {
      now = spec_.feeds[static_cast<size_t>(source.fed)].tensor;
    } else {
      WEFT_ASSIGN_OR_RETURN(ResultValue value, before_->Get(source.value));
      now = std::move(value.tensor);
    }
    const bool same = source.fed >= 0 && whole_[s].defined() && fed_anew_[static_cast<size_t>(source.fed)] == 0;
    whole_[s] = std::move(now);
    if (same || source.whole) continue;
    WEFT_RETURN_IF_ERROR(CheckSource(source, whole_[s]));
    rows_[s].clear();
    for (int shard = own_.begin; shard < own_.end; ++shard) {
      WEFT_ASSIGN_OR_RETURN(rows_[s].emplace_back(), RowsOf(whole_[s], shard));
    }
  }
  std::ranges::fill(fed_anew_, 0);
  return {};
}

// ---- whether the page can be cut -------------------------------------------------------------------------------------------------------

// Plans a shard with its rows and with those of the whole batch: what differs tells how values are joined, and what cannot be cut.
Status ShardedRun::Parts::CheckShapes() {
  std::vector<Shape> shapes;
  for (const Tensor& whole : whole_) shapes.push_back(whole.shape());
  if (shapes == checked_) return {};
  PlanRequest whole = RequestFor(divided_.shard, Keep::kAsked), part = whole;
  const std::shared_ptr<Revision> revision = scope_->revision();
  whole.shape_of = part.shape_of = ShapesNow(*revision, scope_->variables());
  const auto feed = [](PlanRequest& request, ValueRef value, const Shape& shape) {
    const auto known = std::ranges::find(request.feeds, value, &PlanRequest::Feed::value);
    if (known != request.feeds.end()) known->shape = shape;
    else request.feeds.push_back({value, shape});
  };
  for (size_t s = 0; s < whole_.size(); ++s) {
    const Shape& all = whole_[s].shape();
    feed(whole, divided_.sources[s].value, all);
    feed(part, divided_.sources[s].value, divided_.sources[s].whole ? all : WithRows(all, all.dim(0) / options_.shards));
  }
  Diagnostics of_whole, of_part;
  const Plan whole_plan = MakePlan(*graph_, whole, of_whole);
  if (of_whole.has_errors()) return of_whole.FirstError();  // the page has it without shards, too
  const Plan part_plan = MakePlan(*graph_, part, of_part);
  if (of_part.has_errors()) {
    const Status fault = of_part.FirstError();
    return Retold(fault, Cat("cannot work on a shard of the batch: ", fault.message()),
                  "a size of the whole batch must not be written down (-1 in a Reshape stands for what there is); name what else has rows: --shard ID.port");
  }
  WEFT_RETURN_IF_ERROR(CheckBaked(whole_plan, part_plan));
  WEFT_RETURN_IF_ERROR(CheckStretched(whole_plan, part_plan));
  FindWays(whole_plan, part_plan);
  checked_ = std::move(shapes);
  return {};
}

// A block whose output keeps the rows of the whole batch, although it has the elements of a shard, has mixed up rows: a Reshape to [32,-1].
Status ShardedRun::Parts::CheckBaked(const Plan& whole, const Plan& part) const {
  for (const weft::Step& step : part.steps) {
    const Node& node = graph_->node(step.node);
    if (node.def == nullptr || node.def->shaped_by.empty() || node.output_types.empty()) continue;
    const Shape *all = KnownShape(whole, {step.node, 0}), *own = KnownShape(part, {step.node, 0});
    if (all == nullptr || own == nullptr || all->rank() == 0 || own->rank() == 0 || own->dim(0) != all->dim(0)) continue;
    if (own->count() * options_.shards != all->count() || own->count() == all->count()) continue;
    for (int port : node.def->shaped_by) {
      const Node& shaping = graph_->node(node.inputs[node.in_first[static_cast<size_t>(port)]].node);
      if (!shaping.constant.defined()) continue;
      Status status = InvalidArgument("has the size of the whole batch, ", all->dim(0), ", as a constant, and a shard has ",
                                      all->dim(0) / options_.shards, " rows");
      status = std::move(status).WithPort(node.def->inputs[static_cast<size_t>(port)].name);
      return PlaceAtNode(*graph_, step.node, std::move(status).WithHint("write -1 for the rows: it stands for what there is"));
    }
  }
  return {};
}

// A shard of one row fits the whole batch's rows of something that is not cut: stretched over them, which nobody meant.
Status ShardedRun::Parts::CheckStretched(const Plan& whole, const Plan& part) const {
  for (const weft::Step& step : part.steps) {
    const Node& node = graph_->node(step.node);
    if (node.def == nullptr || node.output_types.empty()) continue;
    const Shape *all = KnownShape(whole, {step.node, 0}), *own = KnownShape(part, {step.node, 0});
    if (all == nullptr || own == nullptr || !(*all == *own) || own->rank() == 0 || own->dim(0) == 1) continue;
    const auto has_rows = [&](ValueRef input, bool cut) {
      const Shape *in_all = KnownShape(whole, input), *in_own = KnownShape(part, input);
      if (in_all == nullptr || in_own == nullptr || in_all->rank() != own->rank() || in_all->dim(0) != own->dim(0)) return false;
      return cut ? in_own->dim(0) == 1 && IsRows(*in_all, *in_own, options_.shards) : *in_all == *in_own;
    };
    const auto one = std::ranges::find_if(node.inputs, [&](ValueRef input) { return input.valid() && has_rows(input, true); });
    const auto rest = std::ranges::find_if(node.inputs, [&](ValueRef input) { return input.valid() && has_rows(input, false); });
    if (one == node.inputs.end() || rest == node.inputs.end()) continue;
    const std::string name = graph_->ValueName(*rest);
    Status status = InvalidArgument("has one row of a shard, '", graph_->ValueName(*one), "', and the ", own->dim(0), " rows of the whole batch, '", name, "'");
    return PlaceAtNode(*graph_, step.node, std::move(status).WithHint(Cat("cut what brings those as well: --shard ", name)));
  }
  return {};
}

void ShardedRun::Parts::FindWays(const Plan& whole, const Plan& part) {
  if (join_ != nullptr) return;  // as they are
  for (size_t v = 0; v < joined_.size(); ++v) {
    const Shape *all = KnownShape(whole, divided_.values[v].value), *own = KnownShape(part, divided_.values[v].value);
    if (all == nullptr || own == nullptr) continue;
    if (*all == *own) joined_[v].way = Way::kAdd;
    else if (IsRows(*all, *own, options_.shards)) joined_[v].way = Way::kRows;
  }
}

// Where only a run tells shapes, one with the rows of two shards does. What it draws is drawn again.
Status ShardedRun::Parts::LookAtShapes() {
  const bool known = std::ranges::all_of(joined_, [](const Joined& joined) { return joined.way != Way::kUnknown; });
  if (known || options_.shards < 2) return {};
  if (!divided_.streams.empty()) WEFT_RETURN_IF_ERROR(states_->Enter(*scope_, own_.begin));
  for (size_t s = 0; s < whole_.size(); ++s) {
    if (divided_.sources[s].whole) continue;
    WEFT_ASSIGN_OR_RETURN(Tensor rows, RowsOf(whole_[s], 0, 2));
    WEFT_RETURN_IF_ERROR(shard_->Feed(divided_.sources[s].value, std::move(rows)));
  }
  // (A page that takes no other number of rows than a shard's is a page all the same.)
  if (!RunSession(*shard_, "a look at the shapes of two shards", {}).ok()) return {};
  for (size_t v = 0; v < joined_.size(); ++v) {
    if (auto value = shard_->Get(divided_.values[v].value); value.ok()) joined_[v].of_two = value->tensor.shape();
  }
  return {};
}

ShardedRun::Parts::Way ShardedRun::Parts::WayOf(size_t value, const Tensor& of_shard) const {
  const Joined& joined = joined_[value];
  if (joined.way != Way::kUnknown) return joined.way;
  if (of_shard.shape().rank() == 0) return Way::kAdd;
  if (joined.of_two) return IsRows(*joined.of_two, of_shard.shape(), 2) ? Way::kRows : Way::kAdd;
  for (size_t s = 0; s < whole_.size(); ++s) {
    if (!divided_.sources[s].whole && whole_[s].shape().dim(0) == of_shard.shape().dim(0) * options_.shards) return Way::kRows;
  }
  return Way::kAdd;
}

// ---- joining ---------------------------------------------------------------------------------------------------------------------------

Status ShardedRun::Parts::AgreeOnValues() const {
  std::string text;
  for (size_t v = 0; v < joined_.size(); ++v) {
    text += Cat(divided_.values[v].name, " ", joined_[v].way == Way::kRows ? "rows" : Cat(join_->result(joined_[v].index).shape()), "\n");
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(*collectives_, CollectiveUser::kControl, text, "for the values that are joined"));
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    return Aborted("rank ", r, " (", collectives_->host(static_cast<int>(r)), ") would join other values than rank 0:\n", all[r], "and not\n", all[0]);
  }
  return {};
}

Status ShardedRun::Parts::JoinRows(bool results) {
  for (size_t v = 0; v < joined_.size(); ++v) {
    if (joined_[v].way != Way::kRows || !Needed(v, results)) continue;
    WEFT_ASSIGN_OR_RETURN(joined_[v].value, RowsOfAll(v));
    // The mean of the shards' losses has of each row a share of what the loss of its shard has.
    if (divided_.values[v].gradient && !options_.sum) WEFT_RETURN_IF_ERROR(DivideRows(joined_[v].value));
  }
  return {};
}

Result<Tensor> ShardedRun::Parts::RowsOfAll(size_t value) {
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
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(*collectives_, CollectiveUser::kControl, bytes, what));
  bytes.clear();
  for (const std::string& rows : all) {
    if (!rows.starts_with(shape)) return other;
    bytes += std::string_view(rows).substr(shape.size());
  }
  WEFT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Allocate(first.dtype(), WithRows(first.shape(), first.shape().dim(0) * options_.shards), scope_->budget()));
  WEFT_RETURN_IF_ERROR(ReadElements(bytes, whole));
  return whole;
}

Status ShardedRun::Parts::DivideRows(Tensor& rows) const {
  const std::optional<SumForm> form = SumFormOf(rows.dtype());
  if (!form || form->type == SumType::kInteger) return {};
  std::vector<char> sums(static_cast<size_t>(rows.count() * form->parts) * SizeOf(form->type));
  StoreElements(rows, sums.data());
  DivideSums(form->type, sums.data(), rows.count() * form->parts, options_.shards);
  RoundElements(sums.data(), rows);
  return {};
}

}  // namespace weft
