// weft blocks: the block types, their ports and attributes.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <tuple>

#include "tools/cli/common.h"
#include "tools/cli/libraries.h"
#include "weft/capi/runtime.hpp"
#include "weft/block/manifest.h"
#include "weft/host/reference.h"

namespace weft::cli {
namespace {

struct BlocksOptions {
  std::string name, category, folder;
  std::vector<std::string> libraries;
  bool json = false, internal = false;
  std::optional<Option> markdown;
};
constexpr char kDefaultFolder[] = "block-reference";

void PrintPorts(const char* title, const std::vector<PortSpec>& ports) {
  if (ports.empty()) return;
  std::cout << title << "\n";
  for (const PortSpec& port : ports) std::cout << "  " << Colored(port.name, 36, 1) << "  " << PortTypeText(port) << "  " << port.doc << "\n";
}

void PrintBlock(const BlockDef& def) {
  std::cout << Colored(def.name, 36, 1) << "  (" << def.category << ")  " << def.summary << "\n";
  if (!def.details.empty()) std::cout << def.details << "\n";
  for (const std::string& alias : def.aliases) std::cout << "also called " << alias << "\n";
  PrintPorts("inputs", def.inputs);
  PrintPorts("outputs", def.outputs);
  if (def.structural == Structural::kNone) {
    std::cout << "operation\n  " << Colored("ID.operation", 36, 1) << "  the block itself, run for its effect: for run_outputs of ClientSession, Operation and Output\n";
  }
  if (!def.attrs.empty()) std::cout << "attributes\n";
  for (const AttrSpec& attr : def.attrs) {
    std::cout << "  " << Colored(attr.name, 36, 1) << "  " << AttrTypeName(attr.type);
    if (attr.inferred) std::cout << ", follows from the inputs";
    else if (attr.default_value) std::cout << " = " << AttrText(*attr.default_value);
    else std::cout << ", required";
    std::cout << "  " << attr.doc;
    if (std::string types = ValuesText(attr); !types.empty()) std::cout << "  (" << types << ")";
    std::cout << "\n";
  }
  std::cout << "gradient: " << (def.gradient ? "yes" : def.not_differentiable ? "none; it stops here" : "none") << "\n";
  std::cout << "example: " << ExampleLine(def) << "\n";
}

/// Those of a category, where one is given, in the order of categories and names. not_found for a category that there is not.
Result<std::vector<const BlockDef*>> BlocksOf(const Registry& registry, const std::string& category, bool internal) {
  std::vector<const BlockDef*> chosen;
  std::set<std::string> categories;
  for (const auto& def : registry.blocks()) {
    if (def->internal && !internal) continue;
    categories.insert(def->category);
    if (category.empty() || def->category == category) chosen.push_back(def.get());
  }
  if (chosen.empty()) {
    std::string known;
    for (const std::string& name : categories) known += Cat(known.empty() ? "" : ", ", name);
    return NotFound("there is no category '", category, "'").WithHint(Cat("there are ", known));
  }
  std::ranges::sort(chosen, {}, [](const BlockDef* def) { return std::tie(def->category, def->name); });
  return chosen;
}

void ListBlocks(const std::vector<const BlockDef*>& blocks) {
  std::string_view category;
  for (const BlockDef* def : blocks) {
    if (def->category != category) std::cout << (category = def->category) << "\n";
    std::cout << "  " << Colored(def->name, 36, 1) << "  " << def->summary << "\n";
  }
  std::cout << blocks.size() << " blocks; weft blocks NAME tells all of one\n";
}

/// A README.md that is no index was written by somebody, and stays. (As IndexMarkdown begins.)
Status CheckIndex(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) return {};
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.string()));
  if (text.empty() || text.starts_with("# Blocks\n")) return {};
  return InvalidArgument("--markdown needs a folder of its own, found '", file.string(), "', which is no index of blocks")
      .WithHint("give another folder");
}

