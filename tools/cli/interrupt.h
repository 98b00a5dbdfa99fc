// Interrupt: SIGINT (Ctrl-C) and SIGTERM end a command in order.
#pragma once

#include <signal.h>

#include <atomic>

namespace weft::cli {

/// Takes both signals while it lives. The first is kept; another ends the program at once, with the status that shells give it. One at a
/// time in a process.
class Interrupt {
 public:
  /// Forgets a signal that an earlier one has kept. `act` is called by the first signal, on any thread and within its handler: it may take
  /// no lock and no memory. null: nothing is called.
  explicit Interrupt(void (*act)() = nullptr);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that came, 0 if none did: also after the guard that took it.
  static const std::atomic<int>& signal();
  /// The exit status of a program that a signal has ended, as shells give it.
  static constexpr int StatusOf(int signal) { return 128 + signal; }

 private:
  struct sigaction old_int_, old_term_;
};

}  // namespace weft::cli
