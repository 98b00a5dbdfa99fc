// The histogram of TensorFlow's summaries: buckets whose limits grow by a tenth, from 1e-12 to 1e20 on both sides of 0.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft::blocks {

class Histogram {
 public:
  Histogram();

  /// `value` must be finite.
  void Add(double value);
  /// The fields of a HistogramProto, runs of empty buckets as one.
  std::string Message() const;

 private:
  std::span<const double> limits_;
  std::vector<double> buckets_;
  double least_, greatest_, count_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace weft::blocks
