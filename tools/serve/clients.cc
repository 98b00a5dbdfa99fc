#include "tools/serve/clients.h"

#include <algorithm>

namespace weft::serve {

std::shared_ptr<Client> Clients::Find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second;
}

std::shared_ptr<Client> Clients::Welcome(const std::string& resume, bool& resumed) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(resume);
  resumed = found != clients_.end();
  if (resumed) {
    found->second->Renew();
    return found->second;
  }
  // Those that are gone, and whose lease lasts, take no place.
  const auto connected = std::count_if(clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second->connected(); });
  if (ended_ || static_cast<size_t>(connected) >= limits_.clients || clients_.size() >= limits_.clients_known) return nullptr;
  const std::string id = "c" + std::to_string(next_++);
  return clients_[id] = std::make_shared<Client>(id, limits_);
}

std::vector<std::shared_ptr<Client>> Clients::All() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Client>> all;
  for (const auto& [id, client] : clients_) all.push_back(client);
  return all;
}

std::vector<std::shared_ptr<Client>> Clients::TakeGone() {
  std::vector<std::shared_ptr<Client>> gone;
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const auto& entry) {
    if (entry.second->gone_for() < std::chrono::seconds(limits_.lease_seconds)) return false;
    gone.push_back(entry.second);
    return true;
  });
  return gone;
}

void Clients::Tell(const Json& message) {
  const auto text = std::make_shared<const std::string>(Dump(message));
  for (const auto& client : All()) client->SendText(text);
}

void Clients::End() {
  std::map<std::string, std::shared_ptr<Client>> clients;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    clients.swap(clients_);
  }
  for (const auto& [id, client] : clients) {
    client->Send({{"type", "bye"}, {"reason", "the server ends"}});
    client->Close(1001, "the server ends");
  }
}

}  // namespace weft::serve
