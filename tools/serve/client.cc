#include "tools/serve/client.h"

namespace weft::serve {

std::string Client::name() const {
  const std::lock_guard lock(mutex_);
  return name_;
}

void Client::SetName(std::string name) {
  const std::lock_guard lock(mutex_);
  name_ = std::move(name);
}

void Client::Attach(std::shared_ptr<Socket> socket, const Json& first) {
  auto text = std::make_shared<const std::string>(Dump(first));
  std::shared_ptr<Socket> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(socket_, std::move(socket));
    socket_->Send(std::move(text), false);
    lost_.clear();
  }
  if (before) before->Close(1000, "the client came back by another connection", true);
}

bool Client::Detach(const Socket* socket) {
  const std::lock_guard lock(mutex_);
  if (socket_.get() != socket) return false;
  socket_.reset();
  gone_since_ = Clock::now();
  return true;
}

bool Client::connected() const {
  const std::lock_guard lock(mutex_);
  return socket_ != nullptr;
}

Clock::duration Client::gone_for() const {
  const std::lock_guard lock(mutex_);
  return socket_ ? Clock::duration::zero() : Clock::now() - gone_since_;
}

void Client::Renew() {
  const std::lock_guard lock(mutex_);
  gone_since_ = Clock::now();
}

void Client::SendText(Bytes text) {
  const std::lock_guard lock(mutex_);
  if (!socket_) return;
  // One message may be longer than the queue: it is taken where nothing waits.
  const size_t waiting = socket_->waiting();
  if (waiting > 0 && waiting + text->size() > limits_.queue_bytes) {
    socket_->Close(4008, "events are read too slowly", true);
    return;
  }
  socket_->Send(std::move(text), false);
}

bool Client::Offer(Bytes message, bool binary, const char* topic) {
  const std::lock_guard lock(mutex_);
  if (!socket_) return false;
  const size_t waiting = socket_->waiting();
  if (waiting > 0 && waiting + message->size() > limits_.queue_bytes / 2) {
    lost_.insert(topic);
    return false;
  }
  if (!lost_.empty()) {
    const Json told = {{"type", "lost"}, {"topics", lost_}};
    lost_.clear();
    socket_->Send(std::make_shared<const std::string>(Dump(told)), false);
  }
  socket_->Send(std::move(message), binary);
  return true;
}

void Client::Close(int code, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (socket_) socket_->Close(code, reason, false);
}

void EventLog::Publish(Json event) {
  const std::lock_guard lock(mutex_);
  event["page"] = page_;
  event["seq"] = ++seq_;
  auto text = std::make_shared<const std::string>(Dump(event));
  kept_.push_back({seq_, text});
  kept_bytes_ += text->size();
  while (kept_.size() > limits_.history_events || kept_bytes_ > limits_.history_bytes) {
    kept_bytes_ -= kept_.front().text->size();
    kept_.pop_front();
  }
  for (auto entry = subscribers_.begin(); entry != subscribers_.end();) {
    const auto client = entry->second.lock();
    if (client) client->SendText(text);
    entry = client ? std::next(entry) : subscribers_.erase(entry);
  }
}

uint64_t EventLog::seq() const {
  const std::lock_guard lock(mutex_);
  return seq_;
}

void EventLog::Subscribe(const std::shared_ptr<Client>& client, std::optional<uint64_t> from_seq, Json first) {
  const std::lock_guard lock(mutex_);
  const uint64_t oldest = kept_.empty() ? seq_ + 1 : kept_.front().seq;
  const bool gap = from_seq && (*from_seq < oldest || *from_seq > seq_ + 1);
  first["seq"] = seq_;
  first["gap"] = gap;
  client->Send(first);
  if (from_seq && !gap) {
    for (const Kept& kept : kept_) {
      if (kept.seq >= *from_seq) client->SendText(kept.text);
    }
  }
  subscribers_[client->id()] = client;
}

bool EventLog::Unsubscribe(const Client& client) {
  const std::lock_guard lock(mutex_);
  return subscribers_.erase(client.id()) > 0;
}

std::vector<std::shared_ptr<Client>> EventLog::subscribers() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Client>> clients;
  for (const auto& [id, client] : subscribers_) {
    if (auto alive = client.lock()) clients.push_back(std::move(alive));
  }
  return clients;
}

}  // namespace weft::serve
