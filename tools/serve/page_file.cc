#include "tools/serve/page_file.h"

namespace weft::serve {
namespace {

std::string FormatOf(const std::string& bytes) {
  const std::string head = bytes.substr(0, 4096);
  if (head.find("<svg") != std::string::npos || head.find("<?xml") != std::string::npos) return "enuspace_svg";
  return head.find("\"weft\"") != std::string::npos ? "weft" : "enuspace_json";
}

}  // namespace

PageFile::PageFile(const Folder& folder, PageSource source, std::string text)
    : folder_(folder), name_(std::move(source.name)), format_(source.format.empty() ? FormatOf(source.bytes) : source.format), path_(std::move(source.path)),
      original_(std::move(source.bytes)), original_text_(std::move(text)), original_is_file_(source.format.empty() || source.format == "weft"),
      stamp_(std::move(source.stamp)), on_disk_(path_ ? "same" : "none") {}

std::string PageFile::DiskState() const {
  if (!path_) return "none";
  const std::string now = folder_.Stamp(*path_);
  return now.empty() ? "missing" : now == stamp_ ? "same" : "changed";
}

bool PageFile::Look() {
  std::string state = DiskState();
  if (state == on_disk_) return false;
  on_disk_ = std::move(state);
  return true;
}

void PageFile::Save(const std::string& text, const std::optional<std::string>& path, bool overwrite, bool force) {
  if (!path && !path_) throw ApiError(409, "failed_precondition", "the page has no file yet", "give a path");
  const std::string target = path ? Folder::Checked(*path) : *path_;
  const bool same = target == path_, untouched = Untouched(text);
  if (same && format_ != "weft" && !untouched) {
    throw ApiError(409, "failed_precondition", "'" + target + "' is a page of enuSpace, which is not written", "save it under a name that ends in .page.json");
  }
  if (same && !force && DiskState() == "changed") {
    throw ApiError(409, "aborted", "'" + target + "' has changed on disk since it was read", "load it again, or save with force");
  }
  // A page of enuSpace that is saved elsewhere becomes a Weft page, unless its bytes stay what the name says.
  const bool keeps_bytes = untouched && (format_ == "weft" || same);
  folder_.Write(target, keeps_bytes ? original_ : text, same || overwrite);
  if (!keeps_bytes) {
    original_ = original_text_ = text;
    original_is_file_ = true;
    format_ = "weft";
  }
  if (!same) name_ = target;
  path_ = target;
  stamp_ = folder_.Stamp(target);
  on_disk_ = "same";
}

void PageFile::TakeOver(std::string bytes, std::string stamp, std::string text) {
  original_ = std::move(bytes);
  original_is_file_ = true;
  original_text_ = std::move(text);
  stamp_ = std::move(stamp);
  on_disk_ = "same";
}

}  // namespace weft::serve
