// Failures for which there may be no memory.
#pragma once

#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/base/status.h"

namespace weft {

/// resource_exhausted: the machine has no memory left. Takes no memory itself.
Status NoMemory() noexcept;

/// Whether a failure came of the machine's lack of memory, not of a limit or of what was asked for: the same may succeed later.
bool IsNoMemory(const Status& status) noexcept;
/// The first such failure; success where there is none.
Status FirstNoMemory(const Diagnostics& found) noexcept;

/// Of the exception that is being handled, in a catch block: what the call limit says, NoMemory, or internal with `what` happened and what the
/// exception says. Needs no memory to say that there is none.
Status StatusOfException(std::string_view what) noexcept;

/// Of the exception that std::thread throws where it cannot start, in a catch block: resource_exhausted with the system's reason.
Status NoThread() noexcept;

}  // namespace weft
