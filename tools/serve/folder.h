// The served folder. Everything that the server reads or writes for clients goes through the engine's sandbox, as the files of blocks do.
#pragma once

#include <string>

#include "tools/serve/engine.h"
#include "tools/serve/limits.h"

namespace weft::serve {

class Folder {
 public:
  /// `path` is a folder that exists. Throws ApiError.
  Folder(weft_runtime* runtime, std::string path, bool read_only);

  /// The real place of the folder.
  const std::string& path() const { return path_; }
  std::string name() const;

  /// A name that stands for a file below the folder, in one spelling: "a/b.json". Throws 400 and 403 for others: absolute, "..", control bytes.
  static std::string Checked(const std::string& name);

  /// Throws 404, 403, 413.
  std::string Read(const std::string& name, uint64_t most_bytes) const;
  /// Throws 409 `already_exists` where there is such a file.
  void NeedFree(const std::string& name) const;
  /// Throws 403, 404 and 409 `already_exists`.
  void Write(const std::string& name, std::string_view bytes, bool overwrite) const;
  /// The real place of a file that may be written or read there, for functions of weft.h that take paths.
  std::string Place(const std::string& name, int32_t access) const;

  /// What tells whether a file is another one: its size and time. Empty where it is not there.
  std::string Stamp(const std::string& name) const;

  /// {"files": [...], "cut"}; `open` gives the id of the page that is open at a path, or "".
  template <class Open>
  Json List(size_t most, Open&& open) const {
    Json list = ListFiles(most);
    for (Json& file : list["files"]) {
      if (std::string id = open(file["path"].get<std::string>()); !id.empty()) file["open"] = std::move(id);
    }
    return list;
  }

 private:
  Json ListFiles(size_t most) const;

  std::string path_;
  PageHandle access_;  // an empty page: the sandbox of the folder
};

/// Time as the protocol writes it: "2026-11-23T13:00:00Z".
std::string TimeText(int64_t seconds_since_1970);

}  // namespace weft::serve
