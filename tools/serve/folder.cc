#include "tools/serve/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace weft::serve {

namespace fs = std::filesystem;

namespace {

bool EndsWith(std::string_view text, std::string_view end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

/// Whether JSON looks like a page, by its beginning: Weft's own, or enuSpace's.
bool LooksLikePage(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  std::string text(bytes.data(), count > 0 ? static_cast<size_t>(count) : 0);
  text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());  // UTF-16
  return text.find("\"weft\"") != std::string::npos || text.find("\"symbol-name\"") != std::string::npos ||
         (text.find("\"blocks\"") != std::string::npos && text.find("\"block\"") != std::string::npos);
}

/// The kind of a file in the list; empty for those that are left out.
std::string KindOf(const fs::path& path) {
  const std::string name = path.filename().string();
  if (EndsWith(name, ".page.json")) return "page";
  if (EndsWith(name, ".json")) return LooksLikePage(path) ? "json" : "";
  if (EndsWith(name, ".svg")) return "svg";
  if (EndsWith(name, ".npy")) return "npy";
  if (EndsWith(name, ".csv")) return "csv";
  if (EndsWith(name, ".weftstate")) return "state";
  return "";
}

}  // namespace

std::string TimeText(int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Folder::Folder(weft_runtime* runtime, std::string path, bool read_only) : path_(std::move(path)) {
  static constexpr char kEmpty[] = "{\"weft\": 1, \"page\": \"folder\", \"blocks\": []}";
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  const char* folder = path_.c_str();
  options.keep_faulty = 1;
  options.name = "folder";
  options.folder = folder;
  options.allowed_folders = &folder;
  options.allowed_count = 1;
  if (!read_only) {
    options.write_folders = &folder;
    options.write_count = 1;
  }
  weft_diagnostics* problems = nullptr;
  const weft_status status = weft_page_load(runtime, kEmpty, sizeof kEmpty - 1, &options, access_.out(), &problems);
  const DiagnosticsHandle owned(problems);
  if (status != WEFT_OK) throw ApiError(500, ErrorOf(status, problems));
}

std::string Folder::name() const { return fs::path(path_).filename().string(); }

std::string Folder::Checked(const std::string& name) {
  const auto refuse = [&](const char* why) { throw ApiError(403, "permission_denied", "'" + name.substr(0, 200) + "' " + why, "give a path below the folder that is served"); };
  if (name.empty()) throw ApiError(400, "invalid_argument", "the path of a file is empty");
  if (name.size() > 4096) throw ApiError(400, "invalid_argument", "the path of a file is too long");
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    throw ApiError(400, "invalid_argument", "the path of a file has control bytes");
  }
  if (name[0] == '/' || name.find('\\') != std::string::npos) refuse("is no relative path");
  std::string out;
  for (const fs::path& part : fs::path(name)) {
    if (part == "..") refuse("leads out of the folder");
    if (part == "." || part.empty()) continue;
    if (part.string()[0] == '.') refuse("is hidden");
    out += (out.empty() ? "" : "/") + part.string();
  }
  if (out.empty()) refuse("is the folder itself");
  return out;
}

std::string Folder::Place(const std::string& name, int32_t access) const {
  const std::string checked = Checked(name);
  return TextFrom([&](weft_strings** path, weft_diagnostics** problems) { return weft_page_file_path(access_.get(), checked.c_str(), access, path, problems); });
}

std::string Folder::Read(const std::string& name, uint64_t most_bytes) const {
  const std::string checked = Checked(name);
  struct stat status {};
  if (::stat(Place(checked, WEFT_FILE_READ).c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw ApiError(400, "invalid_argument", "'" + checked + "' is a folder");
    if (static_cast<uint64_t>(status.st_size) > most_bytes) {
      throw ApiError(413, "resource_exhausted", "'" + checked + "' has " + std::to_string(status.st_size) + " bytes, the limit is " + std::to_string(most_bytes));
    }
  }
  return TextFrom([&](weft_strings** content, weft_diagnostics** problems) { return weft_page_read_file(access_.get(), checked.c_str(), content, problems); });
}

void Folder::NeedFree(const std::string& name) const {
  if (!Stamp(name).empty()) throw ApiError(409, "already_exists", "'" + name + "' exists already", "choose another name, or overwrite it");
}

void Folder::Write(const std::string& name, std::string_view bytes, bool overwrite) const {
  const std::string checked = Checked(name);
  if (!overwrite) NeedFree(checked);
  Call([&](weft_diagnostics** problems) { return weft_page_write_file(access_.get(), checked.c_str(), bytes.data(), bytes.size(), problems); });
}

std::string Folder::Stamp(const std::string& name) const {
  struct stat status {};
  if (::lstat((path_ + "/" + Checked(name)).c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino) + "-" + std::to_string(status.st_size) + "-" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

Json Folder::ListFiles(size_t most) const {
  std::vector<Json> files;
  bool cut = false;
  std::error_code error;
  size_t looked_at = 0;
  fs::recursive_directory_iterator walk(path_, fs::directory_options::skip_permission_denied, error), end;
  while (!error && walk != end) {
    const fs::directory_entry& entry = *walk;
    const std::string file = entry.path().filename().string();
    std::error_code ignored;
    const auto kind_of_entry = entry.symlink_status(ignored).type();
    if (kind_of_entry == fs::file_type::directory && (file[0] == '.' || file == "node_modules" || walk.depth() > 8)) walk.disable_recursion_pending();
    if (kind_of_entry == fs::file_type::regular && file[0] != '.') {
      if (const std::string kind = KindOf(entry.path()); !kind.empty()) {
        struct stat status {};
        if (::lstat(entry.path().c_str(), &status) == 0) {
          files.push_back({{"path", entry.path().lexically_relative(path_).generic_string()}, {"kind", kind}, {"bytes", status.st_size},
                           {"modified", TimeText(status.st_mtim.tv_sec)}});
        }
      }
    }
    if (files.size() >= most || ++looked_at > 20 * most) {
      cut = true;
      break;
    }
    walk.increment(error);
  }
  std::sort(files.begin(), files.end(), [](const Json& a, const Json& b) { return a["path"] < b["path"]; });
  return {{"folder", name()}, {"files", files}, {"cut", cut}};
}

}  // namespace weft::serve
