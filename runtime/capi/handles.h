// The table of live handles. A handle is a number stored in a pointer:
//   bit 63 set (never an address of a program), bits 56..61 kind, bits 24..55 generation of the slot, bits 0..23 slot.
// The generation of a slot is incremented for each object stored in it, so that a closed handle never becomes valid again. The table is the
// only state shared between runtimes. All functions are thread-safe; a look-up locks one of 64 mutexes.
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
  kSharded,
};
/// "weft_page".
std::string_view KindName(Kind kind);

/// The object behind a handle. Destroyed with the last shared_ptr to it, never while the table is locked.
class Object {
 public:
  virtual ~Object() = default;
  /// failed_precondition where a call on this thread would deadlock: it is inside a callback that the object waits for.
  virtual Status MayCall() const { return {}; }
};

/// Maps a handle's C type to the class of its object; specialised by WEFT_HANDLE after each class.
template <class Handle>
struct HandleTraits;
#define WEFT_HANDLE(handle, object, tag)               \
  template <>                                          \
  struct weft::capi::HandleTraits<handle> {            \
    using Type = object;                               \
    static constexpr Kind kKind = Kind::tag;           \
  }

// ---- untyped; use the templates below --------------------------------------------------------------------------------------------------

/// A new handle for the object, with a reference count of 1. Throws bad_alloc; resource_exhausted at 16 million handles.
Result<void*> AddHandle(Kind kind, std::shared_ptr<Object> object);
/// The object of a live handle. invalid_argument for null, foreign pointers and handles of other kinds; failed_precondition for a closed one.
Result<std::shared_ptr<Object>> FindHandle(Kind kind, const void* handle);
/// Adds `change` (1 or -1) to the reference count; at 0 the handle is closed. Returns the object. Errors as for FindHandle.
Result<std::shared_ptr<Object>> CountReference(Kind kind, const void* handle, int change);
/// The number of live handles, for tests of leaks.
size_t LiveHandles();

// ---- typed -----------------------------------------------------------------------------------------------------------------------------

template <class Handle>
using ObjectOf = typename HandleTraits<std::remove_const_t<Handle>>::Type;

/// The object behind a handle. Errors as for FindHandle and Object::MayCall.
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

/// Releases one reference to the handle (only views have more than one) and returns the object, of which this may be the last owner.
template <class Handle>
Result<std::shared_ptr<ObjectOf<Handle>>> Close(Handle* handle) {
  WEFT_ASSIGN_OR_RETURN(auto object, CountReference(HandleTraits<std::remove_const_t<Handle>>::kKind, handle, -1));
  return std::static_pointer_cast<ObjectOf<Handle>>(std::move(object));
}

}  // namespace weft::capi
