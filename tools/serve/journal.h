// Edits that are not saved yet, on the disk: what a crash leaves can be recovered at the next start.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/engine.h"

namespace weft::serve {

/// The unsaved edits of a page of an earlier start.
struct Recovery {
  std::string id, name;
  std::optional<std::string> path;
  std::string text;                // of the page before the edits
  std::string stamp;               // of the file then
  std::vector<std::string> edits;  // as weft_page_edit takes them
  int64_t modified = 0;            // seconds since 1970
};

/// Functions may be called from any thread. Failures to write are kept quiet: work goes on without a journal.
class Journal {
 public:
  /// Keeps its files in `folder`, which is made; empty: no journal.
  explicit Journal(std::string folder);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Starts the journal of a page, with the text that its edits begin at; gives its id.
  std::string Start(const std::string& name, const std::optional<std::string>& path, const std::string& stamp, const std::string& text);
  void Add(const std::string& id, const std::string& edits);
  /// The page is saved, or closed for good: its journal goes.
  void Drop(const std::string& id);

  /// Those that earlier starts left, the newest first.
  std::vector<Recovery> Left();
  /// Takes one of them; it stays on the disk until Forget.
  std::optional<Recovery> Take(const std::string& id);
  void Forget(const std::string& id);

 private:
  std::string FileOf(const std::string& id) const;
  std::optional<Recovery> ReadFile(const std::string& id) const;

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, int> open_;  // descriptors by id
};

}  // namespace weft::serve
