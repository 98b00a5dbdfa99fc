// What the sanitizers of a build with WEFT_SANITIZE are told; part of every program of such a build.

/// An allocation that is far too large gives null, as it does without sanitizers, so that its refusal can be tested.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options();
/// (Tests of ranks fork processes that have threads of their own.)
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1 die_after_fork=0"; }

/// The font library keeps its configuration, which texts in pictures need, until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
/// Nor is that worth a word.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
