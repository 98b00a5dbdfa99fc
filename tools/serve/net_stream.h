// The bytes of a connection, plain or by TLS, as one type: HTTP and WebSockets over it are compiled once. Only net*.cc include this.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace weft::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

/// An AsyncStream of Boost.Asio. Deadlines are those of the TCP stream below, `beast::get_lowest_layer(stream)`. One thread.
class NetStream {
 public:
  using executor_type = beast::tcp_stream::executor_type;
  using Done = std::function<void(error_code)>;
  using Moved = std::function<void(error_code, size_t)>;

  /// Without a context for TLS the bytes are plain.
  NetStream(asio::ip::tcp::socket socket, asio::ssl::context* tls);
  NetStream(NetStream&&) noexcept;
  ~NetStream();

  bool secure() const { return tls_ != nullptr; }
  executor_type get_executor() noexcept { return tcp_->get_executor(); }
  beast::tcp_stream& next_layer() { return *tcp_; }
  const beast::tcp_stream& next_layer() const { return *tcp_; }

  /// The server's part of TLS' beginning; nothing where the bytes are plain.
  void Handshake(Done done);
  /// The orderly end.
  void Teardown(beast::role_type role, Done done);

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, size_t)>(
        [this](auto handler, const std::vector<asio::mutable_buffer>& into) { Read(into, Shared(std::move(handler))); }, token,
        std::vector<asio::mutable_buffer>(asio::buffer_sequence_begin(buffers), asio::buffer_sequence_end(buffers)));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, size_t)>(
        [this](auto handler, const std::vector<asio::const_buffer>& from) { Write(from, Shared(std::move(handler))); }, token,
        std::vector<asio::const_buffer>(asio::buffer_sequence_begin(buffers), asio::buffer_sequence_end(buffers)));
  }

  /// As Moved or Done, which can be copied, a handler that can only be moved. It is called once.
  template <class Handler>
  static auto Shared(Handler handler) {
    return [handler = std::make_shared<Handler>(std::move(handler))](auto... results) { std::move (*handler)(results...); };
  }

 private:
  struct Tls;
  void Read(const std::vector<asio::mutable_buffer>& into, Moved moved);
  void Write(const std::vector<asio::const_buffer>& from, Moved moved);

  std::unique_ptr<beast::tcp_stream> tcp_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

/// Found by Beast's WebSockets.
template <class Handler>
void async_teardown(beast::role_type role, NetStream& stream, Handler&& handler) {
  stream.Teardown(role, NetStream::Shared(std::forward<Handler>(handler)));
}

}  // namespace weft::serve
