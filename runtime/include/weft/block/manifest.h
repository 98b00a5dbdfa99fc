// The manifest: what the declarations say of every block, as JSON, for editors, schemas and other programs.
#pragma once

#include <string>

#include "weft/block/registry.h"

namespace weft {

/// One object a block, sorted by name, one block a line: block, category, summary, operation, inputs, outputs, attrs, stateful, internal.
std::string WriteManifest(const Registry& registry);
/// The object of one block.
std::string WriteManifest(const BlockDef& def);

/// "[N, ..., C] of T", "list of N T", as help texts show a port's type.
std::string PortTypeText(const PortSpec& port);

}  // namespace weft
