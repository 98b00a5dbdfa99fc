// Errors of the operating system as Weft's codes.
#pragma once

#include "weft/base/status.h"

namespace weft {

/// The code for an `errno` of a call on files (ENOENT: not_found, EACCES: permission_denied ...); internal for those not expected of any
/// input.
Code CodeOfErrno(int error);

}  // namespace weft
