// Whether this is a build for a sanitizer, in which everything takes many times as long.
#pragma once

namespace weft::kit {

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as g++ says it
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitized = true;  // each access costs several
#else
inline constexpr bool kThreadSanitized = false;
#endif

}  // namespace weft::kit
