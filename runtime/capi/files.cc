// The files that a page may use.
#include "runtime/capi/objects.h"

using namespace weft;
using namespace weft::capi;

static_assert(static_cast<int32_t>(Files::Access::kRead) == WEFT_FILE_READ &&
              static_cast<int32_t>(Files::Access::kWrite) == WEFT_FILE_WRITE);

weft_status weft_page_file_path(weft_page* page, const char* name, int32_t access, weft_strings** path, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(path, "path"));
    *path = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    if (access != WEFT_FILE_READ && access != WEFT_FILE_WRITE) {
      return InvalidArgument("needs WEFT_FILE_READ or WEFT_FILE_WRITE, found ", access).WithPort("access");
    }
    WEFT_ASSIGN_OR_RETURN(const std::filesystem::path place, object->document->files().Resolve(name, static_cast<Files::Access>(access)));
    return GiveText(place.string(), path);
  });
}

weft_status weft_page_read_file(weft_page* page, const char* name, weft_strings** content, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(content, "content"));
    *content = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    WEFT_ASSIGN_OR_RETURN(std::string bytes, object->document->files().Read(name));
    return GiveText(std::move(bytes), content);
  });
}

weft_status weft_page_write_file(weft_page* page, const char* name, const void* bytes, size_t count, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    if (count > 0) WEFT_RETURN_IF_ERROR(NeedPointer(bytes, "bytes"));
    return object->document->files().Write(name, {count > 0 ? static_cast<const char*>(bytes) : "", count});
  });
}
