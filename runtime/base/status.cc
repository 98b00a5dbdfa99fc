#include "weft/base/status.h"

#include <array>
#include <new>

namespace weft {
namespace {

constexpr std::array<std::string_view, 13> kCodeNames = {
    "ok",          "invalid_argument",   "not_found", "already_exists", "out_of_range", "failed_precondition",
    "unsupported", "resource_exhausted", "data_loss", "cancelled",      "aborted",      "permission_denied",
    "internal"};

const std::string kEmpty;
const Place kNowhere;

}  // namespace

std::string_view PhaseName(Phase phase) {
  constexpr std::array<std::string_view, 5> kNames = {"", "load", "connect", "compile", "run"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view CodeName(Code code) { return kCodeNames[static_cast<size_t>(code)]; }

std::optional<Code> CodeFromName(std::string_view name) {
  for (size_t i = 0; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i] == name) return static_cast<Code>(i);
  }
  return std::nullopt;
}

struct Status::Rep {
  Code code;
  std::string message, hint;
  Place place;
  Phase phase = Phase::kNone;
  std::string needed, found;
  std::shared_ptr<const Status> cause;

  /// What a status is where there is no memory for it, and resource_exhausted without a message: always there, and never changed.
  static Rep* NoMemory() {
    static Rep* const rep = new Rep{Code::kResourceExhausted, "the machine has no memory left", {}, {}, Phase::kNone, {}, {}, nullptr};
    return rep;
  }
  static const bool made_at_start;

  /// Neither throws: a failure is never replaced by an exception.
  static Rep* Copy(const Rep* from) noexcept {
    if (from == nullptr) return nullptr;
    if (from == NoMemory()) return NoMemory();
    try {
      return new Rep(*from);
    } catch (const std::bad_alloc&) {
      return NoMemory();
    }
  }
  /// Calls change(rep) with that of a failure; what there is no memory for stays as it is.
  template <class Change>
  static Status&& With(Status& status, Change change) noexcept {
    try {
      if (status.rep_.get() == NoMemory()) status.rep_.reset(new Rep(*NoMemory()));
      if (status.rep_) change(*status.rep_);
    } catch (const std::bad_alloc&) {
    }
    return std::move(status);
  }
  static Status&& Fill(Status& status, std::string Rep::* field, std::string_view value) noexcept {
    return With(status, [&](Rep& rep) { if ((rep.*field).empty()) rep.*field = value; });
  }
  static Status&& FillPlace(Status& status, std::string Place::* field, std::string_view value) noexcept {
    return With(status, [&](Rep& rep) { if ((rep.place.*field).empty()) rep.place.*field = value; });
  }
};

const bool Status::Rep::made_at_start = [] {
  try {
    return NoMemory() != nullptr;
  } catch (const std::bad_alloc&) {  // a program that opens the library now goes on: it is made when it is needed
    return false;
  }
}();

void Status::FreeRep::operator()(Rep* rep) const {
  if (rep != Rep::NoMemory()) delete rep;
}

Status::Status(Code code, std::string message) {
  if (code == Code::kOk) return;
  const bool known = code == Code::kResourceExhausted && message.empty();
  Rep* const rep = known ? nullptr : new (std::nothrow) Rep{code, std::move(message), {}, {}, Phase::kNone, {}, {}, nullptr};
  rep_.reset(rep != nullptr ? rep : Rep::NoMemory());
}

Status::Status(const Status& other) : rep_(Rep::Copy(other.rep_.get())) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_.reset(Rep::Copy(other.rep_.get()));
  return *this;
}

Code Status::code() const { return rep_ ? rep_->code : Code::kOk; }
const std::string& Status::message() const { return rep_ ? rep_->message : kEmpty; }
const std::string& Status::hint() const { return rep_ ? rep_->hint : kEmpty; }
const Place& Status::place() const { return rep_ ? rep_->place : kNowhere; }
Phase Status::phase() const { return rep_ ? rep_->phase : Phase::kNone; }
const std::string& Status::needed() const { return rep_ ? rep_->needed : kEmpty; }
const std::string& Status::found() const { return rep_ ? rep_->found : kEmpty; }
const Status* Status::cause() const { return rep_ ? rep_->cause.get() : nullptr; }

Status&& Status::WithPage(std::string_view page) && { return Rep::FillPlace(*this, &Place::page, page); }
Status&& Status::WithPointer(std::string_view pointer) && { return Rep::FillPlace(*this, &Place::pointer, pointer); }
Status&& Status::WithBlock(std::string_view block) && { return Rep::FillPlace(*this, &Place::block, block); }
Status&& Status::WithPort(std::string_view port) && { return Rep::FillPlace(*this, &Place::port, port); }
Status&& Status::WithHint(std::string_view hint) && { return Rep::Fill(*this, &Rep::hint, hint); }
Status&& Status::WithNeeded(std::string_view needed) && { return Rep::Fill(*this, &Rep::needed, needed); }
Status&& Status::WithFound(std::string_view found) && { return Rep::Fill(*this, &Rep::found, found); }

Status&& Status::WithPhase(Phase phase) && {
  return Rep::With(*this, [&](Rep& rep) {
    if (rep.phase == Phase::kNone) rep.phase = phase;
  });
}

Status&& Status::WithCause(Status cause) && {
  return Rep::With(*this, [&](Rep& rep) {
    if (!rep.cause && !cause.ok()) rep.cause = std::make_shared<const Status>(std::move(cause));
  });
}

Status&& Status::Append(std::string_view text) && {
  return Rep::With(*this, [&](Rep& rep) { rep.message.append(text); });
}

std::string ToString(const Status& status) {
  if (status.ok()) return "ok";
  const Place& place = status.place();
  std::string out;
  if (!place.page.empty() || !place.pointer.empty()) {
    out = Cat(place.page, place.pointer.empty() ? "" : ":", place.pointer, ": ");
  }
  if (!place.block.empty()) out += Cat(place.block, place.port.empty() ? "" : ".", place.port, ": ");
  else if (!place.port.empty()) out += Cat(place.port, ": ");
  out += Cat(CodeName(status.code()), ": ", status.message());
  if (!status.hint().empty()) out += Cat(" (", status.hint(), ")");
  return out;
}

}  // namespace weft
