#include "tools/serve/random.h"

#include <sys/random.h>

#include <cerrno>

#include "tools/serve/engine.h"

namespace weft::serve {

std::string RandomDigits(size_t bytes) {
  std::string text;
  while (text.size() < 2 * bytes) {
    unsigned char byte = 0;
    const ssize_t count = ::getrandom(&byte, 1, 0);
    if (count < 0 && errno != EINTR) throw ApiError(500, "internal", "the system has no random numbers");
    if (count != 1) continue;
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace weft::serve
