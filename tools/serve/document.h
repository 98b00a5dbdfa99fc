// A page that is open: its edits, and what they change for those who follow.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tools/serve/client.h"
#include "tools/serve/context.h"
#include "tools/serve/edit_labels.h"
#include "tools/serve/page_check.h"
#include "tools/serve/page_file.h"
#include "tools/serve/unsaved_edits.h"

namespace weft::serve {

class Runner;

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

  void Save(const std::optional<std::string>& path, bool overwrite, bool force, const std::string& by);
  bool dirty();
  /// Looks at the file; tells clients where it is another one than before.
  void LookAtDisk();
  /// Makes the edits of an earlier start's journal, with whose text the page was opened. Stops at the first that cannot be made; gives how
  /// many were not.
  size_t Recover(const Recovery& recovery);
  /// Forgets the journal of the page: it is closed for good.
  void DropJournal();

 private:
  void PublishSaved(const std::string& by);
  // With the lock.
  Json Description();
  Json Make(const EditRequest& request);
  void CheckMatch(std::optional<uint64_t> if_match) const;
  Json Changed(const std::string& difference, const EditRequest& request);
  Json Unchanged(const EditRequest& request);
  void PutState(Json& object);
  void Note(const std::string& edits);

  const std::string id_;
  const PageRules rules_;
  Context& context_;
  const Limits& limits_;
  EventLog log_;
  const PageHandle page_;
  std::shared_ptr<Runner> runner_;

  mutable std::mutex mutex_;  // what follows, and the order of edits
  PageFile file_;
  UnsavedEdits unsaved_;
  EditLabels labels_;
  PageCheck check_;
  std::string title_;
};

}  // namespace weft::serve
