// The network: one thread that accepts connections, reads requests and writes answers, within limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tools/serve/http.h"

namespace weft::serve {

struct NetOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;             // 0: a free one
  std::string cert, key;         // files; both or none
  size_t most_connections = 256;
  uint32_t header_bytes = 16384;
  uint64_t frame_bytes = 1 << 20;
  int header_seconds = 10;       // for a header to come, once it has begun or the connection is new
  int body_seconds = 60;
  int idle_seconds = 75;         // between two requests
  int write_seconds = 30;        // without progress
  int pong_seconds = 30;         // without a sign of life of a WebSocket
};

/// Waits for a descriptor to be readable. From any thread.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void Arm() = 0;
  /// No call begins after this, but one may be in progress.
  virtual void Close() = 0;
};

/// The listener and its thread's loop.
class Net {
 public:
  /// Binds the address. Throws std::runtime_error, with what to do, where that is not possible.
  Net(const NetOptions& options, std::shared_ptr<Service> service);
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  uint16_t port() const;
  /// Serves on the calling thread until Stop.
  void Run();
  /// Ends Run; from any thread, and from signal handlers of OnSignal.
  void Stop();
  /// Has `call` called on the network thread for SIGINT and SIGTERM.
  void OnSignal(std::function<void(int)> call);
  /// Has `call` called on the network thread every so often, and once after a time.
  void Every(std::chrono::milliseconds interval, std::function<void()> call);
  void After(std::chrono::milliseconds delay, std::function<void()> call);
  /// Has `call` called on the network thread when the descriptor is readable, once for each Arm.
  std::shared_ptr<Watch> MakeWatch(int fd, std::function<void()> call);
  /// Has `call` called on the network thread. From any thread.
  void Post(std::function<void()> call);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weft::serve
