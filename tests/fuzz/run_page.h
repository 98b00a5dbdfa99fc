// Runs a page as far as it goes, within limits.
#pragma once

#include "tests/fuzz/finding.h"
#include "weft/page/page.h"

namespace weft::fuzz {

/// How far a page came.
enum class PageEnd { kRefused, kFailed, kDone };

/// Connects, plans and runs each session of the page twice, with kRunDeadline, in the scratch folder; of many sessions that take long only the
/// first. `found`: what reading it found. Throws a Finding for a wrong error, for one that comes late, for a text without bounds, and where memory
/// is still counted afterwards.
PageEnd RunPage(Page page, Diagnostics found, bool keep_all);

}  // namespace weft::fuzz
