// Requests, answers and sockets as the rest of the server sees them. Only net*.cc know the library that speaks HTTP and WebSocket.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::serve {

/// A request as far as it is known once its header has been read.
struct RequestHead {
  std::string method;                                      // "GET"
  std::string path;                                        // decoded, "/v1/pages/p1"; without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  std::map<std::string, std::string> headers;              // names in lower case
  bool malformed = false;                                  // the target cannot be read: a bad escape, a zero byte

  /// The header's value; empty without.
  std::string_view Header(const std::string& lower_name) const;
  /// The value of a query parameter; nothing where it is not given.
  std::optional<std::string> Query(std::string_view name) const;
};

struct Request : RequestHead {
  std::string body;
};

using Bytes = std::shared_ptr<const std::string>;

struct Response {
  int status = 200;
  std::string type = "application/json";
  Bytes body;  // null: none
  std::vector<std::pair<std::string, std::string>> headers;
};

/// An address as URLs have it: IPv6 in brackets.
std::string UrlHost(const std::string& address);

/// The path and query of a request target.
void ParseTarget(std::string_view target, RequestHead& head);

/// Sends the answer; called once, from any thread.
using Reply = std::function<void(Response)>;

/// A WebSocket that is open. Every function may be called from any thread.
class Socket {
 public:
  virtual ~Socket() = default;
  /// Queues a message. The queue is not bounded here: see waiting().
  virtual void Send(Bytes message, bool binary) = 0;
  /// Bytes that wait to be sent.
  virtual size_t waiting() const = 0;
  /// Ends the connection after what is queued, or at once.
  virtual void Close(int code, std::string reason, bool at_once) = 0;
};

/// What becomes of a socket's messages. Called on the network thread, one at a time.
class SocketHandler {
 public:
  virtual ~SocketHandler() = default;
  virtual void OnText(std::string text) = 0;
  /// A sign of life that is no message: a pong.
  virtual void OnAlive() = 0;
  virtual void OnClosed() = 0;
};

/// What the network layer asks of the server. Called on the network thread; nothing here may wait.
class Service {
 public:
  virtual ~Service() = default;
  /// Whether the request may go on, before its body is read: an answer refuses it. `body_limit` gets the most bytes of its body.
  virtual std::optional<Response> Admit(const RequestHead& head, uint64_t& body_limit) = 0;
  virtual void Handle(Request request, Reply reply) = 0;
  /// The same for a WebSocket: an answer refuses it.
  virtual std::optional<Response> AdmitSocket(const RequestHead& head) = 0;
  virtual std::shared_ptr<SocketHandler> OpenSocket(std::shared_ptr<Socket> socket) = 0;
};

}  // namespace weft::serve
