#include "tools/cli/interrupt.h"

#include <unistd.h>

#include <cerrno>

namespace weft::cli {
namespace {

std::atomic<int> came = 0;
void (*first_act)() = nullptr;  // written before the handler is set and after it is taken away
static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  if (came.exchange(signal) != 0) _exit(Interrupt::StatusOf(signal));
  if (first_act == nullptr) return;
  const int error = errno;
  first_act();
  errno = error;
}

}  // namespace

Interrupt::Interrupt(void (*act)()) {
  came = 0;
  first_act = act;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  first_act = nullptr;
}

const std::atomic<int>& Interrupt::signal() { return came; }

}  // namespace weft::cli
