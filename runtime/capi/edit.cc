// Edits of a loaded page.
#include "weft/page/edit.h"

#include "runtime/capi/objects.h"

using namespace weft;
using namespace weft::capi;

static_assert(static_cast<int32_t>(EditMode::kApply) == WEFT_EDIT_APPLY && static_cast<int32_t>(EditMode::kStrict) == WEFT_EDIT_STRICT &&
              static_cast<int32_t>(EditMode::kTry) == WEFT_EDIT_TRY);

weft_status weft_page_edit(weft_page* page, const char* edits, int32_t mode, weft_strings** inverse, weft_diagnostics** problems) {
  Diagnostics found;
  Status refused;
  PageChanges changes;
  weft_status status = Guard(problems, [&]() -> Status {
    if (inverse != nullptr) *inverse = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_RETURN_IF_ERROR(NeedPointer(edits, "edits"));
    if (mode < WEFT_EDIT_APPLY || mode > WEFT_EDIT_TRY) {
      return InvalidArgument("needs WEFT_EDIT_APPLY, WEFT_EDIT_STRICT or WEFT_EDIT_TRY, found ", mode).WithPort("mode");
    }
    WEFT_ASSIGN_OR_RETURN(std::vector<Edit> list, ReadEdits(edits, object->read));
    std::lock_guard lock(object->edit_mutex);
    Result<std::vector<Edit>> undo = object->scope->Apply(list, found, static_cast<EditMode>(mode), inverse != nullptr ? &changes : nullptr);
    found.SetPhase(Phase::kConnect);  // those of compiling say so
    if (!undo.ok()) {
      refused = undo.status();
      return {};
    }
    if (mode != WEFT_EDIT_TRY) object->diagnostics = std::move(found);
    return inverse != nullptr ? GiveTexts({WriteEdits(*undo), WriteChanges(changes, object->scope->edits())}, inverse) : Status();
  });
  return refused.ok() ? status : Report(refused, problems, &found);
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
