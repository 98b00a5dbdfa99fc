// What the engine finds in an open page: types and shapes of its values, and faults.
#pragma once

#include <memory>
#include <string>

#include "tools/serve/object_text.h"

namespace weft::serve {

/// The last check of a page. Guarded by the lock of the Document that has it.
class PageCheck {
 public:
  explicit PageCheck(weft_page* page) : page_(page) {}

  /// Checks the page, where that was not done yet.
  void Need();
  /// Checks it as it is now. The protocol's Checked, of types only those that are others than at the last check; at the first, none.
  Json Renew();
  /// The protocol's Checked of a page in which nothing changed since.
  Json Unchanged() const { return Checked(Difference()); }

  /// The protocol's.
  const std::string& types() const { return types_->text(); }
  const Json& diagnostics() const { return diagnostics_; }
  int errors() const { return errors_; }
  int warnings() const { return warnings_; }

 private:
  Json Checked(Difference types) const;

  weft_page* const page_;
  std::unique_ptr<const ObjectText> types_;  // null before the first check
  Json diagnostics_ = Json::array();
  int errors_ = 0, warnings_ = 0;
};

}  // namespace weft::serve
