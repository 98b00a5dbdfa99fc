// A case of one block as a page: the block, and a Variable for each value of its reference ports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/block/registry.h"
#include "weft/cases/case.h"
#include "weft/page/page.h"

namespace weft::kit {

struct CasePage {
  static constexpr const char* kBlock = "block";  // its id

  Page page;
  std::vector<std::string> variables;                 // ids
  std::vector<std::pair<std::string, Tensor>> feeds;  // id of a Placeholder, and what it is to be fed
};

/// Values of more elements than `most_written` are fed, so that nothing can be worked out of them before the run; the others are written in the page.
inline CasePage PageOfCase(const cases::TestCase& test, const Registry& registry, int64_t most_written) {
  CasePage made;
  made.page.name = "case";
  const BlockDef* def = registry.Find(test.block);
  const auto written = [](const Tensor& value) {
    Literal literal;
    literal.dtype = value.dtype();
    literal.shape = value.shape();
    literal.tensor = value;
    return InputItem(std::move(literal));
  };
  const auto add = [&](const char* type, std::string attrs) -> PageBlock& {
    PageBlock& block = made.page.blocks.emplace_back();
    block.id = Cat("x", made.page.blocks.size());
    block.type = type;
    block.attrs = std::move(attrs);
    block.has_attrs = true;
    return block;
  };
  PageBlock block;
  block.id = CasePage::kBlock;
  block.type = test.block;
  block.attrs = test.attrs;
  block.has_attrs = true;
  for (const auto& [port, input] : test.inputs) {
    PageInput items;
    items.port = port;
    items.list = input.list;
    const int index = def == nullptr ? -1 : def->FindInput(port);
    for (const Tensor& value : input.values) {
      if (index >= 0 && def->inputs[static_cast<size_t>(index)].kind == PortKind::kReference) {
        PageBlock& variable = add("Variable", Cat("shape_ = ", ToString(PartialShape(value.shape())), ";"));
        PageInput initial;
        initial.port = "initvalues";
        initial.items.push_back(written(value));
        variable.inputs.push_back(std::move(initial));
        made.variables.push_back(variable.id);
        items.items.emplace_back(Wire{variable.id, "ref", -1});
      } else if (value.count() > most_written) {
        const PageBlock& placeholder = add("Placeholder", Cat("dtype_ = ", value.dtype(), ";"));
        made.feeds.emplace_back(placeholder.id, value);
        items.items.emplace_back(Wire{placeholder.id, "output", -1});
      } else {
        items.items.push_back(written(value));
      }
    }
    block.inputs.push_back(std::move(items));
  }
  made.page.blocks.push_back(std::move(block));
  return made;
}

}  // namespace weft::kit
