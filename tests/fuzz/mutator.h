// Changes inputs at random: bytes, pieces of other inputs, words of a dictionary.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fuzz {

using Dictionary = std::vector<std::string>;

/// A dictionary in libFuzzer's format: a line each, `name="value"` or `"value"`, with \\, \" and \xNN; # begins a comment. Without the file
/// an empty one. Throws a Finding for a line that is none.
Dictionary ReadDictionary(const std::filesystem::path& path);

class Mutator {
 public:
  /// Both must outlive it. `inputs`: those that pieces are taken from.
  Mutator(const std::vector<std::string>& inputs, const Dictionary& words) : inputs_(inputs), words_(words) {}

  /// `text` with one to six changes.
  std::string Changed(std::string text, std::mt19937& random) const;

  static constexpr size_t kMostBytes = 16384;

 private:
  void Change(std::string& text, std::mt19937& random) const;
  std::string Piece(std::string_view text, std::mt19937& random) const;

  const std::vector<std::string>& inputs_;
  const Dictionary& words_;
};

}  // namespace weft::fuzz
