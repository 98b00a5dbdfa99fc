#include "tools/serve/block_schema.h"

#include "tools/serve/assets.h"

namespace weft::serve {

const BlockSchema::Content& BlockSchema::Get() {
  std::call_once(once_, [this] {
    std::string json = TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_blocks_json(runtime_, text, problems); });
    content_.etag = "\"" + TextFrom([&](weft_strings** text, weft_diagnostics** problems) { return weft_blocks_hash(runtime_, text, problems); }) + "\"";
    content_.gzip = std::make_shared<const std::string>(Gzip(json));
    content_.plain = std::make_shared<const std::string>(std::move(json));
  });
  return content_;
}

}  // namespace weft::serve
