// weft: runs, checks, tests and draws block-graph pages. In a package the commands are in a shared library, built for each x86-64 level; this
// program is common to all.

#if WEFT_MIMALLOC
#include <mimalloc.h>

#include <new>

// mimalloc's own operators are compiled as C: without memory they end the process instead of throwing bad_alloc.
static void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size) { return OrThrow(mi_malloc(size)); }
void* operator new[](size_t size) { return OrThrow(mi_malloc(size)); }
void* operator new(size_t size, std::align_val_t align) { return OrThrow(mi_malloc_aligned(size, static_cast<size_t>(align))); }
void* operator new[](size_t size, std::align_val_t align) { return OrThrow(mi_malloc_aligned(size, static_cast<size_t>(align))); }
#endif

extern "C" int weft_command_main(int argc, char** argv);

int main(int argc, char** argv) {
#if WEFT_MIMALLOC
  // Huge pages for small allocations, too (blocks of a page, variables). MIMALLOC_LARGE_OS_PAGES=0 in the environment overrides it.
  mi_option_set_enabled_default(mi_option_large_os_pages, true);
#endif
  return weft_command_main(argc, argv);
}
