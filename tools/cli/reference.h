// The block reference: what a declaration says of a block, as a page of Markdown, with a page of Weft that uses it.
#pragma once

#include <string>

#include "weft/block/registry.h"

namespace weft::cli {

/// The values that an attribute may have, or the types: "SAME | VALID", "DT_HALF DT_FLOAT"; empty where any will do.
std::string ValuesText(const AttrSpec& attr);

/// One line of a page: the block with wires that stand for others.
std::string ExampleLine(const BlockDef& def);
/// A page that uses the block: placeholders for its inputs, variables for what it updates, a queue, a reader or the like for a handle, and
/// a session that asks for an output.
std::string ExamplePage(const Registry& registry, const BlockDef& def);

/// Summary, ports, attributes, gradient and example of one block. Blocks that only others around them give a sense (those of loops, those
/// that shape the page) have a line as example, the others a page.
std::string BlockMarkdown(const Registry& registry, const BlockDef& def);
/// All blocks that a palette offers, by category, each with a link to NAME.md.
std::string IndexMarkdown(const Registry& registry);

}  // namespace weft::cli
