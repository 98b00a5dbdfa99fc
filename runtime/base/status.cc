#include "weft/base/status.h"

#include <array>

namespace weft {
namespace {

constexpr std::array<std::string_view, 13> kCodeNames = {
    "ok",          "invalid_argument",   "not_found", "already_exists", "out_of_range", "failed_precondition",
    "unsupported", "resource_exhausted", "data_loss", "cancelled",      "aborted",      "permission_denied",
    "internal"};

const std::string kEmpty;
const Place kNowhere;

void FillIfEmpty(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

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
};

void Status::FreeRep::operator()(Rep* rep) const { delete rep; }

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_.reset(new Rep{code, std::move(message), {}, {}, Phase::kNone, {}, {}, nullptr});
}

Status::Status(const Status& other) : rep_(other.rep_ ? new Rep(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_.reset(other.rep_ ? new Rep(*other.rep_) : nullptr);
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

Status&& Status::WithPage(std::string_view page) && {
  if (rep_) FillIfEmpty(rep_->place.page, page);
  return std::move(*this);
}

Status&& Status::WithPointer(std::string_view pointer) && {
  if (rep_) FillIfEmpty(rep_->place.pointer, pointer);
  return std::move(*this);
}

Status&& Status::WithBlock(std::string_view block) && {
  if (rep_) FillIfEmpty(rep_->place.block, block);
  return std::move(*this);
}

Status&& Status::WithPort(std::string_view port) && {
  if (rep_) FillIfEmpty(rep_->place.port, port);
  return std::move(*this);
}

Status&& Status::WithHint(std::string_view hint) && {
  if (rep_) FillIfEmpty(rep_->hint, hint);
  return std::move(*this);
}

Status&& Status::WithPhase(Phase phase) && {
  if (rep_ && rep_->phase == Phase::kNone) rep_->phase = phase;
  return std::move(*this);
}

Status&& Status::WithNeeded(std::string_view needed) && {
  if (rep_) FillIfEmpty(rep_->needed, needed);
  return std::move(*this);
}

Status&& Status::WithFound(std::string_view found) && {
  if (rep_) FillIfEmpty(rep_->found, found);
  return std::move(*this);
}

Status&& Status::WithCause(Status cause) && {
  if (rep_ && !rep_->cause && !cause.ok()) rep_->cause = std::make_shared<const Status>(std::move(cause));
  return std::move(*this);
}

Status&& Status::Append(std::string_view text) && {
  if (rep_) rep_->message.append(text);
  return std::move(*this);
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
