// Document: an open page with its faults, its files and the history of its edits. What every program around the engine opens first.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weft/host/edit_history.h"
#include "weft/host/file_sandbox.h"
#include "weft/host/page_events.h"
#include "weft/page/reader.h"
#include "weft/state/scope.h"

namespace weft {

struct DocumentOptions {
  std::string name{};  // what diagnostics call the page; empty: its path, or "page"
  /// Where relative names of files start; the page may read what lies there. Empty: the folder of the page's file; of bytes: the working
  /// folder, which the page may not read.
  std::filesystem::path folder{};
  std::vector<std::filesystem::path> read_folders{};   // that the page may read besides
  std::vector<std::filesystem::path> write_folders{};  // that it may read and write
  std::function<bool(const FileAccess&)> may_use{};    // see FolderRules; may be empty
  std::vector<std::string> settings{};                 // made over the page: "ID.pin=VALUE"
  std::function<void(std::string_view)> print{};       // where Print and warnings go; called from any thread; may be empty
  int64_t stall_limit_ms = 5000;                       // see ScopeOptions
};

/// What an edit did.
struct DocumentEdit {
  std::vector<Edit> made;     // the edits, in order
  std::vector<Edit> inverse;  // what takes them back, in order
  PageChanges changes;        // what is different, by ids
};

/// Thread-safe. A page with faults is open as well, to be looked at and edited; what could not be read at all is an empty one.
class Document {
 public:
  /// The runtime lives as long as the document and its scope's sessions are used. `path` may be that of a pipe.
  static std::unique_ptr<Document> OpenFile(std::shared_ptr<Runtime> runtime, const std::filesystem::path& path,
                                            DocumentOptions options = {});
  static std::unique_ptr<Document> Open(std::shared_ptr<Runtime> runtime, std::string_view bytes, DocumentOptions options = {});

  Runtime& runtime() const { return *runtime_; }
  /// Never null; the page as it is now is its revision's.
  const std::shared_ptr<Scope>& scope() const { return scope_; }
  /// The files that the page may use: for a host's own files, too.
  const FileSandbox& files() const { return *files_; }

  // Findings come in the order of the page (SortByPage).
  /// What is wrong with the page as it is now, as far as reading and connecting tell; shapes are not looked at. Waits for edits.
  Diagnostics faults() const;
  /// All that is wrong or odd with the page as it is now: of reading, connecting and planning. Made once a revision; waits for edits.
  Diagnostics diagnostics() const;
  /// The page as canonical JSON.
  std::string Write() const;

  /// Edits the page (Scope::Apply), and notes what takes the edits back; kTry notes nothing. `found` gets the faults of the page as it
  /// would be. Edits as JSON (ReadEdits) may name files that the page may read.
  /// `prepare` (may be empty) is called with what the edit will have done and the number that Scope::edits() will be, before anything is
  /// changed (in kTry: with what would be): where it fails, nothing is.
  using Prepare = std::function<Status(const DocumentEdit& done, uint64_t edits)>;
  Result<DocumentEdit> Apply(std::vector<Edit> edits, EditMode mode, Diagnostics& found, const Prepare& prepare = {});
  Result<DocumentEdit> Apply(std::string_view json, EditMode mode, Diagnostics& found, const Prepare& prepare = {});

  /// Takes back the last edit that is not taken back, or makes the last one that was taken back again. An edit in between ends what could
  /// be made again. failed_precondition where there is none.
  Result<DocumentEdit> Undo(const Prepare& prepare = {}) { return Step(EditHistory::How::kUndo, prepare); }
  Result<DocumentEdit> Redo(const Prepare& prepare = {}) { return Step(EditHistory::How::kRedo, prepare); }
  /// How many edits Undo and Redo have (EditHistory).
  struct History {
    size_t undo = 0, redo = 0;
  };
  History history() const;
  /// Listeners of edits, undone ones included: in their order, before the call that makes them returns.
  PageEvents& events() { return events_; }

 private:
  Document(std::shared_ptr<Runtime> runtime, DocumentOptions options);
  void Load(FunctionRef<ReadPageResult()> read);
  void Connect(ReadPageResult read);
  Result<DocumentEdit> Step(EditHistory::How how, const Prepare& prepare);
  Result<DocumentEdit> Make(std::vector<Edit> edits, EditMode mode, Diagnostics& found, std::function<void()>& tell, EditHistory::How how,
                            const Prepare& prepare);

  const std::shared_ptr<Runtime> runtime_;
  DocumentOptions options_;
  const std::shared_ptr<MemoryBudget> budget_;  // of the page
  std::shared_ptr<const FileSandbox> files_;
  ReadOptions read_;
  std::shared_ptr<Scope> scope_;

  mutable std::mutex edit_mutex_;    // of what follows; held while the page is edited
  mutable Diagnostics found_;        // of the page as it is now
  mutable MemoryCharge found_held_;  // of found_
  mutable bool planned_ = false;     // also what planning finds
  mutable bool sorted_ = false;      // in the order of the page; it takes time where there are many
  EditHistory history_;
  PageEvents events_;
};

/// The findings of a page, block by block as the page has them; those of no block come first, those of one block stay as they were found.
void SortByPage(Diagnostics& found, const Page& page);

/// Reads a page file, and the values that it names from where the rules allow it. Diagnostics call the page by its path.
ReadPageResult ReadPageFile(const std::filesystem::path& path, const FolderRules& rules);
/// The same by the default of a page: from its own folder.
ReadPageResult ReadPageFile(const std::filesystem::path& path);

}  // namespace weft
