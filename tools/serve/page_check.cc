#include "tools/serve/page_check.h"

#include <algorithm>

#include "tools/serve/page_source.h"

namespace weft::serve {
namespace {

int CountOf(const Json& diagnostics, const char* severity) {
  return static_cast<int>(std::count_if(diagnostics.begin(), diagnostics.end(), [&](const Json& item) { return item["severity"] == severity; }));
}

}  // namespace

void PageCheck::Need() {
  if (!types_) Renew();
}

Json PageCheck::Renew() {
  auto types = std::make_unique<const ObjectText>(
      TextFrom([&](weft_strings** json, weft_diagnostics** problems) { return weft_page_types_json(page_, json, problems); }));
  DiagnosticsHandle found;
  Call([&](weft_diagnostics** problems) { return weft_page_diagnostics(page_, found.out(), problems); });
  diagnostics_ = DiagnosticsJson(found.get());
  errors_ = CountOf(diagnostics_, "error");
  warnings_ = CountOf(diagnostics_, "warning");
  Difference difference;
  if (types_) difference = DifferenceOf(*types_, *types);
  types_ = std::move(types);
  return Checked(std::move(difference));
}

Json PageCheck::Checked(Difference types) const {
  return {{"revision", RevisionOf(page_)}, {"types", std::move(types.set)}, {"types_removed", std::move(types.gone)}, {"diagnostics", diagnostics_},
          {"errors", errors_}, {"warnings", warnings_}};
}

}  // namespace weft::serve
