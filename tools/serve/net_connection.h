// A connection: HTTP requests one after another, or a WebSocket. For plain and TLS streams. Only net*.cc include this.
#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include <atomic>
#include <deque>
#include <mutex>
#include <type_traits>

#include "tools/serve/net.h"

namespace weft::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

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

template <class Body>
RequestHead HeadOf(const http::request<Body>& request) {
  RequestHead head;
  head.method = std::string(request.method_string());
  ParseTarget(std::string_view(request.target().data(), request.target().size()), head);
  for (const auto& field : request) {
    std::string name(field.name_string());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // A header that is there twice is refused where it decides on access.
    auto [entry, is_new] = head.headers.emplace(name, std::string(field.value()));
    if (!is_new) {
      if (name == "host" || name == "origin" || name == "authorization" || name == "content-type" || name == "content-length") head.malformed = true;
      entry->second += "," + std::string(field.value());
    }
  }
  return head;
}

/// A WebSocket of a client that has been let in.
template <class Stream>
class SocketConnection : public Socket, public std::enable_shared_from_this<SocketConnection<Stream>> {
 public:
  SocketConnection(Stream&& stream, std::shared_ptr<ConnectionCount> count) : stream_(std::move(stream)), count_(std::move(count)) {}

  void Start(http::request<http::string_body> request) {
    beast::get_lowest_layer(stream_).expires_never();
    NetShared& shared = **count_;
    websocket::stream_base::timeout timeout{std::chrono::seconds(shared.options.header_seconds), std::chrono::seconds(shared.options.pong_seconds), true};
    stream_.set_option(timeout);
    stream_.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
      response.set(http::field::sec_websocket_protocol, "weft.v1");
      response.set(http::field::server, "weft");
    }));
    stream_.read_message_max(shared.options.frame_bytes);
    stream_.auto_fragment(false);
    stream_.control_callback([this](websocket::frame_type kind, beast::string_view) {
      if (kind != websocket::frame_type::close && handler_) handler_->OnAlive();
    });
    request_ = std::move(request);
    stream_.async_accept(request_, [self = this->shared_from_this()](error_code error) {
      if (error) return;
      self->handler_ = (*self->count_)->service->OpenSocket(self);
      if (self->handler_) self->Read();
    });
  }

  void Send(Bytes message, bool binary) override {
    waiting_ += message->size() + 64;
    asio::post(stream_.get_executor(), [self = this->shared_from_this(), message = std::move(message), binary]() mutable {
      if (self->ended_) return;
      self->queue_.push_back({std::move(message), binary});
      if (!self->writing_) self->Write();
    });
  }

  size_t waiting() const override { return waiting_; }

  void Close(int code, std::string reason, bool at_once) override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this(), code, reason = std::move(reason), at_once] {
      if (self->ended_ || self->close_code_ != 0) return;
      self->close_code_ = code;
      self->close_reason_ = reason;
      if (at_once && self->writing_) {
        // What is being written does not get through: only the end of the connection does.
        self->queue_.erase(self->queue_.begin() + 1, self->queue_.end());
        self->EndAfter(std::chrono::seconds(2));
      } else if (at_once) {
        self->queue_.clear();
      }
      if (!self->writing_) self->Write();
    });
  }

 private:
  struct Message {
    Bytes bytes;
    bool binary;
  };

  void Read() {
    stream_.async_read(buffer_, [self = this->shared_from_this()](error_code error, size_t) {
      if (self->ended_) return;  // a write has failed meanwhile
      if (error) return self->Ended();
      if (!self->stream_.got_text()) {
        self->Close(1003, "text messages only", true);
        self->buffer_.consume(self->buffer_.size());
        return self->Read();
      }
      std::string text = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      if (self->buffer_.capacity() > 65536) self->buffer_.shrink_to_fit();
      if (self->close_code_ == 0) self->handler_->OnText(std::move(text));
      self->Read();
    });
  }

  void Write() {
    if (ended_) return;
    if (queue_.empty()) {
      writing_ = false;
      if (close_code_ != 0) SendClose();
      return;
    }
    writing_ = true;
    stream_.binary(queue_.front().binary);
    const auto buffer = asio::buffer(*queue_.front().bytes);
    stream_.async_write(buffer, [self = this->shared_from_this()](error_code error, size_t) {
      if (error || self->ended_) return self->Ended();
      self->waiting_ -= self->queue_.front().bytes->size() + 64;
      self->queue_.pop_front();
      self->Write();
    });
  }

  void SendClose() {
    writing_ = true;
    EndAfter(std::chrono::seconds(5));
    const websocket::close_reason reason(static_cast<websocket::close_code>(close_code_), close_reason_.substr(0, 120));
    stream_.async_close(reason, [self = this->shared_from_this()](error_code) { self->Ended(); });
  }

  /// Ends the connection also where the client does not answer.
  void EndAfter(std::chrono::seconds delay) {
    timer_.emplace(stream_.get_executor(), delay);
    timer_->async_wait([self = this->shared_from_this()](error_code error) {
      if (!error) beast::get_lowest_layer(self->stream_).cancel(), beast::get_lowest_layer(self->stream_).close();
    });
  }

  void Ended() {
    if (ended_) return;
    ended_ = true;
    if (timer_) timer_->cancel();
    // A write in progress may still look at the first message: that goes with the connection.
    if (queue_.size() > 1) queue_.erase(queue_.begin() + 1, queue_.end());
    waiting_ = 0;
    if (handler_) handler_->OnClosed();
    stream_.control_callback();
    handler_.reset();
    beast::get_lowest_layer(stream_).close();
  }

  websocket::stream<Stream, false> stream_;  // without compression: a small frame could make a large one
  std::shared_ptr<ConnectionCount> count_;
  http::request<http::string_body> request_;
  std::shared_ptr<SocketHandler> handler_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  std::atomic<size_t> waiting_{0};
  std::optional<asio::steady_timer> timer_;
  int close_code_ = 0;
  std::string close_reason_;
  bool writing_ = false, ended_ = false;
};

