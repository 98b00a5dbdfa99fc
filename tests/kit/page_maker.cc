#include "tests/kit/page_maker.h"

namespace weft::kit {

void AddBlock(Page& page, std::string id, std::string type, PageInputs inputs, std::string attrs) {
  PageBlock block;
  block.id = std::move(id);
  block.type = std::move(type);
  block.attrs = std::move(attrs);
  block.has_attrs = true;
  for (auto& [port, items] : inputs) {
    PageInput input;
    input.port = std::move(port);
    input.list = items.size() != 1;
    for (PageItem& item : items) {
      if (const auto* wire = std::get_if<std::string>(&item.value)) {
        input.items.emplace_back(ParseWire(*wire).value());
        continue;
      }
      Literal literal;
      literal.tensor = std::get<Tensor>(std::move(item.value));
      literal.dtype = literal.tensor.dtype();
      literal.shape = literal.tensor.shape();
      input.items.emplace_back(std::move(literal));
    }
    block.inputs.push_back(std::move(input));
  }
  page.blocks.push_back(std::move(block));
}

std::string AddConst(Page& page, const std::string& id, Tensor value) {
  AddBlock(page, id, "Const", {{"value", {std::move(value)}}});
  return id + ".output";
}

std::string AddVariable(Page& page, const std::string& id, Tensor initial) {
  std::string attrs = Cat("shape_ = ", PartialShape(initial.shape()), ";dtype_ = ", initial.dtype(), ";");
  AddBlock(page, id, "Variable", {{"initvalues", {std::move(initial)}}}, std::move(attrs));
  return id + ".ref";
}

Result<OpenPage> OpenPage::Open(Runtime& runtime, Page page) {
  ScopeOptions options;
  Diagnostics diagnostics;
  OpenPage open;
  open.scope_ = Scope::Open(runtime, std::make_shared<Page>(std::move(page)), "test", std::move(options), diagnostics);
  WEFT_RETURN_IF_ERROR(diagnostics.FirstError());
  return open;
}

Result<std::unique_ptr<Session>> OpenPage::Fetch(const std::vector<std::string>& wires, const std::vector<std::string>& run) const {
  SessionSpec spec;
  spec.id = "test";
  for (const std::string& wire : wires) {
    WEFT_ASSIGN_OR_RETURN(const ValueRef value, graph().FindValue(wire));
    spec.fetches.push_back({wire, value});
  }
  for (const std::string& id : run) {
    WEFT_ASSIGN_OR_RETURN(const int node, graph().FindNode(id));
    spec.run.push_back(node);
  }
  return std::make_unique<Session>(scope_, std::move(spec), Keep::kAsked);
}

Result<std::vector<Tensor>> OpenPage::Run(const std::vector<std::string>& wires) const {
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Fetch(wires));
  return RunSession(*session);
}

Result<std::vector<Tensor>> RunSession(Session& session) {
  WEFT_RETURN_IF_ERROR(session.Run());
  std::vector<Tensor> values;
  for (const auto& fetch : session.spec().fetches) {
    WEFT_ASSIGN_OR_RETURN(ResultValue result, session.Get(fetch.value));
    if (result.stale) return FailedPrecondition("'", fetch.name, "' was left out by a Switch");
    values.push_back(std::move(result.tensor));
  }
  return values;
}

}  // namespace weft::kit
