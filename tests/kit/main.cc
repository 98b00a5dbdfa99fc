#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// Under AddressSanitizer an allocation that is far too large gives null, as it does without, so that its refusal can be tested.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
