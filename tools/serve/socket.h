// What clients say by WebSocket.
#pragma once

#include <memory>

#include "tools/serve/http.h"

namespace weft::serve {

class Server;

/// The side of the server of a WebSocket that has just been opened.
std::shared_ptr<SocketHandler> MakeSession(std::shared_ptr<Server> server, std::shared_ptr<Socket> socket);

}  // namespace weft::serve
