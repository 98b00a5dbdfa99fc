// A page that is open: its edits, what they change for those who follow, and its file.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/client.h"
#include "tools/serve/context.h"
#include "tools/serve/engine.h"
#include "tools/serve/folder.h"
#include "tools/serve/journal.h"
#include "tools/serve/object_text.h"

namespace weft::serve {

class Runner;

/// Where a page comes from.
struct PageSource {
  std::string name;                 // what diagnostics call it
  std::optional<std::string> path;  // in the folder
  std::string bytes;
  std::string stamp;                // of the file
  bool dirty = false;               // exists nowhere else
  std::string format = "";          // of the file, where `bytes` are Weft's writing of it; else it is that of the bytes
};

/// How pages are loaded.
struct PageRules {
  weft_runtime* runtime = nullptr;
  const Folder* folder = nullptr;
  bool read_only = false, no_files = false;
};

/// A page of the engine, with faults or without. Throws 422 where nothing can be read.
PageHandle LoadPage(const PageRules& rules, const PageSource& source);

/// Throws 422 where the text was no page at all, of which a page with faults was made.
void NeedReadable(weft_page* page);

struct EditRequest {
  std::string edits;
  int32_t mode = WEFT_EDIT_APPLY;
  std::string label, by, cause = "edit";
  std::optional<uint64_t> if_match;
};

/// Functions may be called from any thread; those that change the page take turns.
class Document : public std::enable_shared_from_this<Document> {
 public:
  Document(std::string id, PageRules rules, PageSource source, Context& context);
  ~Document();

  const std::string& id() const { return id_; }
  weft_page* page() const { return page_.get(); }
  EventLog& log() { return log_; }
  Runner& runner() { return *runner_; }
  std::string name() const;
  std::optional<std::string> path() const;
  uint64_t revision() const;

  /// The protocol's Page.
  Json Describe();
  /// The protocol's View.
  std::string View();
  /// The page as it would be saved. `revision` (may be null) gets its number.
  std::string Text(uint64_t* revision);
  Json Diagnostics();

  /// Edits the page; a Change.
  Json Edit(const EditRequest& request);
  /// Takes back the last edit (or makes it again).
  Json Undo(bool redo, const std::string& by, std::optional<uint64_t> if_match);
  /// Makes the page another text's, by edits.
  Json Replace(const std::string& text, const EditRequest& request);
  Json Reload(const EditRequest& request);

  void Save(std::optional<std::string> path, bool overwrite, bool force, const std::string& by);
  bool dirty();
  /// Looks at the file; tells clients where it is another one than before.
  void LookAtDisk();
  /// Makes the edits of an earlier start's journal, with whose text the page was opened. Stops at the first that cannot be made.
  void Recover(const Recovery& recovery);
  /// Forgets the journal of the page: it is closed for good.
  void DropJournal();

 private:
  void CheckMatch(std::optional<uint64_t> if_match) const;
  Json Changed(const std::string& difference, const EditRequest& request);
  void PutBlocks(const std::vector<std::string>& ids, Json& change);
  void PutLayout(const Json& difference, Json& change);
  void PutKeys(const Json& difference, const std::string& text, Json& change);
  Json Check();
  Json Unchanged(const EditRequest& request);
  uint64_t RevisionNow() const;
  void PutHistory(Json& object);
  std::string DiskState() const;
  std::string TextNow() const;
  void Note(const std::string& edits);
  JournalHead Head(std::string text, bool unsaved) const;
  void StartJournal();
  std::shared_ptr<Journal> RewriteJournal();
  void ForgetUnsaved();
  bool Untouched(const std::string& text) const { return text == original_text_ && original_is_file_; }

  const std::string id_;
  const PageRules rules_;
  Context& context_;
  const Limits& limits_;
  EventLog log_;
  PageHandle page_;
  std::shared_ptr<Runner> runner_;

  mutable std::mutex mutex_;  // what follows, and the order of edits
  std::string name_, title_, format_;
  std::optional<std::string> path_;
  std::string original_, original_text_;  // the bytes that were opened, and what the engine writes for them
  bool original_is_file_ = true;          // a recovered page of enuSpace was opened from other bytes
  std::optional<std::string> saved_text_;  // what the engine writes for what was saved; none where that is nowhere
  std::string stamp_, disk_ = "none";
  std::shared_ptr<Journal> journal_;  // null where nothing is unsaved
  size_t edits_in_text_ = 0;  // unsaved edits that the page was opened with
  bool dirty_ = false;
  std::vector<std::string> undo_labels_, redo_labels_;
  std::unique_ptr<const ObjectText> types_;  // of the last check; null before the first
  Json diagnostics_ = Json::array();
  int errors_ = 0, warnings_ = 0;
};

/// Edits that make the page with the text `from` the one with the text `to`, both as Weft writes them.
Json EditsBetween(const std::string& from, const std::string& to);
/// The wires into a block: [["a.z", "y.x"], ...], from its JSON.
Json WiresInto(const Json& block);

}  // namespace weft::serve
