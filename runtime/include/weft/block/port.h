// Ports as typed constants: the same constant is the label in an editor, the subject of an error and the key at run time.
//
//   constexpr In<0> value{"value", "T", "[N, ..., C]"};      an input whose type is the type attribute T
//   constexpr In<1> axis{"axis", "DT_INT32", "a scalar"};    one that takes a single type
//   constexpr InList<0> inputs{"inputs", "T", "N", "..."};   N values of type T
//   constexpr InTuple<1> components{"components", "Tcomponents", "..."};  values whose types the list attribute names
//   constexpr RefIn<0> var{"var", "T", "..."};               a variable, to read and to update
//   constexpr RefInList<1> inputs{"inputs", "T", "N", "..."};  N variables
//   constexpr RefOut<0, 0> out{"out", "T", "..."};           the variable of RefIn<0> after the update
//
// The resource variant of a block has the same constants, declared by .Ports(AsResource(var), ...), and no RefOut.
#pragma once

#include <string>

#include "weft/base/dtype.h"

namespace weft {

enum class PortKind : uint8_t {
  kTensor,
  kReference,  // a variable: read it, or update it
  kOperation,  // structural: a block as a whole, to be run for its effect
  kFeed,       // structural: an output and the value that replaces it
  kStatus,     // structural
};

enum class PortList : uint8_t {
  kSingle,
  kHomogeneous,  // list_attr counts the values
  kTuple,        // list_attr lists the types of the values
};

/// The declaration of one port.
struct PortSpec {
  // Defined in def.cc, to keep the code of every declaration small.
  PortSpec();
  PortSpec(const PortSpec& other);
  PortSpec(PortSpec&& other) noexcept;
  PortSpec& operator=(const PortSpec& other);
  PortSpec& operator=(PortSpec&& other) noexcept;
  ~PortSpec();

  std::string name;
  PortKind kind = PortKind::kTensor;
  PortList list = PortList::kSingle;
  std::string type_attr;            // the attribute that holds the type; empty where the type is fixed or the port a tuple
  DType dtype = DType::kInvalid;    // the one type it takes, or kInvalid
  std::string list_attr;            // see PortList
  int reference_of = -1;            // a reference output: the input whose variable it is
  bool resource = false;            // a reference that TensorFlow passes as a handle: listed as DT_RESOURCE
  bool optional = false;            // structural blocks: may stay unconnected
  std::string doc;                  // its shape and meaning
};

template <int I>
struct In {
  static constexpr int index = I;
  const char *name, *type, *doc;
};
template <int I>
struct InList {
  static constexpr int index = I;
  const char *name, *type, *length, *doc;
};
template <int I>
struct InTuple {
  static constexpr int index = I;
  const char *name, *types, *doc;
};
template <int I>
struct RefIn {
  static constexpr int index = I;
  const char *name, *type, *doc;
  bool resource = false;
};
template <int I>
struct RefInList {
  static constexpr int index = I;
  const char *name, *type, *length, *doc;
};
template <int I>
struct Out {
  static constexpr int index = I;
  const char *name, *type, *doc;
};
template <int I>
struct OutList {
  static constexpr int index = I;
  const char *name, *type, *length, *doc;
};
template <int I>
struct OutTuple {
  static constexpr int index = I;
  const char *name, *types, *doc;
};
template <int I, int Of = 0>
struct RefOut {
  static constexpr int index = I;
  static constexpr int of = Of;
  const char *name, *type, *doc;
  bool resource = false;
};

/// The same port for the resource variant of a block, where TensorFlow passes a handle. Plan and Run are the same for both.
template <class P>
constexpr P AsResource(P reference) {
  reference.resource = true;
  return reference;
}

/// Ports of structural blocks: of any type, of a kind other than a tensor, lists without a length attribute, or left unconnected.
enum class Presence : uint8_t { kRequired, kOptional };
template <int I>
struct StructuralIn {
  static constexpr int index = I;
  const char* name;
  PortKind kind;
  PortList list;  // kTuple: any number of values, each of any type
  Presence presence;
  const char* doc;
};
template <int I>
struct StructuralOut {
  static constexpr int index = I;
  const char* name;
  PortKind kind;
  PortList list;
  const char* doc;
};

/// `type` is a type's name ("DT_INT32"), the name of a type attribute, or "" for any type.
PortSpec MakePortSpec(const char* name, const char* type, const char* doc);

template <int I>
PortSpec SpecOf(const In<I>& p) { return MakePortSpec(p.name, p.type, p.doc); }
template <int I>
PortSpec SpecOf(const Out<I>& p) { return MakePortSpec(p.name, p.type, p.doc); }
template <class P>
PortSpec ListSpecOf(const P& p) {
  PortSpec spec = MakePortSpec(p.name, p.type, p.doc);
  spec.list = PortList::kHomogeneous;
  spec.list_attr = p.length;
  return spec;
}
template <int I>
PortSpec SpecOf(const InList<I>& p) { return ListSpecOf(p); }
template <int I>
PortSpec SpecOf(const OutList<I>& p) { return ListSpecOf(p); }
template <class P>
PortSpec TupleSpecOf(const P& p) {
  PortSpec spec;
  spec.name = p.name;
  spec.doc = p.doc;
  spec.list = PortList::kTuple;
  spec.list_attr = p.types;
  return spec;
}
template <int I>
PortSpec SpecOf(const InTuple<I>& p) { return TupleSpecOf(p); }
template <int I>
PortSpec SpecOf(const OutTuple<I>& p) { return TupleSpecOf(p); }
template <int I>
PortSpec SpecOf(const RefIn<I>& p) {
  PortSpec spec = MakePortSpec(p.name, p.type, p.doc);
  spec.kind = PortKind::kReference;
  spec.resource = p.resource;
  return spec;
}
template <int I>
PortSpec SpecOf(const RefInList<I>& p) {
  PortSpec spec = ListSpecOf(p);
  spec.kind = PortKind::kReference;
  return spec;
}
template <int I, int Of>
PortSpec SpecOf(const RefOut<I, Of>& p) {
  PortSpec spec = MakePortSpec(p.name, p.type, p.doc);
  spec.kind = PortKind::kReference;
  spec.reference_of = Of;
  spec.resource = p.resource;
  return spec;
}

template <class P>
PortSpec StructuralSpecOf(const P& p) {
  PortSpec spec = MakePortSpec(p.name, "", p.doc);
  spec.kind = p.kind;
  spec.list = p.list;
  return spec;
}
template <int I>
PortSpec SpecOf(const StructuralIn<I>& p) {
  PortSpec spec = StructuralSpecOf(p);
  spec.optional = p.presence == Presence::kOptional;
  return spec;
}
template <int I>
PortSpec SpecOf(const StructuralOut<I>& p) { return StructuralSpecOf(p); }

template <class P>
inline constexpr bool kIsInput = false;
template <int I>
inline constexpr bool kIsInput<In<I>> = true;
template <int I>
inline constexpr bool kIsInput<InList<I>> = true;
template <int I>
inline constexpr bool kIsInput<InTuple<I>> = true;
template <int I>
inline constexpr bool kIsInput<RefIn<I>> = true;
template <int I>
inline constexpr bool kIsInput<RefInList<I>> = true;
template <int I>
inline constexpr bool kIsInput<StructuralIn<I>> = true;

template <class P>
concept InputPort = kIsInput<std::remove_cvref_t<P>>;
template <class P>
concept OutputPort = !InputPort<P> && requires(const P& p) { SpecOf(p); P::index; };

}  // namespace weft