/// A page for each block, and README.md, the index.
int WriteReference(const Registry& registry, const BlocksOptions& options) {
  const std::filesystem::path folder = options.folder.empty() ? kDefaultFolder : options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Status status = error ? PermissionDenied("cannot make the folder ", folder.string(), ": ", error.message()) : Status();
  if (status.ok()) status = CheckIndex(folder / "README.md");
  size_t pages = 0;
  for (const auto& def : registry.blocks()) {
    if (!status.ok() || (def->internal && !options.internal)) continue;
    status = WriteFile((folder / (def->name + ".md")).string(), BlockMarkdown(registry, *def));
    ++pages;
  }
  if (status.ok()) status = WriteFile((folder / "README.md").string(), IndexMarkdown(registry));
  if (!status.ok()) {
    Report(status, options.json);
    return kFailed;
  }
  std::cout << pages << " pages in " << folder.string() << "; README.md is the index\n";
  return kOk;
}

/// The block that the word after --markdown names; none where it is a folder, there already or to be made. Refuses standard output, and what
/// is rather a block that was misspelt: hundreds of files there would be a nuisance.
Result<std::string> BlockMeant(const Registry& registry, const std::string& word) {
  std::error_code unknown;
  if (word == "-") {
    return InvalidArgument("--markdown writes a file for each block: it needs a folder, found '-'")
        .WithHint("weft blocks NAME --markdown prints one page");
  }
  if (word.empty() || word.find('/') != std::string::npos || std::filesystem::exists(word, unknown)) return std::string();
  const Result<const BlockDef*> block = FindBlock(registry, word);
  if (block.ok()) return word;
  if (block.status().hint().empty()) return std::string();
  return NotFound("there is neither a folder nor a block '", word, "'")
      .WithHint(Cat(block.status().hint(), "; './", word, "' is a folder that is made"));
}

int RunBlocks(const BlocksOptions& options) {
  const auto runtime = OpenRuntime(RuntimeOptions{.threads = 1, .memory_limit = 0}, options.libraries);
  if (!runtime.ok()) {
    Report(runtime.status(), options.json);
    return kFailed;
  }
  const Registry& registry = (*runtime)->registry();
  const bool markdown = options.markdown->given();
  const Result<std::string> name = markdown && options.name.empty() ? BlockMeant(registry, options.folder) : options.name;
  if (!name.ok()) {
    Report(name.status(), options.json);
    return kFailed;
  }
  if (name->empty()) {
    if (markdown) return WriteReference(registry, options);
    const auto blocks = BlocksOf(registry, options.category, options.internal || options.json);
    if (!blocks.ok()) {
      Report(blocks.status(), options.json);
      return kFailed;
    }
    if (options.json) std::cout << WriteManifest(*blocks);
    else ListBlocks(*blocks);
    return kOk;
  }
  const Result<const BlockDef*> def = FindBlock(registry, *name);
  if (!def.ok()) {
    Report(def.status(), options.json);
    return kFailed;
  }
  if (markdown) std::cout << BlockMarkdown(registry, **def);
  else if (options.json) std::cout << WriteManifest(**def) << "\n";
  else PrintBlock(**def);
  return kOk;
}

}  // namespace

void AddBlocks(Program& program) {
  auto options = std::make_shared<BlocksOptions>();
  Command command = program.Add("blocks", "List the block types, or tell all of one: ports, types, attributes, an example",
                                "  weft blocks\n  weft blocks BiasAddGrad\n  weft blocks --json > blocks.json\n"
                                "  weft blocks --markdown docs/blocks\n  weft blocks --markdown Add\n  weft blocks --library ./libmine.so Mine", options, RunBlocks);
  command.Add("name", options->name, "Block type, or another name of it").Type("NAME");
  command.Add("--category", options->category, "Only blocks of this category").Type("CATEGORY");
  AddLibraryOption(command, options->libraries);
  command.AddFlag("--internal", options->internal, "Also list blocks that only gradients make (--json has them anyway)");
  command.AddFlag("--json", options->json, "Print as JSON");
  options->markdown =
      command.Add("--markdown", options->folder, "Write the block reference, a page a block and an index; with NAME, print its page")
          .ValueOptional()
          .Type("[FOLDER]");
}

}  // namespace weft::cli
