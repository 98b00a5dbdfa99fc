// A connection: HTTP requests one after another, or a WebSocket. Only net*.cc include this.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <atomic>
#include <memory>

#include "tools/serve/net.h"
#include "tools/serve/net_stream.h"

namespace weft::serve {

namespace http = boost::beast::http;

/// What the connections of a server have in common.
struct NetShared {
  NetOptions options;
  std::shared_ptr<Service> service;
  std::atomic<size_t> connections{0};
};

/// Counts a connection as long as it lives.
class ConnectionCount {
 public:
  explicit ConnectionCount(std::shared_ptr<NetShared> shared) : shared_(std::move(shared)) { ++shared_->connections; }
  ~ConnectionCount() { --shared_->connections; }
  ConnectionCount(const ConnectionCount&) = delete;
  ConnectionCount& operator=(const ConnectionCount&) = delete;
  NetShared& operator*() const { return *shared_; }
  NetShared* operator->() const { return shared_.get(); }

 private:
  std::shared_ptr<NetShared> shared_;
};

/// Serves a socket that was accepted, with TLS where there is a context for it, until either side ends it.
void StartConnection(asio::ip::tcp::socket socket, asio::ssl::context* tls, std::shared_ptr<NetShared> shared);

/// Goes on as a WebSocket, of a client that has been let in by this request.
void StartSocket(NetStream&& stream, std::shared_ptr<ConnectionCount> count, http::request<http::string_body> request);

}  // namespace weft::serve
