// The manifest: the declarations of blocks as JSON, for editors, schemas and other programs.
#pragma once

#include <string>
#include <vector>

#include "weft/block/registry.h"

namespace weft {

/// An array of one object for each block, sorted by name, one object a line: block, category, summary, inputs, outputs, attrs, gradient,
/// and where they apply details, aliases, palette_spelling, structural, stateful, internal.
std::string WriteManifest(const Registry& registry);
/// The same of some blocks.
std::string WriteManifest(std::vector<const BlockDef*> blocks);
/// The object of one block.
std::string WriteManifest(const BlockDef& def);

/// "[N, ..., C] of T", "list of N T", as help texts show a port's type.
std::string PortTypeText(const PortSpec& port);

}  // namespace weft
