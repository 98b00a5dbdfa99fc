#include "runtime/host/shared_library.h"

#include <dlfcn.h>

namespace weft {

Result<SharedLibrary> SharedLibrary::Load(const std::string& path, Symbols symbols) {
  dlerror();
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | (symbols == Symbols::kShared ? RTLD_GLOBAL | RTLD_NODELETE : RTLD_LOCAL))) return SharedLibrary(handle);
  const char* why = dlerror();
  Status status = NotFound("the library '", path, "' cannot be loaded: ", why == nullptr ? "the system does not say why" : why);
  if (path.find('/') != std::string::npos) return status;
  return std::move(status).WithHint(Cat("a name without a slash is looked for in the system's folders: write ./", path));
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::Find(const char* name) const { return dlsym(handle_, name); }

}  // namespace weft
