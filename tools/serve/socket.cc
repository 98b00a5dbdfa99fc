#include "tools/serve/socket.h"

#include <deque>
#include <mutex>

#include "tools/serve/runner.h"
#include "tools/serve/server.h"

namespace weft::serve {
namespace {

constexpr size_t kWaitingCalls = 256;
constexpr int kHelloSeconds = 5;

/// Calls of one connection are answered one after another, by a thread for calls.
class SocketSession : public SocketHandler, public std::enable_shared_from_this<SocketSession> {
 public:
  SocketSession(std::shared_ptr<Server> server, std::shared_ptr<Socket> socket) : server_(std::move(server)), socket_(std::move(socket)) {}

  void Begin() {
    server_->context().After(std::chrono::seconds(kHelloSeconds), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      const std::lock_guard lock(self->mutex_);
      if (!self->client_ && self->socket_) self->socket_->Close(4001, "no hello came", true);
    });
  }

  void OnText(std::string text) override {
    {
      const std::lock_guard lock(mutex_);
      if (calls_.Count() > server_->limits().calls_a_second || waiting_.size() >= kWaitingCalls) {
        if (socket_) socket_->Close(4029, "too many calls", true);
        return;
      }
      waiting_.push_back(std::move(text));
      if (std::exchange(working_, true)) return;
    }
    Work();
  }

  void OnAlive() override {}

  void OnClosed() override {
    std::shared_ptr<Client> client;
    std::shared_ptr<Socket> socket;
    {
      const std::lock_guard lock(mutex_);
      client = client_;
      socket = std::exchange(socket_, nullptr);
      waiting_.clear();
    }
    if (!client || !socket || !client->Detach(socket.get())) return;
    server_->context().work([server = server_, client] {
      if (!client->connected()) Forget(*server, *client);
    });
  }

 private:
  /// Ends all subscriptions of a client.
  static void Forget(Server& server, const Client& client) {
    for (const auto& document : server.pages().All()) {
      document->runner().Unwatch(client, "");
      if (document->log().Unsubscribe(client)) TellClients(*document);
    }
  }

  static void TellClients(Document& document) {
    Json list = Json::array();
    const auto clients = document.log().subscribers();
    for (const auto& client : clients) list.push_back({{"id", client->id()}, {"name", client->name()}});
    const Json message = {{"type", "clients"}, {"page", document.id()}, {"clients", std::move(list)}};
    for (const auto& client : clients) client->Send(message);
  }

  void Work() {
    const bool taken = server_->context().work([self = shared_from_this()] {
      for (;;) {
        std::string text;
        {
          const std::lock_guard lock(self->mutex_);
          if (self->waiting_.empty() || !self->socket_) {
            self->working_ = false;
            return;
          }
          text = std::move(self->waiting_.front());
          self->waiting_.pop_front();
        }
        self->Answer(text);
      }
    });
    if (taken) return;
    server_->context().net->After(std::chrono::milliseconds(50), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Work();
    });
  }

  void CloseWith(int code, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (socket_) socket_->Close(code, reason, true);
  }

  void Answer(const std::string& text) {
    Json call;
    try {
      call = ParseObject(text);
    } catch (const ApiError&) {
      return CloseWith(1007, "messages are JSON objects");
    }
    Json id = call.contains("id") && (call["id"].is_number() || call["id"].is_string()) ? call["id"] : Json(nullptr);
    try {
      const std::string op = TextField(call, "op");
      if (op == "hello") return Hello(call);
      if (!client_) return CloseWith(4001, "the first message must be a hello");
      if (op == "ping") return Ok(id, {{"t", std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count()}});
      if (op == "subscribe") return Subscribe(call, id);
      if (op == "unsubscribe") return Unsubscribe(call, id);
      throw ApiError(400, "invalid_argument", "'" + op.substr(0, 100) + "' is no call", "hello, subscribe, unsubscribe or ping");
    } catch (const ApiError& error) {
      if (client_) client_->Send({{"type", "error"}, {"id", id}, {"error", error.diagnostic()}});
      else CloseWith(4001, error.what());
    } catch (const std::exception& error) {
      if (client_) client_->Send({{"type", "error"}, {"id", id}, {"error", {{"code", "internal"}, {"severity", "error"}, {"message", error.what()}}}});
    }
  }

