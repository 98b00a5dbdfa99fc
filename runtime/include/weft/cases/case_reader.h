// Reading case files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/cases/case.h"
#include "weft/base/diagnostic.h"

namespace weft::cases {

struct CaseFile {
  std::vector<TestCase> cases;  // those with faults have `fault` set and must not be run
  Diagnostics diagnostics;      // every finding, with file and JSON pointer; warnings for keys that mean nothing
};

/// `name` is what diagnostics call the file.
CaseFile ReadCases(std::string_view json, const std::string& name);
CaseFile ReadCaseFile(const std::filesystem::path& path);

/// The case files (NAME.cases.json) in a folder and below, sorted; the path itself where it is a file. not_found where there is nothing.
Result<std::vector<std::filesystem::path>> FindCaseFiles(const std::filesystem::path& path);

}  // namespace weft::cases
