#include "runtime/capi/guard.h"

#include "runtime/base/failure.h"

namespace weft::capi {

static_assert(static_cast<weft_status>(Code::kInvalidArgument) == WEFT_INVALID_ARGUMENT &&
              static_cast<weft_status>(Code::kFailedPrecondition) == WEFT_FAILED_PRECONDITION &&
              static_cast<weft_status>(Code::kCancelled) == WEFT_CANCELLED && static_cast<weft_status>(Code::kInternal) == WEFT_INTERNAL);
static_assert(static_cast<int32_t>(Severity::kWarning) == WEFT_WARNING && static_cast<int32_t>(Severity::kNote) == WEFT_NOTE);

DiagnosticsObject::DiagnosticsObject(Diagnostics given, size_t more) : diagnostics(std::move(given)) {
  for (const Diagnostic& one : diagnostics.all()) {
    text += Cat(one, "\n");
    const size_t at = findings.size();
    findings.push_back({one.severity, &one.status, 0});
    for (const Status* cause = one.status.cause(); cause != nullptr; cause = cause->cause()) {
      text += Cat(Diagnostic{Severity::kNote, *cause}, "\n");
      findings.push_back({Severity::kNote, cause, 0});
      ++findings[at].causes;
    }
  }
  if (more += LeftOut(diagnostics); more > 0) {
    left_out = ResourceExhausted("a list holds at most ", Diagnostics::kLimit, " findings: ", more, " more are left out");
    text += Cat(Diagnostic{Severity::kNote, left_out}, "\n");
    findings.push_back({Severity::kNote, &left_out, 0});
  }
}

weft_status Report(const Status& failure, weft_diagnostics** problems, const Diagnostics* more, size_t left_out) noexcept {
  weft_status code = CodeOf(failure);
  if (problems == nullptr) return code;
  try {
    Diagnostics list;
    list.Error(failure);
    if (more != nullptr) list.Append(*more);
    (void)Give(std::make_shared<DiagnosticsObject>(std::move(list), left_out), problems).ok();
  } catch (...) {
    // There is no memory for a list: the code has to do.
  }
  return code;
}

weft_status ReportAll(const Diagnostics& found, weft_diagnostics** problems) noexcept {
  try {
    Diagnostics rest;
    bool met = false;
    for (const Diagnostic& one : found.all()) {
      bool leads = !met && one.severity == Severity::kError;
      met |= leads;
      if (!leads) rest.Add(one.severity, one.status);
    }
    return Report(found.FirstError(), problems, &rest, LeftOut(found));
  } catch (...) {
    return WEFT_RESOURCE_EXHAUSTED;
  }
}

weft_status ReportException(weft_diagnostics** problems) noexcept { return Report(StatusOfException("the call ended"), problems); }

Status GiveTexts(std::vector<std::string> texts, weft_strings** out) {
  WEFT_RETURN_IF_ERROR(NeedPointer(out, "text"));
  return Give(std::make_shared<StringsObject>(std::move(texts)), out);
}

Status GiveText(std::string text, weft_strings** out) {
  std::vector<std::string> texts;
  texts.push_back(std::move(text));
  return GiveTexts(std::move(texts), out);
}

}  // namespace weft::capi
