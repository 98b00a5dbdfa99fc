// The table that tells live handles from others. A handle is a number in the shape of a pointer:
//   bit 63 set (no address of a program), bits 56..61 kind, bits 24..55 generation of the slot, bits 0..23 slot.
// A slot's generation grows with each object it holds, so that a handle is never valid again once it was closed. The table is all that
// the interface shares between runtimes; a look-up locks one of 64 mutexes for a few instructions.
#pragma once

#include <memory>

#include "weft.h"
#include "weft/base/status.h"

namespace weft::capi {

enum class Kind : uint8_t {
  kStrings = 1,
  kDiagnostics,
  kRuntime,
  kPage,
  kSession,
  kView,
  kEvents,
  kSubscription,
  kBreakpoint,
  kSnapshot,
  kEdit,
  kPageRun,
  kValues,
};
/// "weft_page".
std::string_view KindName(Kind kind);

/// What a handle names. Destroyed by the last who holds it, with no lock of the table held.
class Object {
 public:
  virtual ~Object() = default;
  /// failed_precondition where a call would wait for the one that this thread is in.
  virtual Status MayCall() const { return {}; }
};

/// Maps a handle's C type to its object: specialised below each object by WEFT_HANDLE.
template <class Handle>
struct HandleTraits;
#define WEFT_HANDLE(handle, object, tag)               \
  template <>                                          \
  struct weft::capi::HandleTraits<handle> {            \
    using Type = object;                               \
    static constexpr Kind kKind = Kind::tag;           \
  }

// ---- untyped; use the templates below --------------------------------------------------------------------------------------------------

/// Gives an object a handle, with one hold. Throws bad_alloc; resource_exhausted where there are 16 million handles already.
Result<void*> AddHandle(Kind kind, std::shared_ptr<Object> object);
/// The object of a live handle of the kind. invalid_argument for null, foreign and other kinds; failed_precondition for a closed one.
Result<std::shared_ptr<Object>> FindHandle(Kind kind, const void* handle);
/// One hold more or, where `change` is -1, one less; the handle is closed with the last hold, and its object handed over.
Result<std::shared_ptr<Object>> HoldHandle(Kind kind, const void* handle, int change);
/// How many handles are live, for tests of leaks.
size_t LiveHandles();

// ---- typed -----------------------------------------------------------------------------------------------------------------------------

template <class Handle>
using ObjectOf = typename HandleTraits<std::remove_const_t<Handle>>::Type;

/// The object behind a handle, where this thread may call it; it lives at least as long as the pointer.
template <class Handle>
Result<std::shared_ptr<ObjectOf<Handle>>> Find(Handle* handle) {
  WEFT_ASSIGN_OR_RETURN(auto object, FindHandle(HandleTraits<std::remove_const_t<Handle>>::kKind, handle));
  WEFT_RETURN_IF_ERROR(object->MayCall());
  return std::static_pointer_cast<ObjectOf<Handle>>(std::move(object));
}

/// A new handle for the object, stored in `*out`.
template <class Handle>
Status Give(std::shared_ptr<ObjectOf<Handle>> object, Handle** out) {
  WEFT_ASSIGN_OR_RETURN(void* handle, AddHandle(HandleTraits<Handle>::kKind, std::move(object)));
  *out = static_cast<Handle*>(handle);
  return {};
}

/// Ends one hold (the only one, but of views); gives the object, whose last reference this may be.
template <class Handle>
Result<std::shared_ptr<ObjectOf<Handle>>> Close(Handle* handle) {
  WEFT_ASSIGN_OR_RETURN(auto object, HoldHandle(HandleTraits<std::remove_const_t<Handle>>::kKind, handle, -1));
  return std::static_pointer_cast<ObjectOf<Handle>>(std::move(object));
}

}  // namespace weft::capi
