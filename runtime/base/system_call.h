// Calls of the system that a signal may interrupt: where such a call is made, it is made again.
#pragma once

#include <cerrno>

namespace weft {

/// Calls call(), which gives -1 with errno where it fails, until no signal interrupts it. Not for close, which must not be called twice.
template <class Call>
auto Uninterrupted(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace weft
