// Fuzz targets: each takes any input and must neither crash, nor hang, nor take memory without bounds, nor answer what it should not.
// Two drivers run them: weft_fuzz (driver.cc) and libFuzzer (coverage.cc).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weft::fuzz {

struct Target {
  const char* name;  // also that of its folder in corpus/ and of its dictionary
  const char* summary;
  /// Throws a Finding (finding.h) where an answer is wrong. On one thread at a time; the same input gives the same answer.
  void (*run)(std::string_view input);
  /// Where not null, an input is a number in decimal digits, from which the target makes what it tests, and there is no corpus: this tells
  /// what it makes. Else an input is bytes.
  std::string (*tell)(std::string_view input) = nullptr;

  bool by_seed() const { return tell != nullptr; }
};

/// In the order in which they run.
std::span<const Target> Targets();
const Target* FindTarget(std::string_view name);

// One for each file in targets/.
void WeftPage(std::string_view bytes);
void RuntimePage(std::string_view bytes);
void DesignPage(std::string_view bytes);
void RunWeftPage(std::string_view bytes);
void AttributeText(std::string_view bytes);
void TextLiteral(std::string_view bytes);
void DatFile(std::string_view bytes);
void NpyFile(std::string_view bytes);
void CaseFile(std::string_view bytes);
void Checkpoint(std::string_view bytes);
void Bundle(std::string_view bytes);
void Snapshot(std::string_view bytes);
void Pictures(std::string_view bytes);
void Records(std::string_view bytes);
void LmdbFile(std::string_view bytes);
void Messages(std::string_view bytes);
void Texts(std::string_view bytes);
void JsonEdits(std::string_view bytes);
void PlainEdits(std::string_view bytes);
void SweepGrid(std::string_view bytes);
void SweepJournal(std::string_view bytes);
void CommandLine(std::string_view bytes);
void Cases(std::string_view seed);
void Pages(std::string_view seed);
void Shapes(std::string_view seed);
std::string TellCase(std::string_view seed);
std::string TellPage(std::string_view seed);
std::string TellShapes(std::string_view seed);

}  // namespace weft::fuzz
