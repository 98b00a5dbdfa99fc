// What the server bounds, so that no client and no page can take it down.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::serve {

/// In nanoseconds.
inline constexpr int64_t kMillisecond = 1000000;

struct Limits {
  uint64_t page_bytes = 64 << 20;         // of a page's text, of a file or value that is sent here
  uint64_t body_bytes = 1 << 20;          // of other bodies
  uint64_t frame_bytes = 1 << 20;         // of a WebSocket message from a client
  size_t queue_bytes = 8 << 20;           // that wait to be sent to a client
  size_t change_bytes = 4 << 20;          // of a change that is sent whole
  size_t pages = 64;
  size_t clients = 64;                    // that are connected
  size_t clients_known = 1024;            // with those that are gone for less than a lease
  size_t connections = 256;
  size_t runs_kept = 20;                  // of a page, those that ended
  size_t subscriptions = 256;             // of a client
  size_t breakpoints = 256;               // of a page
  size_t feeds = 256;                     // of a page
  int64_t value_elements = 1 << 20;       // in one answer of JSON
  size_t json_bytes = 64 << 20;           // of values in one answer of JSON
  size_t string_bytes = 4096;             // of a string in summaries and samples
  int64_t value_bytes = int64_t{256} << 20;  // in one binary answer
  size_t names = 10000;                   // in one call
  size_t history_events = 1024;           // of a page, kept for replay
  size_t history_bytes = 4 << 20;         // less than queue_bytes: a replay must fit
  int64_t call_seconds = 20;              // of a call of the engine
  int64_t lease_seconds = 15;
  size_t calls_waiting = 256;             // for a thread
  int threads = 8;                        // that answer calls
  size_t files = 5000;                    // in a list
  int64_t calls_a_second = 500;            // a second, of one WebSocket
};

/// How often something happens within a second.
class PerSecond {
 public:
  /// It happens now; how often in this second, this time included.
  int64_t Count() {
    const auto now = std::chrono::steady_clock::now();
    if (now - began_ > std::chrono::seconds(1)) {
      began_ = now;
      count_ = 0;
    }
    return ++count_;
  }

 private:
  std::chrono::steady_clock::time_point began_{};
  int64_t count_ = 0;
};

}  // namespace weft::serve
