// Errors of the operating system as codes.
#pragma once

#include "weft/base/status.h"

namespace weft {

/// The code that says best what an `errno` of a call on files means; internal for those that no input should bring about.
Code CodeOfErrno(int error);

}  // namespace weft
