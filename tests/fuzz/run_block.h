// Runs blocks on files and messages that came from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/finding.h"
#include "weft/cases/case.h"

namespace weft::fuzz {

/// What one file or message may take.
inline constexpr double kMostFileSeconds = 1;

/// What a target does with its bytes is in the first of them: which of `ways`, whether the checksums of the rest stay as they are, and whether
/// a block runs alone, with guards round its memory, rather than in a session. An empty input is one whose first byte is 0.
struct Mode {
  Mode(std::string_view bytes, size_t ways);
  size_t way = 0;
  bool mend = true;
  bool alone = false;
  std::string_view rest;
};

/// A case of one block without a session, with guards round its memory; nothing where the block cannot run so.
std::optional<Status> RunAlone(const cases::TestCase& test);

/// A block and what it is given.
class BlockCase {
 public:
  BlockCase(std::string block, std::string attrs);
  BlockCase& Input(const std::string& port, Tensor value);
  /// A scalar.
  BlockCase& Text(const std::string& port, std::string_view value) { return Input(port, Tensor::Scalar<String>(String(value))); }
  /// [texts]
  BlockCase& Texts(const std::string& port, const std::vector<std::string>& texts);
  /// A list port.
  BlockCase& List(const std::string& port, std::vector<Tensor> values);
  /// Runs it and checks what comes of it: the error, and the time.
  void Try(bool alone) const { (void)Outcome(alone); }
  Status Outcome(bool alone) const;

 private:
  cases::TestCase test_;
};

/// A vector of texts, or no element of a type.
Tensor TextVector(const std::vector<std::string>& texts);
Tensor NoElement(DType dtype);

/// Reads the files, which are in the scratch folder, by a reader of that kind: one record of the first, then all of the next.
void TryReader(const std::string& block, const std::string& attrs, const std::vector<std::string>& files);

/// Runs a page in the scratch folder: for each step the outputs to fetch, or `!` and the block to run.
void TryPage(const std::string& blocks, const std::vector<std::vector<std::string>>& steps);

/// Throws a Finding where memory is still counted.
void CheckMemoryReturned();

}  // namespace weft::fuzz
