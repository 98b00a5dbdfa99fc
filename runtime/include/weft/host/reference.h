// The block reference: a page of Markdown for each block, made from its declaration, with an example page.
#pragma once

#include <string>

#include "weft/block/registry.h"

namespace weft {

/// The block type of a name, or of another name of it. It is the registry's. not_found, with the nearest name as a hint.
Result<const BlockDef*> FindBlock(const Registry& registry, const std::string& name);

/// The allowed values or types of an attribute: "SAME | VALID", "DT_HALF DT_FLOAT"; empty where all are allowed.
std::string ValuesText(const AttrSpec& attr);

/// One line of a page: the block with placeholders for its wires.
std::string ExampleLine(const BlockDef& def);
/// A page that uses the block: Placeholders for its inputs, Variables for references, a queue, a reader or the like for a handle, and a
/// session that fetches an output.
std::string ExamplePage(const Registry& registry, const BlockDef& def);

/// Summary, ports, attributes, gradient and example of one block. The example is a page; for blocks that need others around them (loops,
/// structural blocks) it is a line.
std::string BlockMarkdown(const Registry& registry, const BlockDef& def);
/// All blocks that are not internal, by category, each with a link to NAME.md.
std::string IndexMarkdown(const Registry& registry);

}  // namespace weft
