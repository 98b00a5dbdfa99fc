// Calls of the system that fail when a test wants them to.
#pragma once

#include <cstdint>

namespace weft::faults {

/// The calls of a kind count together: kOpen is open, openat, openat2 and fopen, and so on.
enum class Call : int { kNone, kOpen, kRead, kWrite, kSync, kRename, kRemove, kStat, kSeek, kFolder, kLock, kClose, kLink, kReadLink, kList, kAccess, kCopy, kMode, kThread };
inline constexpr Call kFileCalls[] = {Call::kOpen,   Call::kRead, Call::kWrite, Call::kSync, Call::kRename,   Call::kRemove, Call::kStat,   Call::kSeek,
                                      Call::kFolder, Call::kLock, Call::kClose, Call::kLink, Call::kReadLink, Call::kList,   Call::kAccess, Call::kCopy, Call::kMode};
const char* NameOf(Call call);
/// Whether a signal may interrupt it: nothing says so of what lists a folder.
inline bool MayBeInterrupted(Call call) { return call != Call::kList; }

/// Calls of one kind that no work for a file comes near: where one still fails then, a test has not tried each.
inline constexpr uint64_t kMostCalls = 1000;

/// Instead of an error: reads and writes a part.
inline constexpr int kShort = -1;

/// While it lives, call `number` (from 1 on) of a kind fails with `error`, once; the next ones, too, where it `lasts`. Calls for the standard
/// streams do not count. A close that fails has closed. One at a time.
class CallFault {
 public:
  CallFault(Call call, uint64_t number, int error, bool lasts = false);
  ~CallFault();
  CallFault(const CallFault&) = delete;
  CallFault& operator=(const CallFault&) = delete;
  bool happened() const;
};

/// The most bytes that an fsync of the test program had left to wait for, of all that was written since the last one, since this was called last.
int64_t MostLeftForSync();

}  // namespace weft::faults
