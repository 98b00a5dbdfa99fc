// Edits that are not saved yet, on the disk: what a crash leaves can be recovered at the next start.
#pragma once

#include <memory>
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

/// The unsaved edits of a page. Functions may be called from any thread. Failures to write are kept quiet: work goes on without the journal.
class Journal {
 public:
  /// A new file, which stays on the disk until Drop.
  Journal(std::string path, const JournalHead& head);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// True, once, where it should begin anew, by Rewrite and Replace: it has become long, or could not be written.
  bool Add(const std::string& edits);
  /// Writes the beginning of a new file, with a text that has all edits so far. Those that come next go to both files.
  void Rewrite(JournalHead head);
  /// Puts the new file in the place of the old one when the disk has it, and waits for that without a lock. At any moment there is the old
  /// journal or the new one, whole.
  void Replace();
  /// The page is saved, or closed for good: its journal goes.
  void Drop();

 private:
  class File;

  std::string Beside() const { return path_ + ".new"; }
  void ForgetNew();

  const std::string path_;
  std::mutex mutex_;
  std::shared_ptr<File> file_, new_file_;
  size_t edits_ = 0;     // with those that the text has already
  size_t ask_from_ = 0;  // edits from which on Add asks for a new file
};

/// The folder of journals. Functions may be called from any thread.
class Journals {
 public:
  /// Keeps them in `folder`, which is made; empty: none are kept.
  explicit Journals(std::string folder);

  /// Starts the journal of a page; null where none are kept.
  std::shared_ptr<Journal> Start(const JournalHead& head) const;
  /// Those that earlier starts left, the newest first.
  std::vector<Recovery> Left() const;
  /// Reads one of them; it stays on the disk until Forget.
  std::optional<Recovery> Read(const std::string& id) const;
  void Forget(const std::string& id) const;

 private:
  std::string FileOf(const std::string& id) const;

  const std::string folder_;
};

}  // namespace weft::serve
