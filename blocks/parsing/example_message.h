// The messages of tensorflow.Example as TensorFlow's fast parser reads them, which is not the whole of protobuf: tags have one byte, an entry
// has just two fields, and of a list with packed numbers nothing behind those counts. A length that goes beyond what surrounds it
// ends there; strings must be whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "blocks/kernels/stop_check.h"
#include "blocks/protobuf/wire.h"

namespace weft::blocks::example {

/// What is left of a message. Functions that return a bool are false where it is damaged.
class Cursor {
 public:
  explicit Cursor(std::string_view message) : rest_(message) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  /// The next byte; 0 at the end, which is no tag.
  uint8_t Peek() const { return rest_.empty() ? 0 : static_cast<uint8_t>(rest_[0]); }
  /// Skips a tag of one byte, if it is the next.
  bool SkipTag(uint8_t tag) {
    if (rest_.empty() || Peek() != tag) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeVarint(uint64_t& value) {
    if (!rest_.empty() && Peek() < 0x80) {
      value = Peek();
      rest_.remove_prefix(1);
      return true;
    }
    return protobuf::TakeVarint(rest_, value);
  }
  /// As a length: its lowest 32 bits.
  bool TakeLength(size_t& length) {
    uint64_t value = 0;
    if (!TakeVarint(value)) return false;
    length = static_cast<uint32_t>(value);
    return true;
  }
  bool TakeBytes(size_t size, std::string_view& bytes) {
    if (size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  /// A string behind its length.
  bool TakeString(std::string_view& bytes) {
    size_t size = 0;
    return TakeLength(size) && TakeBytes(size, bytes);
  }
  /// A message behind its length, or as much of it as there is; Continue after it.
  bool Enter(Cursor& message) {
    size_t size = 0;
    if (!TakeLength(size)) return false;
    message.rest_ = rest_.substr(0, size);
    return true;
  }
  /// Goes on where the reading of an inner message ended.
  void Continue(const Cursor& inner) { rest_.remove_prefix(static_cast<size_t>(inner.rest_.data() - rest_.data())); }

 private:
  std::string_view rest_;
};

constexpr uint8_t VarintTag(uint32_t field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t BytesTag(uint32_t field) { return static_cast<uint8_t>(field << 3 | 2); }
constexpr uint8_t Fixed32Tag(uint32_t field) { return static_cast<uint8_t>(field << 3 | 5); }

/// Fields of the message Feature, each a list.
enum class Kind : uint8_t { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3 };

/// Calls entry(key, feature) for each feature of an Example, in their order.
bool ForFeatures(std::string_view message, kernels::StopCheck& stop, const auto& entry);

/// Takes the kind off the front of a Feature: kNone of one without a list. False where it begins otherwise.
inline bool TakeKind(std::string_view& feature, Kind& kind) {
  kind = Kind::kNone;
  if (feature.empty()) return true;
  for (Kind known : {Kind::kBytes, Kind::kFloat, Kind::kInt64}) {
    if (static_cast<uint8_t>(feature[0]) == BytesTag(static_cast<uint32_t>(known))) kind = known;
  }
  feature.remove_prefix(1);
  return kind != Kind::kNone;
}

// ---- lists: sink.Put(value) for each value of what follows a kind -----------------------------------------------------------

bool ReadInts(std::string_view feature, auto& sink, kernels::StopCheck& stop) {
  Cursor message(feature), list(feature), packed(feature);
  uint64_t value = 0;
  if (!message.Enter(list)) return false;
  if (list.at_end()) return true;
  if (list.SkipTag(BytesTag(1))) {
    if (!list.Enter(packed)) return false;
    while (!packed.at_end() && !stop()) {
      if (!packed.TakeVarint(value)) return false;
      sink.Put(static_cast<int64_t>(value));
    }
    return true;
  }
  while (!list.at_end() && !stop()) {
    if (!list.SkipTag(VarintTag(1)) || !list.TakeVarint(value)) return false;
    sink.Put(static_cast<int64_t>(value));
  }
  return true;
}

/// Packed floats go to sink.PutBytes(bytes, count).
bool ReadFloats(std::string_view feature, auto& sink, kernels::StopCheck& stop) {
  Cursor message(feature), list(feature);
  if (!message.Enter(list)) return false;
  if (list.at_end()) return true;
  std::string_view bytes;
  if (list.SkipTag(BytesTag(1))) {
    size_t size = 0;
    if (!list.TakeLength(size) || !list.TakeBytes(size / sizeof(float) * sizeof(float), bytes)) return false;
    sink.PutBytes(bytes.data(), static_cast<int64_t>(size / sizeof(float)));
    stop(static_cast<int64_t>(size / 16));
    return true;
  }
  while (!list.at_end() && !stop()) {
    if (!list.SkipTag(Fixed32Tag(1)) || !list.TakeBytes(sizeof(float), bytes)) return false;
    sink.Put(protobuf::LoadFixed<float>(bytes.data()));
  }
  return true;
}

bool ReadStrings(std::string_view feature, auto& sink, kernels::StopCheck& stop) {
  Cursor message(feature), list(feature);
  if (!message.Enter(list)) return false;
  std::string_view text;
  while (!list.at_end() && !stop()) {
    if (!list.SkipTag(BytesTag(1)) || !list.TakeString(text)) return false;
    sink.Put(text);
  }
  return true;
}

// ---- features ---------------------------------------------------------------------------------------------------------------

/// A field that an Example should not have; groups are refused.
inline bool SkipField(Cursor& message) {
  uint64_t tag = 0, value = 0;
  std::string_view bytes;
  if (!message.TakeVarint(tag)) return false;
  switch (tag & 7) {
    case 0: return message.TakeVarint(value);
    case 1: return message.TakeBytes(8, bytes);
    case 2: {
      size_t size = 0;
      if (!message.TakeLength(size)) return false;
      return message.TakeBytes(std::min(size, message.rest().size()), bytes);
    }
    case 5: return message.TakeBytes(4, bytes);
    default: return false;
  }
}

/// Two fields, each a key or a value, and nothing else: the last of each kind counts, and a kind that is missing is empty.
inline bool TakeEntry(Cursor& item, std::string_view& key, std::string_view& value) {
  for (int i = 0; i < 2; ++i) {
    const bool is_key = item.SkipTag(BytesTag(1));
    if (!is_key && !item.SkipTag(BytesTag(2))) return false;
    if (!item.TakeString(is_key ? key : value)) return false;
  }
  return item.at_end();
}

bool ForFeatures(std::string_view message, kernels::StopCheck& stop, const auto& entry) {
  Cursor example(message);
  while (!example.at_end() && !stop()) {
    if (!example.SkipTag(BytesTag(1))) {
      if (!SkipField(example)) return false;
      continue;
    }
    Cursor features(message), item(message);
    if (!example.Enter(features)) return false;
    while (!features.at_end() && !stop()) {
      std::string_view key, value;
      if (!features.SkipTag(BytesTag(1)) || !features.Enter(item)) return false;
      if (!TakeEntry(item, key, value)) return false;
      features.Continue(item);
      entry(key, value);
    }
    example.Continue(features);
  }
  return true;
}

}  // namespace weft::blocks::example
