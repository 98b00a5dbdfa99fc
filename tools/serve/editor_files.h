// The editor's files: those in the program, or of a folder.
#pragma once

#include <memory>
#include <string>

#include "tools/serve/folder.h"
#include "tools/serve/http.h"
#include "tools/serve/limits.h"

namespace weft::serve {

class EditorFiles {
 public:
  /// `folder`: on the disk, in place of the files in the program; may be empty.
  EditorFiles(weft_runtime* runtime, const std::string& folder, const Limits& limits);
  Response Answer(const Request& request) const;

 private:
  Response FromDisk(const std::string& path) const;
  Response FromProgram(const std::string& path, const Request& request) const;

  std::unique_ptr<const Folder> folder_;  // null: those in the program
  const Limits& limits_;
};

}  // namespace weft::serve
