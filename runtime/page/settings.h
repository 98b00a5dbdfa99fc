// Parts of a Weft page that are kept as JSON text and interpreted in addition: attribute objects and the layout.
#pragma once

#include <string>
#include <vector>

#include "runtime/page/json_text.h"
#include "weft/page/page.h"

namespace weft::page {

/// Turns {"strides": [1, 2], "padding": "SAME"} into `strides_ = {1,2};padding_ = SAME;`. Lists of lists become {[1][2],[3]}, null an
/// unknown `?`.
class SettingsReader {
 public:
  /// invalid_argument for a value that attribute text cannot express.
  Status Scalar(const JsonScalar& value);
  Status Start(bool object);
  void Key(std::string_view key);
  void End();
  std::string Take();

 private:
  void Separate();
  std::string text_;
  int depth_ = 0;  // 1: in the object, 2: in a list, 3: in a list in a list
  bool first_ = true;
};

/// Reads {"id": [x, y]}. With any other value regular() is false, and the layout is kept as text only.
class LayoutReader {
 public:
  void Scalar(const JsonScalar& value);
  void Start(bool object);
  void Key(std::string_view key);
  void End();
  bool regular() const { return regular_; }
  std::vector<LayoutEntry> Take() { return std::move(entries_); }

 private:
  std::vector<LayoutEntry> entries_;
  int depth_ = 0;
  int numbers_ = 0;
  bool regular_ = true;
};

}  // namespace weft::page
