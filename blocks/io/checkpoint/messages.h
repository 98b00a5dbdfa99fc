// Messages that both formats of checkpoints are made of.
//   TensorShapeProto  2 dim (repeated: 1 size), 3 unknown_rank
//   TensorSliceProto  1 extent (repeated: 1 start, 2 length)
//   VersionDef        1 producer, 2 min_consumer
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint/slice.h"

namespace weft::blocks::checkpoint {

// These are false where a message is damaged, or what it tells cannot be.

/// The fields 1 and 2 of a message, where they are numbers; `second` may be null.
bool TakeNumbers(std::string_view message, int64_t* first, int64_t* second);
bool TakeShape(std::string_view message, Shape& shape);
/// Appends the extents.
bool TakeSlice(std::string_view message, TensorSlice& slice);

/// The bytes of the last field of that number; nothing where there is none or the message is damaged.
std::optional<std::string_view> LastBytes(std::string_view message, uint32_t number);

std::string SliceMessage(const TensorSlice& slice);

}  // namespace weft::blocks::checkpoint
