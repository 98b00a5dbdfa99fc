#include "tests/fuzz/targets.h"

#include <algorithm>

namespace weft::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"weft_page", "Weft's page format: read, written, read again", WeftPage},
    {"runtime_page", "enuSpace's runtime JSON", RuntimePage},
    {"design_page", "enuSpace's design SVG", DesignPage},
    {"run_page", "A page of any format: connected, planned and run", RunWeftPage},
    {"attributes", "Attribute text of one block", AttributeText},
    {"literal", "Values written as text", TextLiteral},
    {"dat", "Values in a .dat file beside a page", DatFile},
    {"npy", "NumPy's .npy files, and what is written of them", NpyFile},
    {"case_file", "Case files: read, and their first cases run", CaseFile},
    {"checkpoint", "Version 1 checkpoints", Checkpoint},
    {"bundle", "Checkpoints of both versions, as the blocks read and merge them", Bundle},
    {"pictures", "JPEG, PNG, GIF and BMP files", Pictures},
    {"records", "Files of TensorFlow's records, of lines and of fixed records, compressed or not", Records},
    {"lmdb", "LMDB files", LmdbFile},
    {"messages", "Examples, tensors and JSON as messages", Messages},
    {"texts", "CSV, numbers and base64", Texts},
    {"snapshot", "Snapshots of a page's state", Snapshot},
    {"edits", "Edits as JSON, made and taken back", JsonEdits},
    {"sweep_grid", "Grids of weft sweep, and their points", SweepGrid},
    {"sweep_journal", "Journals of weft sweep: read and repaired", SweepJournal},
    {"plain_edits", "Edits as the structs of C++", PlainEdits},
    {"command_line", "Arguments of the program weft", CommandLine},
    {"cases", "The cases of each block, with slips", Cases, TellCase},
    {"pages", "Random pages over all blocks, and sample pages with slips", Pages, TellPage},
    {"shapes", "Each block with shapes, values and attributes of a grid", Shapes, TellShapes},
};

}  // namespace

std::span<const Target> Targets() { return kTargets; }

const Target* FindTarget(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, [](const Target& target) { return std::string_view(target.name); });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace weft::fuzz
