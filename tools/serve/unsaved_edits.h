// What of an open page is in no file yet, and its journal.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/serve/journal.h"
#include "tools/serve/page_file.h"

namespace weft::serve {

/// Guarded by the lock of the Document that has it.
class UnsavedEdits {
 public:
  /// `nowhere`: the page itself is in no file.
  UnsavedEdits(const PageFile& file, const Journals& journals, bool nowhere);

  /// The protocol's dirty.
  bool any() const { return any_; }
  /// The page has this text now.
  void Compare(const std::string& text);
  /// The page's file has this text, which is the page's.
  void Saved(std::string text);
  /// Writes edits to the journal, which begins with the first since the page was saved. True where it should begin anew.
  bool Add(const std::string& edits);
  /// The journal's new file begins with the page as it is now; by the journal's Replace it takes the place of the old one. May be null.
  std::shared_ptr<Journal> Rewrite(std::string text);
  /// The page was opened with the text of a recovery.
  void Recovered(const Recovery& recovery);
  /// The page is closed for good.
  void DropJournal();

 private:
  void StartJournal();
  JournalHead Head(std::string text, bool unsaved) const;

  const PageFile& file_;
  const Journals& journals_;
  std::optional<std::string> saved_text_;  // what the engine writes for what was saved; none where that is nowhere
  bool any_;
  size_t edits_in_text_ = 0;          // unsaved edits that the page was opened with
  std::shared_ptr<Journal> journal_;  // null where nothing is unsaved
};

}  // namespace weft::serve
