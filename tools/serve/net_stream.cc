#include "tools/serve/net_stream.h"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace weft::serve {

struct NetStream::Tls {
  Tls(beast::tcp_stream& tcp, asio::ssl::context& context) : stream(tcp, context) {}

  asio::ssl::stream<beast::tcp_stream&> stream;
  std::vector<char> record;  // what is written, together
};

NetStream::NetStream(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : tcp_(std::make_unique<beast::tcp_stream>(std::move(socket))), tls_(tls == nullptr ? nullptr : std::make_unique<Tls>(*tcp_, *tls)) {}
NetStream::NetStream(NetStream&&) noexcept = default;
NetStream::~NetStream() = default;

void NetStream::Handshake(Done done) {
  if (tls_) tls_->stream.async_handshake(asio::ssl::stream_base::server, std::move(done));
  else asio::post(get_executor(), [done = std::move(done)] { done({}); });
}

void NetStream::Teardown(beast::role_type role, Done done) {
  using beast::websocket::async_teardown;
  if (tls_) async_teardown(role, tls_->stream, std::move(done));
  else async_teardown(role, *tcp_, std::move(done));
}

void NetStream::Read(const std::vector<asio::mutable_buffer>& into, Moved moved) {
  if (tls_) tls_->stream.async_read_some(into, std::move(moved));
  else tcp_->async_read_some(into, std::move(moved));
}

void NetStream::Write(const std::vector<asio::const_buffer>& from, Moved moved) {
  if (!tls_) return tcp_->async_write_some(from, std::move(moved));
  // Each write is a record of its own: heads and bodies go together, as much as a record holds.
  constexpr size_t kMostOfRecord = 16384;
  tls_->record.resize(std::min(asio::buffer_size(from), kMostOfRecord));
  asio::buffer_copy(asio::buffer(tls_->record), from);
  tls_->stream.async_write_some(asio::buffer(tls_->record), std::move(moved));
}

}  // namespace weft::serve
