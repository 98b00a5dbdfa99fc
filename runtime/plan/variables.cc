// Variables: Variable, VarHandleOp and TemporaryVariable blocks, and which of them are one.
#include <algorithm>
#include <optional>
#include <string>

#include "runtime/plan/connecting.h"

namespace weft {
namespace {

std::string TextAttr(const Node& node, std::string_view name) {
  int index = node.def->FindAttr(name);
  const auto* text = index < 0 ? nullptr : std::get_if<std::string>(&node.attrs[index]);
  return text == nullptr ? std::string() : *text;
}

/// Whether a shape may be both.
bool Compatible(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return false;
  }
  return true;
}

/// All that two compatible shapes say.
PartialShape Both(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank()) return b;
  std::vector<int64_t> dims = a.dims();
  for (int i = 0; i < b.rank(); ++i) dims[i] = std::max(dims[i], b.dim(i));
  auto both = PartialShape::Make(std::move(dims));
  return both.ok() ? std::move(*both) : a;
}

bool HasInitialValue(const Node& node) { return node.constant.defined() || node.initial.valid(); }

/// What a block says of its variable.
struct Declared {
  std::optional<DType> dtype;
  PartialShape shape;
  Tensor initial;
  ValueRef wired;  // an initial value that a run computes
};

PartialShape ShapeAttr(const Node& node) {
  int index = node.def->FindAttr("shape");
  const auto* shape = index < 0 ? nullptr : std::get_if<PartialShape>(&node.attrs[index]);
  return shape == nullptr ? PartialShape() : *shape;
}

// A literal, or what a wire brings; false where it is in error (reported).
bool ReadInitialValue(Draft& draft, int block, Declared& declared) {
  const PageInput* input = InputOf(draft, block, "initvalues");
  if (input == nullptr) return true;
  auto fail = [&](Status status) {
    draft.Error(std::move(status), block, input->port);
    return false;
  };
  if (input->items.size() != 1) return fail(InvalidArgument("the input 'initvalues' takes one value, found ", input->items.size()));
  if (const auto* literal = LiteralOf(input->items[0])) {
    auto tensor = LiteralTensor(*literal, declared.dtype ? declared.dtype : literal->dtype);
    if (!tensor.ok()) return fail(std::move(tensor).status());
    declared.initial = std::move(*tensor);
    // A text literal's shape on the page may be older than the block's; the element count is what it is.
    auto complete = declared.shape.shape();
    bool reshape = complete && literal->form == Literal::Form::kText && declared.initial.count() == complete->count();
    if (reshape) declared.initial = declared.initial.Reshaped(*complete);
  } else {
    std::vector<ValueRef> values;
    if (!ConnectPort(draft, block, 0, *input, values)) return false;
    declared.wired = values[0];
    const Tensor& constant = draft.nodes[values[0].node].constant;
    if (constant.defined()) declared.initial = constant, declared.wired = {};
  }
  DType found = declared.wired.valid() ? draft.graph.TypeOf(declared.wired) : declared.initial.dtype();
  if (declared.dtype && found != *declared.dtype) {
    return fail(InvalidArgument("the initial value needs ", *declared.dtype, ", the block's dtype, found ", found));
  }
  declared.dtype = found;
  if (declared.initial.defined() && !declared.shape.Accepts(declared.initial.shape())) {
    return fail(InvalidArgument("the initial value needs the shape ", declared.shape, ", found ", declared.initial.shape()));
  }
  return true;
}

// Variables of one container and shared name are one; without a shared name the id is the name. The initial value that counts is the first
// on the page.
Status JoinVariable(Draft& draft, int block, const PartialShape& declared) {
  Node& node = draft.nodes[block];
  bool temporary = node.def->structural == Structural::kTemporary;
  std::string name = TextAttr(node, temporary ? "var_name" : "shared_name");
  if (name.empty()) name = node.id;
  int fresh = static_cast<int>(draft.parts.variables.size());
  int variable = fresh;
  if (!temporary) variable = draft.shared_variables.emplace(Cat(TextAttr(node, "container"), std::string_view("\0", 1), name), fresh).first->second;
  if (variable == fresh) {
    draft.parts.variables.push_back(block);
    draft.parts.variable_infos.push_back({declared, temporary ? name : std::string()});
    node.variable = fresh;
    return {};
  }
  int& owner = draft.parts.variables[variable];
  const Node& other = draft.nodes[owner];
  PartialShape& shape = draft.parts.variable_infos[variable].declared;
  if (node.output_types[0] != other.output_types[0]) {
    return InvalidArgument("shares the variable of '", other.id, "', which needs ", other.output_types[0], ", found ", node.output_types[0])
        .WithPort("dtype");
  }
  if (!Compatible(shape, declared)) {
    return InvalidArgument("shares the variable of '", other.id, "', which needs the shape ", shape, ", found ", declared)
        .WithPort("shape");
  }
  bool takes_over = HasInitialValue(node) != HasInitialValue(other) ? HasInitialValue(node) : block < owner;
  const Tensor& initial = takes_over ? node.constant : other.constant;
  PartialShape both = Both(shape, declared);
  if (initial.defined() && !both.Accepts(initial.shape())) {
    return InvalidArgument("shares the variable of '", other.id, "', whose initial value ", initial.shape(), " is not of the shape ", both)
        .WithPort("shape");
  }
  shape = std::move(both);
  node.variable = variable;
  if (takes_over) owner = block;
  return {};
}

}  // namespace

void DeclareVariable(Draft& draft, int block) {
  Node& node = draft.nodes[block];
  const PartialShape shape = ShapeAttr(node);
  const bool open = !shape.known_rank() && node.constant.defined();
  if (Status status = JoinVariable(draft, block, open ? PartialShape(node.constant.shape()) : shape); !status.ok()) {
    node.constant = Tensor();
    node.initial = {};
    std::string port = status.place().port;
    draft.Error(std::move(status), block, port);
  }
}

void ConnectVariable(Draft& draft, int block) {
  Declared declared;
  declared.dtype = GivenType(draft, block);
  declared.shape = ShapeAttr(draft.nodes[block]);
  if (!ReadInitialValue(draft, block, declared)) return;
  if (!declared.dtype) {
    return draft.Error(InvalidArgument("the type of the variable is not known").WithHint("give it a dtype or an initial value"), block, "dtype");
  }
  Node& node = draft.nodes[block];
  if (node.def->structural == Structural::kTemporary && !declared.shape.complete()) {
    return draft.Error(InvalidArgument("needs a shape whose sizes are all known, found ", declared.shape), block, "shape");
  }
  node.output_types = {*declared.dtype};
  node.out_first = PortTable::Single(1);
  node.constant = std::move(declared.initial);
  node.initial = declared.wired;
  DeclareVariable(draft, block);
}

}  // namespace weft
