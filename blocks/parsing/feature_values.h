// The values of features on their way into tensors: counted first, stored when there is memory.
#pragma once

#include <cstring>

#include "blocks/parsing/example_message.h"
#include "blocks/string/elements.h"

namespace weft::blocks::example {

/// The types that features have.
inline constexpr TypeList<float, int64_t, String> kFeatureTypes;

constexpr Kind KindOf(DType dtype) { return dtype == DType::kFloat ? Kind::kFloat : dtype == DType::kInt64 ? Kind::kInt64 : Kind::kBytes; }
constexpr std::string_view KindName(Kind kind) {
  return kind == Kind::kFloat ? "DT_FLOAT" : kind == Kind::kInt64 ? "DT_INT64" : kind == Kind::kBytes ? "DT_STRING" : "no type";
}

/// Counts values.
struct CountSink {
  int64_t count = 0;
  void Put(const auto&) { ++count; }
  void PutBytes(const char*, int64_t n) { count += n; }
};

/// Stores values where there is room, and counts all.
template <class T>
struct StoreSink {
  StoreSink(T* to, int64_t room, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop)
      : to(to), room(room), budget(budget), stop(stop) {}

  void Put(const auto& value) {
    if (count++ >= room) return;
    if constexpr (std::is_same_v<T, String>) {
      auto made = MakeString(value, budget, stop);
      if (made.ok()) to[count - 1] = std::move(*made);
      else if (status.ok()) status = std::move(made).status();
    } else {
      to[count - 1] = value;
    }
  }
  void PutBytes(const char* bytes, int64_t n) {
    const int64_t stored = std::clamp<int64_t>(room - count, 0, n);
    if (stored > 0) std::memcpy(to + count, bytes, static_cast<size_t>(stored) * sizeof(T));
    count += n;
  }

  T* to;
  const int64_t room;
  const std::shared_ptr<MemoryBudget>& budget;
  kernels::StopCheck& stop;
  int64_t count = 0;
  Status status;  // of strings that found no memory
};

/// Reads the list of a feature whose kind is that of T. False where it is damaged.
template <class T, class Sink>
bool ReadList(std::string_view feature, Sink& sink, kernels::StopCheck& stop) {
  if constexpr (std::is_same_v<T, float>) return ReadFloats(feature, sink, stop);
  else if constexpr (std::is_same_v<T, int64_t>) return ReadInts(feature, sink, stop);
  else return ReadStrings(feature, sink, stop);
}

}  // namespace weft::blocks::example
