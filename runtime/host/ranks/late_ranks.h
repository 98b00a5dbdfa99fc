// LateRanks: finds the ranks that a transfer waits for in vain, by asking them.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/host/ranks/transfer.h"

namespace weft {

/// A rank is late when nothing has moved between it and this one, within a transfer, for the transfer's deadline. It is asked what it does, and
/// when its own transfer of the same user last moved: as long as that is no longer ago than the deadline, it is not late. (It has yet to get what it
/// is to pass on, say, or serves others first.) As all ranks make the transfers of a user in one order, that comes to an end. A rank that does not
/// answer has stopped, or cannot be reached. Used by the one thread that calls the library of messages.
class LateRanks {
 public:
  LateRanks(const WeftMessages& library, const std::vector<std::string>& hosts, std::function<std::string()> where)
      : library_(library), hosts_(hosts), where_(std::move(where)) {}

  /// Answers ranks that ask, and takes answers, for the transfers under way. To be called every few milliseconds.
  void Exchange(std::list<Transfer*>& moving);
  /// Asks late ranks of a transfer. Where they have had time to answer: why the job must end; else "".
  std::string Check(Transfer& transfer, int rank);

 private:
  /// A short text on its way.
  struct Note {
    int request;
    std::array<char, 512> text;
  };

  std::string Name(int rank) const { return RankName(rank, hosts_[static_cast<size_t>(rank)]); }
  void Send(int to, int tag, std::string_view text);
  bool Take(int tag, int& from, std::string& text);
  void Answer(int to, std::string_view question, const std::list<Transfer*>& moving);
  static void Learn(std::string_view answer, std::list<Transfer*>& moving);

  const WeftMessages& library_;
  const std::vector<std::string>& hosts_;
  const std::function<std::string()> where_;
  std::list<Note> notes_;
  int questions_ = 0;
};

}  // namespace weft
