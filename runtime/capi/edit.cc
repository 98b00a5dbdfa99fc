// Edits of a loaded page, and their history.
#include "runtime/capi/objects.h"
#include "runtime/host/kept_name.h"

using namespace weft;
using namespace weft::capi;

static_assert(static_cast<int32_t>(EditMode::kApply) == WEFT_EDIT_APPLY && static_cast<int32_t>(EditMode::kStrict) == WEFT_EDIT_STRICT &&
              static_cast<int32_t>(EditMode::kTry) == WEFT_EDIT_TRY && static_cast<int32_t>(EditMode::kOpenInputs) == WEFT_EDIT_OPEN_INPUTS);

namespace {

/// Some edits of what is done, and its changes, for a host that wants them; given before the edit is made, which cannot fail then.
Document::Prepare Giving(std::vector<Edit> DocumentEdit::* edits, weft_strings** out) {
  if (out == nullptr) return {};
  return [=](const DocumentEdit& done, uint64_t number) { return GiveTexts({WriteEdits(done.*edits), WriteChanges(done.changes, number)}, out); };
}

/// What was given for an edit that was not made after all.
void TakeBack(weft_strings** out) {
  if (out == nullptr || *out == nullptr) return;
  (void)Close(*out).ok();
  *out = nullptr;
}

/// Undo or redo.
weft_status StepBack(weft_page* page, Result<DocumentEdit> (Document::*step)(const Document::Prepare&), weft_strings** edits,
                     weft_diagnostics** problems) {
  const weft_status status = Guard(problems, [&]() -> Status {
    if (edits != nullptr) *edits = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    return ((*object->document).*step)(Giving(&DocumentEdit::made, edits)).status();
  });
  if (status != WEFT_OK) TakeBack(edits);
  return status;
}

/// The refusal, then what else would be wrong with the page: what was refused, or came to be told of another port, is not told again.
weft_status ReportRefusal(const Status& refused, const Diagnostics& found, weft_diagnostics** problems) try {
  const auto same = [](const Status& a, const Status& b) {
    return a.place().block == b.place().block && a.place().port == b.place().port && a.message() == b.message();
  };
  Diagnostics others;
  for (const Diagnostic& one : found.all()) {
    const bool told = same(one.status, refused) || (refused.cause() != nullptr && same(one.status, *refused.cause()));
    if (!told) others.Add(one.severity, one.status);
  }
  return Report(refused, problems, &others);
} catch (const std::bad_alloc&) {
  return Report(refused, problems);
}

}  // namespace

weft_status weft_page_edit(weft_page* page, const char* edits, int32_t mode, weft_strings** inverse, weft_diagnostics** problems) {
  Diagnostics found;
  Status refused;
  weft_status status = Guard(problems, [&]() -> Status {
    if (inverse != nullptr) *inverse = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_RETURN_IF_ERROR(NeedPointer(edits, "edits"));
    if (mode < WEFT_EDIT_APPLY || mode > WEFT_EDIT_OPEN_INPUTS) {
      return InvalidArgument("needs WEFT_EDIT_APPLY, _STRICT, _TRY or _OPEN_INPUTS, found ", mode).WithPort("mode");
    }
    refused = object->document->Apply(edits, static_cast<EditMode>(mode), found, Giving(&DocumentEdit::inverse, inverse)).status();
    return {};
  });
  if (status != WEFT_OK || !refused.ok()) TakeBack(inverse);
  if (refused.ok()) return status;
  return ReportRefusal(refused, found, problems);
}

weft_status weft_page_undo(weft_page* page, weft_strings** edits, weft_diagnostics** problems) {
  return StepBack(page, &Document::Undo, edits, problems);
}

weft_status weft_page_redo(weft_page* page, weft_strings** edits, weft_diagnostics** problems) {
  return StepBack(page, &Document::Redo, edits, problems);
}

weft_status weft_page_history(weft_page* page, size_t* undo, size_t* redo, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    if (undo != nullptr) *undo = 0;
    if (redo != nullptr) *redo = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    const Document::History history = object->document->history();
    if (undo != nullptr) *undo = history.undo;
    if (redo != nullptr) *redo = history.redo;
    return {};
  });
}

weft_status weft_page_edits(weft_page* page, uint64_t* edits, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(edits, "edits"));
    *edits = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    *edits = object->scope->edits();
    return {};
  });
}

weft_status weft_name_renamed(const char* name, const char* from, const char* to, weft_strings** now, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(now, "now"));
    *now = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_RETURN_IF_ERROR(NeedPointer(from, "from"));
    WEFT_RETURN_IF_ERROR(NeedPointer(to, "to"));
    return GiveText(Renamed(name, from, to), now);
  });
}
