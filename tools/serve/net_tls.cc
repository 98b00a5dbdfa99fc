#include "tools/serve/net_connection.h"

namespace weft::serve {

void StartTls(asio::ip::tcp::socket socket, std::shared_ptr<NetShared> shared, asio::ssl::context& tls) {
  std::make_shared<HttpConnection<TlsStream>>(TlsStream(PlainStream(std::move(socket)), tls), std::move(shared))->Start();
}

}  // namespace weft::serve
