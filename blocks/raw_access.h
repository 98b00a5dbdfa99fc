// Numbers that are read and written as integers of their size, which C++ allows for none but bytes. A function of this mark is neither
// compiled into its caller nor known by what it accesses, so that no compiler takes a float that it wrote for one that nobody wrote, also
// where the whole program is optimised at once.
#pragma once

#if defined(__clang__)
#define WEFT_RAW_ACCESS [[gnu::noinline]]  // what it accesses is not looked at across functions
#else
#define WEFT_RAW_ACCESS [[gnu::noipa]]
#endif