/// A connection that makes HTTP requests.
template <class Stream>
class HttpConnection : public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(Stream&& stream, std::shared_ptr<NetShared> shared)
      : stream_(std::move(stream)), count_(std::make_shared<ConnectionCount>(std::move(shared))) {}

  void Start() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      Expires((*count_)->options.header_seconds);
      stream_.async_handshake(asio::ssl::stream_base::server, [self = this->shared_from_this()](error_code error) {
        if (!error) self->ReadHeader(self->options().header_seconds);
      });
    } else {
      ReadHeader(options().header_seconds);
    }
  }

 private:
  const NetOptions& options() const { return (*count_)->options; }
  Service& service() const { return *(*count_)->service; }
  void Expires(int seconds) { beast::get_lowest_layer(stream_).expires_after(std::chrono::seconds(seconds)); }

  void ReadHeader(int seconds) {
    parser_.emplace();
    parser_->header_limit(options().header_bytes);
    parser_->body_limit(boost::none);
    Expires(seconds);
    http::async_read_header(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, size_t) { self->GotHeader(error); });
  }

  void GotHeader(error_code error) {
    if (error == http::error::end_of_stream || error == asio::error::eof || error == beast::error::timeout) return End();
    if (error == http::error::header_limit) return Refuse(431, "the header is too long");
    if (error) return dynamic_is_parse_error(error) ? Refuse(400, "this is no HTTP request") : End();
    head_ = HeadOf(parser_->get());
    if (head_.malformed) return Refuse(400, "the target or a header cannot be read");
    if (websocket::is_upgrade(parser_->get())) return Upgrade();
    uint64_t limit = 0;
    if (auto refusal = service().Admit(head_, limit)) return Answer(std::move(*refusal), true);
    const auto length = parser_->content_length();
    if (length && *length > limit) return Refuse(413, "the body is longer than the limit of " + std::to_string(limit) + " bytes");
    parser_->body_limit(limit);
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) return SendContinue();
    ReadBody();
  }

  static bool dynamic_is_parse_error(const error_code& error) { return error.category() == http::make_error_code(http::error::bad_method).category(); }

  void SendContinue() {
    continue_ = http::response<http::empty_body>(http::status::continue_, 11);
    http::async_write(stream_, continue_, [self = this->shared_from_this()](error_code error, size_t) {
      if (!error) self->ReadBody();
    });
  }

  void ReadBody() {
    Expires(options().body_seconds);
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, size_t) {
      if (error == http::error::body_limit) return self->Refuse(413, "the body is too long");
      if (error) return dynamic_is_parse_error(error) ? self->Refuse(400, "the body cannot be read") : self->End();
      self->GotRequest();
    });
  }

  void GotRequest() {
    Request request;
    static_cast<RequestHead&>(request) = std::move(head_);
    head_only_ = request.method == "HEAD";
    request.body = std::move(parser_->get().body());
    keep_alive_ = parser_->get().keep_alive();
    beast::get_lowest_layer(stream_).expires_never();
    service().Handle(std::move(request), [self = this->shared_from_this()](Response response) {
      asio::post(self->stream_.get_executor(), [self, response = std::move(response)]() mutable { self->Answer(std::move(response), false); });
    });
  }

  void Upgrade() {
    if (auto refusal = service().AdmitSocket(head_)) return Answer(std::move(*refusal), true);
    http::request<http::string_body> request = parser_->release();
    std::make_shared<SocketConnection<Stream>>(std::move(stream_), count_)->Start(std::move(request));
  }

  /// An answer before the body was read: the connection cannot go on.
  void Refuse(int status, const std::string& message) {
    Response response;
    response.status = status;
    response.body = std::make_shared<const std::string>("{\"error\":{\"code\":\"" + std::string(status == 413 || status == 431 ? "resource_exhausted" : "invalid_argument") +
                                                        "\",\"severity\":\"error\",\"message\":\"" + message + "\"}}");
    Answer(std::move(response), true);
  }

  void Answer(Response response, bool last) {
    last_ = last || !keep_alive_;
    body_ = response.body;
    auto& answer = answer_.emplace();
    answer.version(11);
    answer.result(static_cast<unsigned>(response.status));
    answer.set(http::field::server, "weft");
    if (body_) answer.set(http::field::content_type, response.type);
    answer.set("X-Content-Type-Options", "nosniff");
    answer.set("Referrer-Policy", "no-referrer");
    answer.set("Cross-Origin-Resource-Policy", "same-origin");
    bool cached = false;
    for (const auto& [name, value] : response.headers) {
      answer.set(name, value);
      cached = cached || name == "Cache-Control";
    }
    if (!cached) answer.set(http::field::cache_control, "no-store");
    const size_t size = body_ ? body_->size() : 0;
    if (response.status != 204 && response.status != 304) answer.content_length(size);
    answer.keep_alive(!last_);
    answer.body().data = head_only_ || size == 0 ? nullptr : const_cast<char*>(body_->data());
    answer.body().size = head_only_ ? 0 : size;
    answer.body().more = false;
    serializer_.emplace(answer);
    Write();
  }

  /// Part by part, so that a slow reader has time as long as it reads.
  void Write() {
    Expires(options().write_seconds);
    if (head_only_) {
      http::async_write_header(stream_, *serializer_, [self = this->shared_from_this()](error_code error, size_t) { self->Wrote(error, true); });
      return;
    }
    http::async_write_some(stream_, *serializer_, [self = this->shared_from_this()](error_code error, size_t) {
      self->Wrote(error, self->serializer_->is_done());
    });
  }

  void Wrote(error_code error, bool done) {
    if (error && error != http::error::need_buffer) return End();
    if (!done) return Write();
    serializer_.reset();
    answer_.reset();
    body_.reset();
    head_only_ = false;
    if (last_) return LingerAndEnd();
    ReadHeader(options().idle_seconds);
  }

  /// Reads what still comes for a moment: closing with unread bytes would drop the answer.
  void LingerAndEnd() {
    error_code ignored;
    if constexpr (std::is_same_v<Stream, PlainStream>) beast::get_lowest_layer(stream_).socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    Expires(2);
    ReadAway(1 << 20);
  }

  void ReadAway(size_t left) {
    buffer_.consume(buffer_.size());
    stream_.async_read_some(buffer_.prepare(16384), [self = this->shared_from_this(), left](error_code error, size_t count) {
      if (error || count >= left) return self->End();
      self->ReadAway(left - count);
    });
  }

  void End() { beast::get_lowest_layer(stream_).close(); }

  Stream stream_;
  std::shared_ptr<ConnectionCount> count_;
  beast::flat_buffer buffer_{1 << 20};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::empty_body> continue_;
  std::optional<http::response<http::buffer_body>> answer_;
  std::optional<http::response_serializer<http::buffer_body>> serializer_;
  RequestHead head_;
  Bytes body_;
  bool head_only_ = false, keep_alive_ = true, last_ = false;
};

/// Takes a socket that was accepted. Defined in net_plain.cc and net_tls.cc, so that each stream compiles by itself.
void StartPlain(asio::ip::tcp::socket socket, std::shared_ptr<NetShared> shared);
void StartTls(asio::ip::tcp::socket socket, std::shared_ptr<NetShared> shared, asio::ssl::context& tls);

}  // namespace weft::serve
