#include "tools/cli/sweep/grid.h"

#include <openssl/evp.h>

#include <filesystem>
#include <new>

#include "tools/cli/common.h"

namespace weft::cli {
namespace {

void AddPoint(const GridPart& part, int64_t index, GridPoint& point) {
  if (part.kind == GridPart::Kind::kAxis) {
    point.axes.push_back(&part.axis);
    point.values.push_back(part.axis.At(index));
    return;
  }
  int64_t below = part.count;
  for (const GridPart& each : part.parts) {
    if (part.kind == GridPart::Kind::kZip) {
      AddPoint(each, index, point);
    } else {
      below /= each.count;
      AddPoint(each, index / below % each.count, point);
    }
  }
}

void AddAxes(const GridPart& part, std::vector<const Axis*>& axes) {
  if (part.kind == GridPart::Kind::kAxis) axes.push_back(&part.axis);
  for (const GridPart& each : part.parts) AddAxes(each, axes);
}

}  // namespace

std::string GridPoint::Json() const {
  std::string text = "{";
  for (size_t i = 0; i < axes.size(); ++i) text += Cat(i > 0 ? ", " : "", Quoted(axes[i]->name), ": ", values[i].json);
  return text + "}";
}

std::string GridPoint::Text() const {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i) text += Cat(i > 0 ? " " : "", axes[i]->name, "=", values[i].text);
  return text;
}

GridPoint Grid::At(int64_t point) const {
  GridPoint at;
  AddPoint(points, point, at);
  return at;
}

std::vector<const Axis*> Grid::axes() const {
  std::vector<const Axis*> all;
  AddAxes(points, all);
  return all;
}

std::string BesideGrid(const Grid& grid, const std::string& file) {
  const std::filesystem::path path = file;
  return path.is_absolute() || grid.folder.empty() ? file : (std::filesystem::path(grid.folder) / path).string();
}

std::string HashOf(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();  // nothing else can fail
  std::string digits;
  for (unsigned i = 0; i < 16; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    digits += kDigits[digest[i] >> 4];
    digits += kDigits[digest[i] & 15];
  }
  return digits;
}

}  // namespace weft::cli
