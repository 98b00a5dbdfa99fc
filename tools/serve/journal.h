// Edits that are not saved yet, on the disk: what a crash leaves can be recovered at the next start.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/engine.h"

namespace weft::serve {

/// What a journal begins with.
struct JournalHead {
  std::string name;
  std::optional<std::string> path;
  std::string stamp;         // of the page's file
  std::string format;        // of the page's file
  std::string text;          // of the page before the edits of the journal
  bool unsaved = false;      // that text is in no file
  size_t edits_in_text = 0;  // edits that the text has already
};

/// The unsaved edits of a page of an earlier start.
struct Recovery : JournalHead {
  std::string id;
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

  /// Starts the journal of a page; gives its id.
  std::string Start(const JournalHead& head);
  /// True, once, where the journal has become so long that it should begin anew: Restart.
  bool Add(const std::string& id, const std::string& edits);
  /// Begins the journal anew with a text that has its edits. At any moment there is the old journal or the new one, whole.
  void Restart(const std::string& id, JournalHead head);
  /// The page is saved, or closed for good: its journal goes.
  void Drop(const std::string& id);

  /// Those that earlier starts left, the newest first.
  std::vector<Recovery> Left();
  /// Takes one of them; it stays on the disk until Forget.
  std::optional<Recovery> Take(const std::string& id);
  void Forget(const std::string& id);

 private:
  struct File {
    int descriptor = -1;
    size_t edits = 0;             // with those that its text has already
    size_t bytes = 0, limit = 0;  // of its edits
  };

  std::string FileOf(const std::string& id) const;
  std::optional<Recovery> ReadFile(const std::string& id) const;
  static File Begin(const std::string& path, const JournalHead& head);

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, File> open_;  // by id
};

}  // namespace weft::serve