  void Ok(const Json& id, Json answer) {
    answer["type"] = "ok";
    answer["id"] = id;
    client_->Send(answer);
  }

  void Hello(const Json& call) {
    if (client_) throw ApiError(409, "failed_precondition", "there was a hello already");
    if (NumberField(call, "protocol", 0, 0, 1000000) != 1) return CloseWith(4002, "this server speaks protocol 1");
    bool resumed = false;
    const std::shared_ptr<Client> client = server_->clients().Welcome(TextField(call, "resume", ""), resumed);
    if (!client) return CloseWith(4029, "there are too many clients");
    client->SetName(TextField(call, "name", "").substr(0, 100));
    // What it had subscribed to by the connection before, it asks for anew.
    if (resumed) Forget(*server_, *client);
    const Json pages = server_->pages().Describe();
    const Json hello = {{"type", "hello"}, {"protocol", 1}, {"instance", server_->instance()}, {"client", client->id()}, {"resumed", resumed},
                        {"version", weft_version()}, {"lease_seconds", server_->limits().lease_seconds}, {"features", Json::array()}, {"pages", pages}};
    {
      const std::lock_guard lock(mutex_);
      if (!socket_) return;
      client_ = client;
      client->Attach(socket_, hello);
    }
    // What others did to the list before this client could be told.
    if (Json now = server_->pages().Describe(); now != pages) client->Send({{"type", "pages"}, {"pages", std::move(now)}});
  }

  void Subscribe(const Json& call, const Json& id) {
    const std::string topic = TextField(call, "topic");
    const std::shared_ptr<Document> document = server_->pages().Find(TextField(call, "page"));
    Runner& runner = document->runner();
    if (topic == "page") {
      std::optional<uint64_t> from;
      if (call.contains("from_seq") && !call["from_seq"].is_null()) from = static_cast<uint64_t>(NumberField(call, "from_seq", 0, 0, INT64_MAX));
      document->log().Subscribe(client_, from, {{"type", "ok"}, {"id", id}, {"topic", topic}, {"page", document->id()}});
      return TellClients(*document);
    }
    Json answer = {{"topic", topic}, {"page", document->id()}};
    if (topic == "run") {
      runner.WatchTicks(client_, call);
    } else if (topic == "summaries") {
      runner.WatchSummaries(client_, call);
    } else if (topic == "value") {
      size_t count = 0;
      for (const auto& other : server_->pages().All()) count += other->runner().values()->Count(*client_);
      if (count >= server_->limits().subscriptions) throw ApiError(429, "resource_exhausted", "there are too many subscriptions of this client");
      answer = runner.values()->Add(client_, call, server_->clients().NextSubscription());
    } else {
      throw ApiError(400, "invalid_argument", "'" + topic.substr(0, 100) + "' is no topic", "page, run, value or summaries");
    }
    Ok(id, std::move(answer));
  }

  void Unsubscribe(const Json& call, const Json& id) {
    if (call.contains("sub")) {
      const uint64_t sub = static_cast<uint64_t>(NumberField(call, "sub", 0, 0, INT64_MAX));
      bool found = false;
      for (const auto& document : server_->pages().All()) found = document->runner().values()->Remove(*client_, sub) || found;
      if (!found) throw ApiError(404, "not_found", "there is no subscription " + std::to_string(sub));
      return Ok(id, Json::object());
    }
    const std::shared_ptr<Document> document = server_->pages().Find(TextField(call, "page"));
    const std::string topic = TextField(call, "topic", "");
    if (topic.empty() || topic == "page") {
      if (document->log().Unsubscribe(*client_)) TellClients(*document);
    }
    if (topic != "page") document->runner().Unwatch(*client_, topic);
    Ok(id, Json::object());
  }

  const std::shared_ptr<Server> server_;
  std::mutex mutex_;
  std::shared_ptr<Socket> socket_;
  std::shared_ptr<Client> client_;  // set once, by the thread that answers
  std::deque<std::string> waiting_;
  bool working_ = false;
  PerSecond calls_;
};

}  // namespace

std::shared_ptr<SocketHandler> MakeSession(std::shared_ptr<Server> server, std::shared_ptr<Socket> socket) {
  auto session = std::make_shared<SocketSession>(std::move(server), std::move(socket));
  session->Begin();
  return session;
}

}  // namespace weft::serve
