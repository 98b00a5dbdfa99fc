/* The library that weft/_native.py opens. It has nothing of its own: it needs libweft.so.1, which lies beside it, and the dynamic loader
 * takes that from the glibc-hwcaps folder that suits the processor. (The loader does so for what a library needs, not for a path.) */
extern const int weft_python_is_empty;
const int weft_python_is_empty = 1;
