// The parts of the pass ConnectBlocks, each over one block whose producers are connected.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/draft.h"

namespace weft {

// connect.cc

/// Takes values away from a broken block: nothing reads them. Its inputs lead a plan to what stands before it.
void Disconnect(Draft& draft, int block);

// make_nodes.cc

/// Reads the attributes of a block as written, and those that imported pages write as pins.
void ReadAttrs(Draft& draft, int block);

// inputs.cc: wires and literals as values

/// The values that one input brings to a port, appended. False where one is in error (reported).
bool ConnectPort(Draft& draft, int block, int port, const PageInput& input, std::vector<ValueRef>& values);
/// The same for one item of the input.
bool ConnectItem(Draft& draft, int block, int port, const PageInput& input, size_t item, std::vector<ValueRef>& values);
/// What is written for a port, under whichever of its names; null where nothing is.
const PageInput* InputOf(const Draft& draft, int block, std::string_view port);
/// ConnectPort for what is written for a port, if anything is.
bool ValuesOf(Draft& draft, int block, std::string_view port, std::vector<ValueRef>& values);
/// The tensor of a literal; `dtype` is that of one written as a text, where it is known.
Result<Tensor> LiteralTensor(const Literal& literal, std::optional<DType> dtype);
/// The type of a literal at an input of an operation, where that is known before it is read; also of one that cannot be read.
std::optional<DType> TypeOfLiteral(const Node& node, const PortSpec& spec, const Literal& literal);

// types.cc

/// Infers the types of a node's outputs from its attributes and the types of its inputs, and the attributes that follow from those.
/// Gives the first fault; `more`, where there is one, gets the others, which do not depend on it.
Status InferTypes(Draft& draft, Node& node, std::vector<Status>* more = nullptr);
/// All that type inference looks at of a value: its type, and whether it is a value, a reference or a handle.
uint16_t TypeKey(const Graph& graph, ValueRef value);

// structural.cc: blocks that are no operation. Sessions are left to ConnectSessions.

void ConnectStructural(Draft& draft, int block);
/// Whether the page itself gives the attribute, in the string or as a pin; a default does not count.
bool IsGiven(const PageBlock& block, std::string_view attr);
/// The dtype attribute where the page itself gives it; a default does not count.
std::optional<DType> GivenType(const Draft& draft, int block);
/// The node that a wire to an operation stands for; `producer` is the block that it names.
Result<int> OperationOf(Draft& draft, const Wire& wire, int producer);

// variables.cc

/// A Variable, VarHandleOp or TemporaryVariable block: its type, shape and initial value, and the variable that it is.
void ConnectVariable(Draft& draft, int block);
/// The variable of a node whose type and initial value are known; its shape is the block's attribute.
void DeclareVariable(Draft& draft, int block);

// feedback.cc

/// Gives what leads back to a Merge the type of what enters the loop, until CheckFeedback.
void AssumeFeedbackTypes(Draft& draft, const Node& merge);

}  // namespace weft
