// The JSON of all blocks, made once, by the first who asks.
#pragma once

#include <mutex>
#include <string>

#include "tools/serve/engine.h"
#include "tools/serve/http.h"

namespace weft::serve {

/// Functions may be called from any thread.
class BlockSchema {
 public:
  explicit BlockSchema(weft_runtime* runtime) : runtime_(runtime) {}

  struct Content {
    Bytes plain, gzip;
    std::string etag;
  };
  const Content& Get();

 private:
  weft_runtime* const runtime_;
  std::once_flag once_;
  Content content_;
};

}  // namespace weft::serve
