#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <optional>

#include "tools/serve/net_connection.h"

namespace weft::serve {
namespace {

namespace websocket = boost::beast::websocket;

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

/// A connection that makes HTTP requests.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(NetStream stream, std::shared_ptr<NetShared> shared)
      : stream_(std::move(stream)), count_(std::make_shared<ConnectionCount>(std::move(shared))) {}

  void Start() {
    Expires(options().header_seconds);
    stream_.Handshake([self = shared_from_this()](error_code error) {
      if (!error) self->ReadHeader(self->options().header_seconds);
    });
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
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) { self->GotHeader(error); });
  }

  void GotHeader(error_code error) {
    if (error == http::error::end_of_stream || error == asio::error::eof || error == beast::error::timeout) return End();
    if (error == http::error::header_limit) return Refuse(431, "the header is too long");
    if (error) return IsParseError(error) ? Refuse(400, "this is no HTTP request") : End();
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

  static bool IsParseError(const error_code& error) { return error.category() == http::make_error_code(http::error::bad_method).category(); }

  void SendContinue() {
    continue_ = http::response<http::empty_body>(http::status::continue_, 11);
    http::async_write(stream_, continue_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->ReadBody();
    });
  }

  void ReadBody() {
    Expires(options().body_seconds);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
      if (error == http::error::body_limit) return self->Refuse(413, "the body is too long");
      if (error) return IsParseError(error) ? self->Refuse(400, "the body cannot be read") : self->End();
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
    service().Handle(std::move(request), [self = shared_from_this()](Response response) {
      asio::post(self->stream_.get_executor(), [self, response = std::move(response)]() mutable { self->Answer(std::move(response), false); });
    });
  }

  void Upgrade() {
    if (auto refusal = service().AdmitSocket(head_)) return Answer(std::move(*refusal), true);
    http::request<http::string_body> request = parser_->release();
    StartSocket(std::move(stream_), count_, std::move(request));
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
      http::async_write_header(stream_, *serializer_, [self = shared_from_this()](error_code error, size_t) { self->Wrote(error, true); });
      return;
    }
    http::async_write_some(stream_, *serializer_, [self = shared_from_this()](error_code error, size_t) {
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
    if (!stream_.secure()) beast::get_lowest_layer(stream_).socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    Expires(2);
    ReadAway(1 << 20);
  }

  void ReadAway(size_t left) {
    buffer_.consume(buffer_.size());
    stream_.async_read_some(buffer_.prepare(16384), [self = shared_from_this(), left](error_code error, size_t count) {
      if (error || count >= left) return self->End();
      self->ReadAway(left - count);
    });
  }

  void End() { beast::get_lowest_layer(stream_).close(); }

  NetStream stream_;
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

}  // namespace

void StartConnection(asio::ip::tcp::socket socket, asio::ssl::context* tls, std::shared_ptr<NetShared> shared) {
  std::make_shared<HttpConnection>(NetStream(std::move(socket), tls), std::move(shared))->Start();
}

}  // namespace weft::serve
