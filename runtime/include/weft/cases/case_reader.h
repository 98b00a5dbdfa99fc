// Reads case files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/cases/case.h"
#include "weft/base/diagnostic.h"

namespace weft::cases {

struct CaseFile {
  std::vector<TestCase> cases;  // faulty ones have `fault` set and must not be run
  Diagnostics diagnostics;      // with file and JSON pointer; warnings for unknown keys
};

/// `name` is the name of the file in diagnostics.
CaseFile ReadCases(std::string_view json, const std::string& name);
CaseFile ReadCaseFile(const std::filesystem::path& path);

/// The case files (NAME.cases.json) in a folder and its subfolders, sorted; for a file that path itself. not_found where there are none.
Result<std::vector<std::filesystem::path>> FindCaseFiles(const std::filesystem::path& path);

}  // namespace weft::cases
