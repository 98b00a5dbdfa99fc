#include "runtime/host/ranks/transfer.h"

#include <algorithm>

namespace weft {
namespace {

// Tags of messages: those below are the link's own (late_ranks.cc).
constexpr int kFirstUserTag = 3;
// The first piece of a message is so small that it comes as soon as the other rank is there.
constexpr size_t kFirstPiece = size_t{4} << 10, kPiece = size_t{256} << 10;
// Pieces under way: of a stream as many as keep a fast network busy (16 MiB), of many streams together as many as a library of messages holds
// at ease.
constexpr size_t kMostOfStream = 64, kLeastOfStream = 4, kPiecesUnderWay = 512;

}  // namespace

void Transfer::Begin(const WeftMessages& library, int ranks) {
  begun_ = true;
  const Clock::time_point now = Clock::now();
  std::vector<int> places(static_cast<size_t>(ranks), -1);  // in peers_, by rank
  size_t streams = 0;
  for (const Message& message : messages_) {
    if (message.bytes == 0) continue;
    int& place = places[static_cast<size_t>(message.rank)];
    if (place < 0) {
      place = static_cast<int>(peers_.size());
      Peer& peer = peers_.emplace_back();
      peer.rank = message.rank;
      peer.moved = now;
    }
    Peer& peer = peers_[static_cast<size_t>(place)];
    Stream& stream = message.receive ? peer.in : peer.out;
    streams += stream.messages.empty();
    stream.messages.push_back(&message);
  }
  window_ = std::clamp(kPiecesUnderWay / std::max<size_t>(streams, 1), kLeastOfStream, kMostOfStream);
  // What is expected before it comes needs no memory between.
  for (const bool receive : {true, false}) {
    for (Peer& peer : peers_) Fill(library, peer, receive);
  }
}

void Transfer::Fill(const WeftMessages& library, Peer& peer, bool receive) {
  Stream& stream = receive ? peer.in : peer.out;
  const int tag = kFirstUserTag + static_cast<int>(user_);
  while (stream.message < stream.messages.size() && stream.requests.size() - stream.ended < window_ && !fault_) {
    const Message& message = *stream.messages[stream.message];
    char* const data = static_cast<char*>(message.data) + stream.at;
    const size_t bytes = std::min(stream.at == 0 ? kFirstPiece : kPiece, message.bytes - stream.at);
    const int request = receive ? library.receive(peer.rank, tag, data, bytes) : library.send(peer.rank, tag, data, bytes);
    if (request < 0) {
      fault_ = {peer.rank, receive};
      return;
    }
    stream.requests.push_back(request);
    stream.at += bytes;
    if (stream.at < message.bytes) continue;
    ++stream.message;
    stream.at = 0;
  }
}

/// Takes note of the stream's pieces that have ended, in their order.
bool Transfer::Take(const WeftMessages& library, Peer& peer, bool receive) {
  Stream& stream = receive ? peer.in : peer.out;
  const size_t before = stream.ended;
  while (stream.ended < stream.requests.size()) {
    const int done = library.test(stream.requests[stream.ended]);
    if (done < 0) fault_ = {peer.rank, receive};
    if (done <= 0) break;
    ++stream.ended;
  }
  if (stream.ended == before) return false;
  flows_ |= receive;
  if (!fault_) Fill(library, peer, receive);
  return true;
}

bool Transfer::Look(const WeftMessages& library) {
  bool moved = false;
  for (size_t p = 0; p < peers_.size() && !fault_;) {
    Peer& peer = peers_[p];
    const bool came = Take(library, peer, true);
    const bool went = !fault_ && Take(library, peer, false);
    if (came || went) {
      moved = true;
      Note(peer, Clock::now());
    }
    if (peer.in.done() && peer.out.done()) {
      std::swap(peer, peers_.back());
      peers_.pop_back();
    } else {
      ++p;
    }
  }
  return moved;
}

void Transfer::Note(Peer& peer, Clock::time_point moved) {
  peer.moved = std::max(peer.moved, moved);
  moved_ = std::max(moved_.value_or(moved), moved);
}

}  // namespace weft
