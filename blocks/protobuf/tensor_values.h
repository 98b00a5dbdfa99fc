// The elements of a tensor as the fields of a TensorProto message.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/base/float16.h"
#include "weft/base/memory.h"
#include "weft/base/status.h"
#include "weft/block/services.h"

namespace weft::blocks::protobuf {

/// TensorFlow's number of a type; 0 for kInvalid.
uint32_t TypeNumber(DType dtype);
/// The inverse; kInvalid for a number that Weft has no type for.
DType TypeOfNumber(uint64_t number);

/// The field of TensorProto that has the values of a type; 0 for kInvalid.
uint32_t ValuesField(DType dtype);
/// Whether the bytes of a field of TensorProto are what its number asks for: packed values, or a message, must end where they do.
bool IsWholeField(uint32_t number, std::string_view bytes, const Workers& workers);

// Those with `workers` leave when the run of these is to end; their result is then of no use.

/// Bytes that PutValues appends.
uint64_t ValuesSize(DType dtype, const void* elements, int64_t count, const Workers* workers = nullptr);
/// Appends the elements in the field of their type; nothing where there are none. Not for handles.
void PutValues(std::string& out, DType dtype, const void* elements, int64_t count, const Workers* workers = nullptr);
/// Reads just `count` elements; false for another number or a damaged message. Strings count in the budget, which may refuse or be null.
Result<bool> TakeValues(std::string_view message, DType dtype, void* elements, int64_t count, const Workers* workers = nullptr,
                        const std::shared_ptr<MemoryBudget>& budget = nullptr);

/// Reads the first `count` elements, or as many as there are, and gives how many the message has; -1 where it is damaged or the run is to end.
Result<int64_t> TakeFirstValues(std::string_view message, DType dtype, void* elements, int64_t count, const Workers* workers = nullptr,
                                const std::shared_ptr<MemoryBudget>& budget = nullptr);

}  // namespace weft::blocks::protobuf
