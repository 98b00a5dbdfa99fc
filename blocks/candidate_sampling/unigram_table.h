// UnigramTable: classes drawn by given weights, in constant time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "blocks/candidate_sampling/candidate_sampler.h"

namespace weft::blocks {

/// Which classes a table has, and how their weights become probabilities.
struct UnigramSettings {
  int64_t range = 0;  // classes that the table must have
  float distortion = 1;
  int64_t reserved = 0;  // classes before the first one that is listed, which are never drawn
  int64_t shards = 1, shard = 0;
};

/// Walker's alias method: a class is picked evenly, and given up for another one with some probability. Does not change once made.
class UnigramTable {
 public:
  /// From weights; from the lines of a file, whose last field (after a comma) is the weight. Memory counts in `budget`. invalid_argument
  /// for weights that are none, where they are not as many as the classes, and where all are 0; cancelled where the run is to end.
  static Result<std::shared_ptr<const UnigramTable>> FromWeights(const UnigramSettings& settings, std::span<const float> weights,
                                                                 const std::shared_ptr<MemoryBudget>& budget, const Workers& workers);
  /// How many of the reserved classes are the shard's: to be at most the range.
  static int64_t Reserved(const UnigramSettings& settings);
  /// How many classes a table of so many weights has.
  static int64_t Classes(const UnigramSettings& settings, int64_t weights);
  static Result<std::shared_ptr<const UnigramTable>> FromLines(const UnigramSettings& settings, std::string_view lines,
                                                               const std::shared_ptr<MemoryBudget>& budget, const Workers& workers);

  /// Classes that can be drawn.
  int64_t drawable() const { return drawable_; }
  int64_t Draw(kernels::WordStream& words) const {
    const float part = kernels::UnitFloat(words());
    const Pick& pick = picks_[Below32(words, static_cast<uint32_t>(picks_.size()))];
    return part < pick.kept ? &pick - picks_.data() : pick.other;
  }
  float Probability(int64_t one) const { return weights_[static_cast<size_t>(one)] / total_; }

 private:
  struct Pick {
    float kept;
    int32_t other;
  };
  explicit UnigramTable(std::shared_ptr<MemoryBudget> budget) : charge_(std::move(budget)) {}
  /// Takes memory for the classes; the reserved ones are there.
  static Result<std::shared_ptr<UnigramTable>> Empty(const UnigramSettings& settings, const std::shared_ptr<MemoryBudget>& budget,
                                                     const Workers& workers);
  Status Add(const UnigramSettings& settings, float weight);
  Status Finish(const UnigramSettings& settings, const Workers& workers);
  Status MakePicks(const Workers& workers);

  MemoryCharge charge_;
  std::vector<float> weights_;
  std::vector<Pick> picks_;
  float total_ = 0;
  int64_t drawable_ = 0;
};

}  // namespace weft::blocks
