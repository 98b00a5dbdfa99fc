#include "blocks/logging/histogram.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "blocks/protobuf/wire.h"

namespace weft::blocks {
namespace {

constexpr double kGreatest = std::numeric_limits<double>::max();

/// The upper limit of each bucket, ascending.
std::vector<double> MakeLimits() {
  std::vector<double> above;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) above.push_back(limit);
  above.push_back(kGreatest);
  std::vector<double> limits;
  for (auto limit = above.rbegin(); limit != above.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0);
  limits.insert(limits.end(), above.begin(), above.end());
  return limits;
}

/// A double that is not 0; messages leave zeros out.
void PutDouble(std::string& out, uint32_t field, double value) {
  if (std::bit_cast<uint64_t>(value) == 0) return;
  protobuf::PutVarint(out, static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(protobuf::WireType::kFixed64));
  protobuf::PutFixed(out, value);
}

void PutPacked(std::string& out, uint32_t field, const std::vector<double>& values) {
  protobuf::PutBytesHead(out, field, values.size() * sizeof(double));
  for (double value : values) protobuf::PutFixed(out, value);
}

}  // namespace

Histogram::Histogram() : least_(kGreatest), greatest_(-kGreatest) {
  static const std::vector<double> kLimits = MakeLimits();
  limits_ = kLimits;
  buckets_.resize(limits_.size());
}

void Histogram::Add(double value) {
  const auto bucket = std::upper_bound(limits_.begin(), limits_.end() - 1, value) - limits_.begin();
  ++buckets_[static_cast<size_t>(bucket)];
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  ++count_;
  sum_ += value;
  squares_ += value * value;
}

std::string Histogram::Message() const {
  std::string message;
  PutDouble(message, 1, least_);
  PutDouble(message, 2, greatest_);
  PutDouble(message, 3, count_);
  PutDouble(message, 4, sum_);
  PutDouble(message, 5, squares_);
  std::vector<double> limits, counts;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const double count = buckets_[i];
    while (count == 0 && i + 1 < buckets_.size() && buckets_[i + 1] == 0) ++i;
    limits.push_back(limits_[i]);
    counts.push_back(count);
  }
  PutPacked(message, 6, limits);
  PutPacked(message, 7, counts);
  return message;
}

}  // namespace weft::blocks
