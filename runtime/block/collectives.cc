#include "weft/block/collectives.h"

#include <cstring>

#include "weft/base/text.h"

namespace weft {
namespace {

Message ToSend(int rank, const void* data, size_t bytes) { return {rank, false, const_cast<void*>(data), bytes}; }

}  // namespace

std::string RankName(int rank, std::string_view host) { return Cat("rank ", rank, " (", host, ")"); }

Result<std::vector<std::string>> GatherAll(Collectives& collectives, CollectiveUser user, std::string_view mine, std::string_view what) {
  const auto size = static_cast<size_t>(collectives.size());
  const auto rank = static_cast<size_t>(collectives.rank());
  std::vector<uint64_t> lengths(size, mine.size());
  std::vector<Message> messages;
  const uint64_t length = mine.size();
  for (size_t r = 0; r < size; ++r) {
    if (r == rank) continue;
    messages.push_back(ToSend(static_cast<int>(r), &length, sizeof length));
    messages.push_back({static_cast<int>(r), true, &lengths[r], sizeof length});
  }
  WEFT_RETURN_IF_ERROR(collectives.Move(user, messages, what));
  messages.clear();
  std::vector<std::string> all(size);
  for (size_t r = 0; r < size; ++r) {
    if (r == rank) {
      all[r] = mine;
      continue;
    }
    all[r].resize(lengths[r]);
    messages.push_back(ToSend(static_cast<int>(r), mine.data(), mine.size()));
    messages.push_back({static_cast<int>(r), true, all[r].data(), all[r].size()});
  }
  WEFT_RETURN_IF_ERROR(collectives.Move(user, messages, what));
  return all;
}

Status Broadcast(Collectives& collectives, CollectiveUser user, int root, std::span<std::byte> bytes, std::string_view what) {
  const int rank = collectives.rank(), size = collectives.size();
  const int place = (rank - root + size) % size;  // from the root on
  const auto at = [&](int other) { return (other + root) % size; };
  // A binomial tree: who has the bytes passes them on to a process that has not, over twice the distance each time.
  int distance = 1;
  while (distance < size && place >= distance) distance *= 2;
  if (place != 0) {
    const Message from{at(place - distance / 2), true, bytes.data(), bytes.size()};
    WEFT_RETURN_IF_ERROR(collectives.Move(user, {&from, 1}, what));
  }
  std::vector<Message> messages;
  for (; place + distance < size; distance *= 2) messages.push_back(ToSend(at(place + distance), bytes.data(), bytes.size()));
  return collectives.Move(user, messages, what);
}

Status BroadcastText(Collectives& collectives, CollectiveUser user, int root, std::string& bytes, std::string_view what) {
  uint64_t length = bytes.size();
  WEFT_RETURN_IF_ERROR(Broadcast(collectives, user, root, std::as_writable_bytes(std::span(&length, 1)), what));
  bytes.resize(length);
  return Broadcast(collectives, user, root, std::as_writable_bytes(std::span(bytes)), what);
}

Status Barrier(Collectives& collectives, CollectiveUser user, std::string_view what) {
  return GatherAll(collectives, user, {}, what).status();
}

Status AgreeOnStatus(Collectives& collectives, CollectiveUser user, const Status& own, std::string_view what) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, GatherAll(collectives, user, own.ok() ? "" : Cat("!", own.message()), what));
  if (!own.ok()) return own;
  for (size_t r = 0; r < all.size(); ++r) {
    if (!all[r].empty()) return Aborted(RankName(collectives, r), " failed: ", all[r].substr(1));
  }
  return {};
}

}  // namespace weft
