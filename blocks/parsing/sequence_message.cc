#include "blocks/parsing/sequence_message.h"

namespace weft::blocks::example {

using protobuf::FieldReader;
using protobuf::WireType;

namespace {

constexpr int64_t kEntryBytes = 128;  // of a map, about

}  // namespace

bool MeasureFeature(std::string_view feature, FeatureSize& size, kernels::StopCheck& stop) {
  size = {};
  CountSink sink;
  const auto measure = [&](Kind kind, std::string_view list) {
    if (kind != size.kind) sink.count = 0;
    size.kind = kind;
    switch (kind) {
      case Kind::kBytes: return ReadFields<String>(list, sink, stop);
      case Kind::kFloat: return ReadFields<float>(list, sink, stop);
      default: return ReadFields<int64_t>(list, sink, stop);
    }
  };
  const bool good = ForLists(feature, stop, measure);
  size.count = sink.count;
  return good;
}

bool SequenceMessage::Hold(int64_t bytes) {
  bytes_ += bytes;
  if (bytes_ > charge_.bytes()) status_ = charge_.Hold(bytes_ + bytes_ / 2);
  return status_.ok();
}

bool SequenceMessage::ReadEntry(std::string_view message, std::string_view& key, std::string_view& value, kernels::StopCheck& stop) {
  FieldReader field(message);
  int parts = 0;
  while (field.Next() && !stop()) {
    if (field.Is(1, WireType::kBytes)) {
      key = field.bytes();
      if (!IsValidUtf8(key)) return false;  // that it is replaced by a later one does not help
    }
    if (!field.Is(2, WireType::kBytes)) continue;
    if (++parts == 1) {
      value = field.bytes();
      continue;
    }
    if (!Hold(static_cast<int64_t>(field.bytes().size() + (parts == 2 ? value.size() : 0)))) return false;
    if (parts == 2) joined_.emplace_back(value);
    joined_.back().append(field.bytes());
    value = joined_.back();
  }
  return field.ok();
}

bool SequenceMessage::ReadContext(std::string_view message, kernels::StopCheck& stop) {
  FieldReader field(message);
  while (field.Next() && !stop(16)) {
    if (!field.Is(1, WireType::kBytes)) continue;
    std::string_view key, value;
    FeatureSize size;
    if (!ReadEntry(field.bytes(), key, value, stop) || !MeasureFeature(value, size, stop)) return false;
    if (!Hold(kEntryBytes)) return false;
    context_[key] = value;
  }
  return field.ok();
}

bool SequenceMessage::ReadSteps(std::string_view message, std::vector<std::string_view>& steps, kernels::StopCheck& stop) {
  FieldReader field(message);
  while (field.Next() && !stop(4)) {
    FeatureSize size;
    if (!field.Is(1, WireType::kBytes)) continue;
    if (!MeasureFeature(field.bytes(), size, stop)) return false;
    if (!Hold(2 * static_cast<int64_t>(sizeof(std::string_view)))) return false;
    steps.push_back(field.bytes());
  }
  return field.ok();
}

bool SequenceMessage::ReadLists(std::string_view message, kernels::StopCheck& stop) {
  FieldReader field(message);
  while (field.Next() && !stop(16)) {
    if (!field.Is(1, WireType::kBytes)) continue;
    std::string_view key, value;
    std::vector<std::string_view> steps;
    if (!ReadEntry(field.bytes(), key, value, stop) || !ReadSteps(value, steps, stop)) return false;
    if (!Hold(kEntryBytes)) return false;
    lists_[key] = std::move(steps);
  }
  return field.ok();
}

bool SequenceMessage::Read(std::string_view message, kernels::StopCheck& stop) {
  FieldReader field(message);
  while (field.Next() && !stop()) {
    if (field.Is(1, WireType::kBytes) && !ReadContext(field.bytes(), stop)) return false;
    if (field.Is(2, WireType::kBytes) && !ReadLists(field.bytes(), stop)) return false;
  }
  return field.ok();
}

}  // namespace weft::blocks::example
