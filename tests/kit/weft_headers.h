// The functions that weft.h declares, with their comments, read from its text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft.h"
#include "weft/base/text.h"

namespace weft::test {

struct HeaderFunction {
  std::string file, name, comment;
  std::vector<std::string> handles;  // types of its handle parameters, in order: "weft_session"
};

/// weft.h and its parts.
std::vector<std::filesystem::path> HeaderFiles();
/// The functions of one header's text.
std::vector<HeaderFunction> FunctionsIn(const std::string& text, const std::string& file);
/// Those of all.
std::vector<HeaderFunction> HeaderFunctions();

}  // namespace weft::test
