#include "weft/base/system_error.h"

#include <cerrno>

namespace weft {

Code CodeOfErrno(int error) {
  switch (error) {
    case ENOENT:
    case ENXIO:
    case ENODEV: return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:  // also a link that was put in the way of what is opened
    case EXDEV: return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE: return Code::kResourceExhausted;
    case ENOTDIR:
    case EISDIR:
    case EOPNOTSUPP:  // also a device or pipe where a file is to be replaced
    case EBUSY: return Code::kFailedPrecondition;
    case ENAMETOOLONG:
    case EINVAL: return Code::kInvalidArgument;
    default: return Code::kInternal;
  }
}

}  // namespace weft
