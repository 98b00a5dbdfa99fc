#include "runtime/host/ranks/shard_rows.h"

#include <algorithm>

namespace weft {

Shape WithRows(const Shape& shape, int64_t rows) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  auto made = Shape::Make(dims);
  return made.ok() ? *made : shape;
}

bool IsRows(const Shape& whole, const Shape& part, int shards) {
  if (part.rank() == 0 || whole.rank() != part.rank() || whole.dim(0) != part.dim(0) * shards) return false;
  for (int d = 1; d < part.rank(); ++d) {
    if (whole.dim(d) != part.dim(d)) return false;
  }
  return true;
}

void ShardRows::Forget() {
  whole_.clear();
  rows_.clear();
}

// Whether a source has rows decides how the session is divided, and is so for all steps.
Status ShardRows::Check(size_t index, const Shape& shape) const {
  const ShardSource& source = divided_.sources[index];
  const auto refuse = [&](Status status) { return PlaceAtNode(scope_->graph(), source.value.node, std::move(status)); };
  const std::string hint = Cat("give it rows in each step or in none, or leave it whole: --whole ", source.name);
  if (source.scalar && shape.rank() > 0) {
    return refuse(InvalidArgument("'", source.name, "' was a scalar in the steps before, and has the shape ", shape, " now").WithHint(hint));
  }
  if (source.whole) return {};
  if (shape.rank() == 0) {
    const bool had_rows = !rows_[index].empty();
    return refuse(InvalidArgument("'", source.name, "' has no rows to cut into shards: it is a scalar",
                                  had_rows ? ", and had rows in the steps before" : "").WithHint(hint));
  }
  const int64_t rows = shape.dim(0);
  if (rows % shards_ == 0 && rows > 0) return {};
  return refuse(InvalidArgument("'", source.name, "' has ", rows, " rows, which ", shards_, " shards do not divide")
                    .WithHint("take another number of shards or rows, or leave it whole: --whole"));
}

Result<Tensor> ShardRows::Cut(size_t source, int shard, int count) const {
  const Tensor& whole = whole_[source];
  const int64_t rows = whole.shape().dim(0) / shards_;
  WEFT_ASSIGN_OR_RETURN(Tensor part, Tensor::Allocate(whole.dtype(), WithRows(whole.shape(), rows * count), scope_->budget()));
  const auto* from = static_cast<const char*>(whole.data()) + part.bytes() / count * shard;
  CopyElements(whole.dtype(), from, part.data(), part.count());
  return part;
}

Result<Tensor> ShardRows::ValueOf(const ShardSource& source, const SessionSpec& spec, const std::vector<SessionSpec::Feed>& read) const {
  if (source.fed >= 0) return spec.feeds[static_cast<size_t>(source.fed)].tensor;
  const auto value = std::ranges::find(read, source.value, &SessionSpec::Feed::value);
  if (value == read.end()) return Internal("'", source.name, "' was not read before the shards");
  return value->tensor;
}

Status ShardRows::Take(const SessionSpec& spec, const std::vector<char>& anew, const std::vector<SessionSpec::Feed>& read) {
  whole_.resize(divided_.sources.size());
  rows_.resize(divided_.sources.size());
  for (size_t s = 0; s < divided_.sources.size(); ++s) {
    const ShardSource& source = divided_.sources[s];
    WEFT_ASSIGN_OR_RETURN(Tensor now, ValueOf(source, spec, read));
    const bool same = source.fed >= 0 && whole_[s].defined() && anew[static_cast<size_t>(source.fed)] == 0;
    if (!same) WEFT_RETURN_IF_ERROR(Check(s, now.shape()));
    whole_[s] = std::move(now);
    if (same || source.whole) continue;
    rows_[s].clear();
    for (int shard = own_.begin; shard < own_.end; ++shard) {
      WEFT_ASSIGN_OR_RETURN(rows_[s].emplace_back(), Cut(s, shard));
    }
  }
  return {};
}

const Tensor& ShardRows::Of(size_t source, int shard) const {
  return divided_.sources[source].whole ? whole_[source] : rows_[source][static_cast<size_t>(shard - own_.begin)];
}

bool ShardRows::HasRowsOfASource(const Shape& of_shard) const {
  for (size_t s = 0; s < whole_.size(); ++s) {
    if (!divided_.sources[s].whole && whole_[s].shape().dim(0) == of_shard.dim(0) * shards_) return true;
  }
  return false;
}

}  // namespace weft
