// What a failure at an input port is about: the types and shapes that it takes, and those that it was given.
#pragma once

#include <functional>

#include "runtime/plan/types.h"

namespace weft {

/// Adds them to what a block's Plan or Run said of one of its input ports. `shape(v)` is that of input value v, or null. `needed_shape`: the
/// one that it takes, where that is known of this failure ("[?,?]"); else it is what the port's documentation begins with.
Status WithPortFacts(const Graph& graph, const Node& node, Status status, FunctionRef<const Shape*(uint32_t v)> shape,
                     std::string_view needed_shape = {});
/// The same of a node whose inputs are not in a graph; `type(v)` is that of input value v, or kInvalid.
Status WithPortFacts(const Node& node, Status status, FunctionRef<InputType(uint32_t v)> type, FunctionRef<const Shape*(uint32_t v)> shape,
                     std::string_view needed_shape = {});

/// A fault that a new wire or value at `port` brings, and that a block's checks tell of another of its inputs, told of that port: what comes
/// from two ports does not fit, and the new one is the one to change. Its cause is the fault. `brought`: the type of what is new, where known.
/// Faults at the port itself, or at none, are given back as they are.
Status AtWiredPort(const BlockDef& def, std::string_view port, DType brought, Status fault);

/// Whether a list input may have no values: one of the tuple kind, or one whose length may be 0.
bool MayBeEmpty(const BlockDef& def, const PortSpec& list);

}  // namespace weft
