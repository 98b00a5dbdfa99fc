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

Status ShardRows::Check(const ShardSource& source, const Tensor& tensor) const {
  const auto refuse = [&](Status status) { return PlaceAtNode(scope_->graph(), source.value.node, std::move(status)); };
  if (tensor.shape().rank() == 0) return refuse(InvalidArgument("'", source.name, "' has no rows to cut into shards: it is a scalar"));
  const int64_t rows = tensor.shape().dim(0);
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

Status ShardRows::Take(const SessionSpec& spec, const std::vector<char>& anew, const Session* before) {
  whole_.resize(divided_.sources.size());
  rows_.resize(divided_.sources.size());
  for (size_t s = 0; s < divided_.sources.size(); ++s) {
    const ShardSource& source = divided_.sources[s];
    Tensor now;
    if (source.fed >= 0) {
      now = spec.feeds[static_cast<size_t>(source.fed)].tensor;
    } else {
      WEFT_ASSIGN_OR_RETURN(ResultValue value, before->Get(source.value));
      now = std::move(value.tensor);
    }
    const bool same = source.fed >= 0 && whole_[s].defined() && anew[static_cast<size_t>(source.fed)] == 0;
    whole_[s] = std::move(now);
    if (same || source.whole) continue;
    WEFT_RETURN_IF_ERROR(Check(source, whole_[s]));
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
