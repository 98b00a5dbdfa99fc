// Versions, codes, element types, strings, diagnostics.
#include "runtime/capi/dtypes.h"
#include "runtime/capi/guard.h"
#include "runtime/host/version.h"

using namespace weft;
using namespace weft::capi;

uint32_t weft_abi_version(void) { return WEFT_ABI_VERSION; }

const char* weft_version(void) { return kVersion; }

const char* weft_status_name(weft_status code) {
  if (code < WEFT_OK || code > WEFT_INTERNAL) return "unknown";
  return CodeName(static_cast<Code>(code)).data();
}

const char* weft_dtype_name(int32_t dtype) { return DTypeName(FromC(dtype)).data(); }

size_t weft_dtype_size(int32_t dtype) {
  DType type = FromC(dtype);
  return type == DType::kInvalid || IsManaged(type) ? 0 : ElementSize(type);
}

// ---- strings ---------------------------------------------------------------------------------------------------------------------------

weft_status weft_strings_count(const weft_strings* strings, size_t* count) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(strings));
    *count = object->texts.size();
    return {};
  });
}

weft_status weft_strings_get(const weft_strings* strings, size_t index, const char** text, size_t* bytes) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(text, "text"));
    *text = nullptr;
    if (bytes != nullptr) *bytes = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(strings));
    if (index >= object->texts.size()) return OutOfRange("needs an index below ", object->texts.size(), ", found ", index);
    *text = object->texts[index].c_str();
    if (bytes != nullptr) *bytes = object->texts[index].size();
    return {};
  });
}

weft_status weft_strings_release(weft_strings* strings) {
  return Guard(nullptr, [&] { return strings == nullptr ? Status() : Close(strings).status(); });
}

// ---- diagnostics -----------------------------------------------------------------------------------------------------------------------

weft_status weft_diagnostics_count(const weft_diagnostics* diagnostics, size_t* count) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(count, "count"));
    *count = 0;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(diagnostics));
    *count = object->findings.size();
    return {};
  });
}

weft_status weft_diagnostics_get(const weft_diagnostics* diagnostics, size_t index, weft_diagnostic* diagnostic) {
  return Guard(nullptr, [&]() -> Status {
    weft_diagnostic filled = {sizeof filled, 0, 0, 0, "", "", "", "", "", "", 0, 0, "", ""};
    WEFT_RETURN_IF_ERROR(FillStruct(filled, diagnostic, "weft_diagnostic"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(diagnostics));
    const auto& all = object->findings;
    if (index >= all.size()) return OutOfRange("needs an index below ", all.size(), ", found ", index);
    const Status& status = *all[index].status;
    filled.severity = static_cast<int32_t>(all[index].severity);
    filled.code = CodeOf(status);
    filled.message = status.message().c_str();
    filled.hint = status.hint().c_str();
    filled.page = status.place().page.c_str();
    filled.pointer = status.place().pointer.c_str();
    filled.block = status.place().block.c_str();
    filled.port = status.place().port.c_str();
    filled.phase = static_cast<int32_t>(status.phase());
    filled.causes = all[index].causes;
    filled.needed = status.needed().c_str();
    filled.found = status.found().c_str();
    return FillStruct(filled, diagnostic, "weft_diagnostic");
  });
}

weft_status weft_diagnostics_text(const weft_diagnostics* diagnostics, const char** text) {
  return Guard(nullptr, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(text, "text"));
    *text = "";  // to be printed as it is
    WEFT_ASSIGN_OR_RETURN(auto object, Find(diagnostics));
    *text = object->text.c_str();
    return {};
  });
}

weft_status weft_diagnostics_release(weft_diagnostics* diagnostics) {
  return Guard(nullptr, [&] { return diagnostics == nullptr ? Status() : Close(diagnostics).status(); });
}
