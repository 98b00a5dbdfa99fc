#include "tools/serve/net_connection.h"

namespace weft::serve {

void StartPlain(asio::ip::tcp::socket socket, std::shared_ptr<NetShared> shared) {
  std::make_shared<HttpConnection<PlainStream>>(PlainStream(std::move(socket)), std::move(shared))->Start();
}

}  // namespace weft::serve
