// The file of an open page, and the text that the page was opened from.
#pragma once

#include <optional>
#include <string>

#include "tools/serve/page_source.h"

namespace weft::serve {

/// Guarded by the lock of the Document that has it.
class PageFile {
 public:
  /// `text`: what the engine writes for the source.
  PageFile(const Folder& folder, PageSource source, std::string text);

  /// What diagnostics call the page.
  const std::string& name() const { return name_; }
  /// In the folder; none for a page that was never saved.
  const std::optional<std::string>& path() const { return path_; }
  /// The protocol's: weft, enuspace_json or enuspace_svg.
  const std::string& format() const { return format_; }
  /// Of the file as it was read or written.
  const std::string& stamp() const { return stamp_; }
  /// The protocol's, when it was looked at last: none, same, changed or missing.
  const std::string& on_disk() const { return on_disk_; }
  /// What the engine wrote for the page when it was opened, or what was saved elsewhere since.
  const std::string& first_text() const { return original_text_; }

  /// What is saved for the text: the bytes that were opened, where nothing in them is different.
  const std::string& BytesFor(const std::string& text) const { return Untouched(text) ? original_ : text; }
  /// Looks at the disk. True where it is other than before.
  bool Look();
  /// Writes the page with the text, to a path or to its own. Throws 409 where that would lose what another program wrote, and others of Folder.
  void Save(const std::string& text, const std::optional<std::string>& path, bool overwrite, bool force);
  /// The file was read again: its bytes are the page now, for which the engine writes `text`.
  void TakeOver(std::string bytes, std::string stamp, std::string text);

 private:
  bool Untouched(const std::string& text) const { return text == original_text_ && original_is_file_; }
  std::string DiskState() const;

  const Folder& folder_;
  std::string name_, format_;
  std::optional<std::string> path_;
  std::string original_, original_text_;  // the bytes that were opened, and what the engine writes for them
  bool original_is_file_;                 // a recovered page of enuSpace was opened from other bytes
  std::string stamp_, on_disk_;
};

}  // namespace weft::serve
