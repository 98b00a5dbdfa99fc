// The message of tensorflow.SequenceExample, read by protobuf's rules: of a repeated key the last value counts, a message that comes in
// parts is one, of several kinds of list the last one counts, and numbers may be packed or not.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "blocks/parsing/feature_values.h"

namespace weft::blocks::example {

/// What a Feature message has.
struct FeatureSize {
  Kind kind = Kind::kNone;
  int64_t count = 0;
};

/// A whole message, checked. Views of the string that it was read from, which must outlive it.
class SequenceMessage {
 public:
  using Features = std::unordered_map<std::string_view, std::string_view>;               // key -> Feature
  using FeatureLists = std::unordered_map<std::string_view, std::vector<std::string_view>>;  // key -> Features, a step each

  /// What it holds counts in the budget, which may be null.
  explicit SequenceMessage(const std::shared_ptr<MemoryBudget>& budget) : charge_(budget) {}
  /// Reads a message; false where it is damaged, or where memory lacks (then status() is no success). Where the run is to end the rest is
  /// left out.
  bool Read(std::string_view message, kernels::StopCheck& stop);
  const Status& status() const { return status_; }

  const Features& context() const { return context_; }
  const FeatureLists& lists() const { return lists_; }

 private:
  bool ReadContext(std::string_view message, kernels::StopCheck& stop);
  bool ReadLists(std::string_view message, kernels::StopCheck& stop);
  /// One entry of a map: its key, and its value, the parts of which are joined.
  bool ReadEntry(std::string_view message, std::string_view& key, std::string_view& value, kernels::StopCheck& stop);
  bool ReadSteps(std::string_view message, std::vector<std::string_view>& steps, kernels::StopCheck& stop);
  /// Counts memory, ahead of its use; false where there is too little.
  bool Hold(int64_t bytes);

  Features context_;
  FeatureLists lists_;
  std::deque<std::string> joined_;  // values that came in parts
  MemoryCharge charge_;
  int64_t bytes_ = 0;
  Status status_;
};

/// Calls visit(kind, list), false for a damaged one, for all lists of a feature, of which the last of a kind counts; false if damaged.
bool ForLists(std::string_view feature, kernels::StopCheck& stop, const auto& visit) {
  protobuf::FieldReader field(feature);
  while (field.Next() && !stop()) {
    if (field.type() != protobuf::WireType::kBytes || field.number() < 1 || field.number() > 3) continue;
    if (!visit(static_cast<Kind>(field.number()), field.bytes())) return false;
  }
  return field.ok();
}

/// The values of one list message, in any of the forms that protobuf allows; others than those of T are skipped.
template <class T, class Sink>
bool ReadFields(std::string_view list, Sink& sink, kernels::StopCheck& stop) {
  using protobuf::WireType;
  protobuf::FieldReader field(list);
  while (field.Next() && !stop()) {
    if (field.number() != 1) continue;
    const std::string_view bytes = field.bytes();
    if constexpr (std::is_same_v<T, String>) {
      if (field.type() == WireType::kBytes) sink.Put(bytes);
    } else if constexpr (std::is_same_v<T, float>) {
      if (field.type() != WireType::kFixed32 && field.type() != WireType::kBytes) continue;
      if (bytes.size() % sizeof(float) != 0) return false;
      sink.PutBytes(bytes.data(), static_cast<int64_t>(bytes.size() / sizeof(float)));
    } else {
      if (field.type() == WireType::kVarint) sink.Put(static_cast<int64_t>(field.varint()));
      uint64_t value = 0;
      for (std::string_view rest = bytes; field.type() == WireType::kBytes && !rest.empty() && !stop();) {
        if (!protobuf::TakeVarint(rest, value)) return false;
        sink.Put(static_cast<int64_t>(value));
      }
    }
  }
  return field.ok();
}

/// The kind and number of values of a feature; false where it is damaged.
bool MeasureFeature(std::string_view feature, FeatureSize& size, kernels::StopCheck& stop);

/// Stores the `count` values that MeasureFeature found.
template <class T>
Status StoreValues(std::string_view feature, T* to, int64_t count, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  StoreSink<T> sink(to, count, budget, stop);
  ForLists(feature, stop, [&](Kind kind, std::string_view list) {
    if (kind == KindOf(kDTypeOf<T>)) return ReadFields<T>(list, sink, stop);
    sink.count = 0;  // another kind takes the place of what came before
    return true;
  });
  return sink.status;
}

}  // namespace weft::blocks::example
