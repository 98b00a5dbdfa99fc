// RunLog: what the blocks of a run print, for the page's host and for who observes the run.
#pragma once

#include "weft/block/services.h"
#include "weft/exec/session.h"

namespace weft {

class RunLog final : public Log {
 public:
  explicit RunLog(const std::function<void(std::string_view)>& print) : print_(print) {}
  /// Of the run that begins; null for none.
  void set_observer(Observer* observer) { observer_ = observer; }
  void Print(std::string_view text) override {
    if (print_) print_(text);
    if (observer_ != nullptr) observer_->OnPrint(text);
  }

 private:
  Observer* observer_ = nullptr;
  const std::function<void(std::string_view)>& print_;
};

}  // namespace weft
