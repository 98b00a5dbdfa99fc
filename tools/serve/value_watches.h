// Subscriptions to values: what clients want to have of them, and samples on their way.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "tools/serve/client.h"
#include "tools/serve/page_sessions.h"

namespace weft::serve {

/// A subscription of the engine. Watches that want the same share one: each costs every run something.
struct EngineWatch {
  SubscriptionHandle handle;
  uint64_t tag = 0;
  bool of_fetches = false;  // it is of the session of fetches
};

/// What a client wants to have of a value.
struct ValueWatch {
  uint64_t sub = 0;
  std::weak_ptr<Client> client;
  std::string name, session, reduction_name;
  weft_subscription_options options = WEFT_SUBSCRIPTION_OPTIONS_INIT;
  std::shared_ptr<EngineWatch> engine;  // null while there is no session that has it
  uint64_t frames = 0;
  bool batch = false;      // samples that are ready together come in one frame
};

/// A sample with its values.
struct TakenSample {
  explicit TakenSample(const weft_sample& taken);
  /// Whether it fits into one frame with the other.
  bool Joins(const TakenSample& first) const;
  weft_sample sample;
  ViewHandle value, high;
  Tensor tensor, high_tensor;
};

/// Guarded by the lock of the Runner that has it.
class ValueWatches {
 public:
  ValueWatches(Document& document, PageSessions& sessions, const Limits& limits) : document_(document), sessions_(sessions), limits_(limits) {}

  /// A new one, `sub`, as a client's call says; the call's answer. Throws 400, 404.
  Json Add(const std::shared_ptr<Client>& client, const Json& call, uint64_t sub);
  /// False where the client has none of this number.
  bool Remove(const Client& client, uint64_t sub);
  void RemoveAll(const Client& client);
  size_t Count(const Client& client) const;
  void Clear() { watches_.clear(); }

  /// The sessions of the page, or the one of fetches, go.
  void Detach(bool of_fetches);
  /// There are other sessions, or values: those that wait for theirs look for them.
  void Resume();
  void Rename(const Renames& renames);
  /// Sends what sessions have ready.
  void SendSamples();

 private:
  void Subscribe(ValueWatch& watch, bool new_one);
  Json Header(ValueWatch& watch, const char* type, const weft_sample& sample) const;
  void SendSample(ValueWatch& watch, Client& client, const TakenSample& taken) const;
  void SendBatch(ValueWatch& watch, Client& client, const TakenSample* first, size_t count) const;

  Document& document_;
  PageSessions& sessions_;
  const Limits& limits_;
  std::deque<ValueWatch> watches_;
  uint64_t next_tag_ = 1;
};

}  // namespace weft::serve
