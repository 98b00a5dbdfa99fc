// Lists of types for explicit instances: WEFT_FOR_FLOATS(WEFT_INSTANTIATE) with a macro WEFT_INSTANTIATE(T).
#pragma once

#define WEFT_FOR_FLOATS(M) M(float) M(double) M(half) M(bfloat16)
#define WEFT_FOR_UNSIGNED(M) M(uint8_t) M(uint16_t) M(uint32_t) M(uint64_t)
#define WEFT_FOR_INTEGERS(M) M(int8_t) M(int16_t) M(int32_t) M(int64_t) WEFT_FOR_UNSIGNED(M)
#define WEFT_FOR_COMPLEXES(M) M(complex64) M(complex128)
#define WEFT_FOR_REALS(M) WEFT_FOR_FLOATS(M) WEFT_FOR_INTEGERS(M)
#define WEFT_FOR_NUMBERS(M) WEFT_FOR_REALS(M) WEFT_FOR_COMPLEXES(M)
