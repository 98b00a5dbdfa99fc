// For the few blocks whose result depends on their id.
#pragma once

#include <string_view>

#include "weft/block/context.h"

namespace weft {

/// A BindContext that knows the id of the block on its page.
class NamedBind : public BindContext {
 public:
  virtual std::string_view block_id() const = 0;
};

/// The id of the block that binds its state; empty where the engine gives it none.
inline std::string_view BlockIdOf(const BindContext& ctx) {
  const auto* named = dynamic_cast<const NamedBind*>(&ctx);
  return named == nullptr ? std::string_view() : named->block_id();
}

}  // namespace weft
