// What the commands of `weft` share: opening pages, reporting, files, exit statuses.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/command.h"
#include "weft/base/diagnostic.h"
#include "weft/block/block_lists.h"
#include "weft/exec/session.h"
#include "weft/host/document.h"

namespace weft::cli {

inline constexpr int kOk = 0, kFailed = 1, kWrongUse = 2;

/// Whether the stream is a terminal that takes colours and redrawing.
bool IsTerminal(int fd);

/// Text in a colour where standard error is a terminal: 31 red, 33 yellow, 36 cyan.
std::string Colored(std::string_view text, int color, int fd = 2);

/// Text of a page as a terminal may show it: control bytes (but line feeds and tabs) and bytes that are no UTF-8 as \xNN. Everything that comes
/// from a page, a case file or a library passes this before it is printed as text.
std::string Visible(std::string_view text);
/// Text as a JSON string, quotes included.
std::string Quoted(std::string_view text);

/// Prints findings to standard error, one a line, or as one JSON document to standard output.
void Report(const Diagnostics& diagnostics, bool json);
void Report(const Status& status, bool json);

/// Lines that --verbose adds on standard error, with the time of day. From any thread.
void SetVerbose();
void LogDebug(std::string_view text);

/// What a block prints, on standard error as it is. From any thread.
void PrintOfBlock(std::string_view text);

/// The folders of an option, which must be there.
Result<std::vector<std::filesystem::path>> Folders(const std::vector<std::string>& given, const char* option);

/// The file's bytes; the Status says what is wrong with it (not_found, a folder, permission_denied).
Result<std::string> ReadFile(const std::string& path);
/// The file, opened for reading: no folder, device or pipe.
Result<std::ifstream> OpenFile(const std::string& path);
/// The file that a write to `path` is about: links are followed. Tells before a long run what would fail after it: invalid_argument for
/// a folder, not_found where the folder to hold it is missing, permission_denied.
Result<std::string> WritableFile(const std::string& path);
/// The same of a file that is only ever replaced: invalid_argument for a device or pipe, too.
Status CheckReplaceable(const std::string& path);
/// invalid_argument where the file to be written is `input`, that of the page or grid (`what`) the command is about; neither need be there.
Status CheckIsNot(const std::string& file, const std::string& input, std::string_view what);
/// A file that a command writes, and what names it: an option, or "the journal".
struct NamedFile {
  std::string_view name;
  std::string path;  // empty: none
};
/// invalid_argument where two of them are the same, though they need not be there yet. Devices and pipes may be.
Status CheckDistinct(const std::vector<NamedFile>& files);
/// "1 block", "2 blocks".
inline std::string Counted(uint64_t count, const char* one) { return Cat(count, " ", one, count == 1 ? "" : "s"); }
/// All of standard input.
Result<std::string> ReadStandardInput();
/// Writes beside the file and renames, so that a failure leaves an old file as it is. Devices and pipes are written to.
Status WriteFile(const std::string& path, std::string_view bytes);

/// Options that every command which opens a page has.
struct PageOptions {
  std::string page;
  std::vector<std::string> set;           // ID.pin=VALUE
  std::vector<std::string> allow, write;  // folders
  std::vector<std::string> libraries;     // of blocks
  BlockLists blocks;
  int threads = 0;
  int64_t memory = 0;  // bytes that the page may hold; 0: see RuntimeOptions
  bool json = false, verbose = false;
  int64_t stall_limit_ms = DocumentOptions().stall_limit_ms;  // the command's choice

  void AddTo(Command& command, bool with_threads);
  /// Those that are about a host of pages, whichever page it opens: folders, libraries, blocks, memory.
  void AddHostTo(Command& command);
};

/// --allow-blocks and --refuse-blocks.
void AddBlockListOptions(Command& command, BlockLists& lists);
/// --memory.
void AddMemoryOption(Command& command, int64_t& memory);
/// --allow and --write, which may be given again.
void AddFolderOptions(Command& command, std::vector<std::string>& allow, std::vector<std::string>& write);

/// A page that is open, with its faults. The scope keeps pointers into the runtime.
struct LoadedPage {
  std::shared_ptr<Runtime> runtime;
  std::unique_ptr<Document> document;  // null where there is no runtime, or a folder is missing
  std::shared_ptr<const Page> page;    // of the document, or empty
  std::shared_ptr<Scope> scope;        // of the document, or null
  Diagnostics diagnostics;
};

/// Opens the page; "-" is standard input, whose folder is the working folder. Faults, but those of shapes, are in `diagnostics`; the caller reports them.
LoadedPage Load(const PageOptions& options);

}  // namespace weft::cli
