#include "runtime/host/ranks/shard_feeds.h"

#include <algorithm>

namespace weft {
namespace {

/// invalid_argument where a value cannot take the place of one that was fed before: one that is cut has the same rank, others the same shape.
Status CheckFeed(std::string_view name, const Shape& before, bool cut, const Shape& now) {
  if (cut ? before.rank() == now.rank() : before == now) return {};
  if (cut) return InvalidArgument("'", name, "' needs the rank of what was fed before, ", before.rank(), ", found the shape ", now);
  return InvalidArgument("'", name, "' is the same for all shards, and needs the shape of what was fed before, ", before, ", found ", now);
}

}  // namespace

Status ShardFeeds::Feed(std::string_view name, Tensor value) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef output, graph_->FindValue(name));
  const std::string known = graph_->ValueName(output);
  const DType needed = graph_->TypeOf(output);
  if (value.dtype() != needed) return InvalidArgument("the feed of '", known, "' needs ", needed, ", found ", value.dtype());
  std::lock_guard lock(mutex_);
  if (fed_) {
    const auto fed = std::ranges::find(*fed_, output, &Fed::value);
    if (fed == fed_->end()) {
      return FailedPrecondition("'", known, "' was not fed before the first step, which has divided the session")
          .WithHint("feed it before the first step");
    }
    WEFT_RETURN_IF_ERROR(CheckFeed(known, fed->shape, fed->cut, value.shape()));
  }
  const auto given = std::ranges::find(given_, output, &SessionSpec::Feed::value);
  if (given == given_.end()) given_.push_back({output, std::move(value)});
  else given->tensor = std::move(value);
  return {};
}

void ShardFeeds::TakeFirst() {
  std::lock_guard lock(mutex_);
  for (SessionSpec::Feed& given : given_) {
    const auto known = std::ranges::find(spec_.feeds, given.value, &SessionSpec::Feed::value);
    if (known == spec_.feeds.end()) spec_.feeds.push_back(std::move(given));
    else known->tensor = std::move(given.tensor);
  }
  given_.clear();
  // All ranks have them in one order, whatever that of their hosts is.
  std::ranges::sort(spec_.feeds, {}, [](const SessionSpec::Feed& feed) { return std::pair(feed.value.node, feed.value.output); });
  fed_.emplace();
  for (const SessionSpec::Feed& feed : spec_.feeds) fed_->push_back({feed.value, feed.tensor.shape()});
  anew_.assign(spec_.feeds.size(), 1);
}

void ShardFeeds::NoteCut(const ShardParts& divided) {
  std::lock_guard lock(mutex_);
  for (const ShardSource& source : divided.sources) {
    if (source.fed >= 0) (*fed_)[static_cast<size_t>(source.fed)].cut = !source.whole;
  }
}

Status ShardFeeds::Take(const ShardSessions& sessions) {
  std::vector<SessionSpec::Feed> given;
  {
    std::lock_guard lock(mutex_);
    given.swap(given_);
  }
  for (SessionSpec::Feed& feed : given) {
    const auto known = std::ranges::find(spec_.feeds, feed.value, &SessionSpec::Feed::value);
    const auto index = static_cast<size_t>(known - spec_.feeds.begin());
    // (Again: it may have been given while the session was being divided.)
    WEFT_RETURN_IF_ERROR(CheckFeed(graph_->ValueName(feed.value), (*fed_)[index].shape, (*fed_)[index].cut, feed.tensor.shape()));
    for (Session* session : {sessions.before(), &sessions.shard(), sessions.after()}) {
      if (session != nullptr) WEFT_RETURN_IF_ERROR(session->Feed(feed.value, feed.tensor));
    }
    known->tensor = std::move(feed.tensor);
    anew_[index] = 1;
  }
  return {};
}

}  // namespace weft
