#include "blocks/candidate_sampling/unigram_table.h"

#include <algorithm>
#include <cmath>

#include "blocks/parsing/number.h"
#include "blocks/string/quoted.h"

namespace weft::blocks {
namespace {

/// The number after the last comma.
Result<float> WeightOf(std::string_view line) {
  float weight = 0;
  if (ParseNumber(line.substr(line.rfind(',') + 1), weight)) return weight;
  return InvalidArgument("needs a weight after the last comma of each line, found ", Quoted(line));
}

/// Which of the weights are the shard's. They are counted on from its reserved classes, as in TensorFlow.
class ShardCount {
 public:
  explicit ShardCount(const UnigramSettings& settings) : shards_(settings.shards), left_(First(settings)) {}
  bool Next() {
    if (left_-- > 0) return false;
    left_ = shards_ - 1;
    return true;
  }
  /// How many weights come before the first one.
  static int64_t First(const UnigramSettings& settings) {
    const int64_t at = UnigramTable::Reserved(settings) % settings.shards;
    return at <= settings.shard ? settings.shard - at : settings.shards - at + settings.shard;
  }

 private:
  const int64_t shards_;
  int64_t left_;
};

}  // namespace

int64_t UnigramTable::Reserved(const UnigramSettings& settings) {
  return settings.reserved > settings.shard ? (settings.reserved - settings.shard - 1) / settings.shards + 1 : 0;
}

int64_t UnigramTable::Classes(const UnigramSettings& settings, int64_t weights) {
  const int64_t first = ShardCount::First(settings);
  return Reserved(settings) + (weights > first ? (weights - first - 1) / settings.shards + 1 : 0);
}

Result<std::shared_ptr<UnigramTable>> UnigramTable::Empty(const UnigramSettings& settings, const std::shared_ptr<MemoryBudget>& budget,
                                                          const Workers& workers) {
  if (settings.range >= INT32_MAX) return InvalidArgument("needs less than 2^31 - 1, found ", settings.range).WithPort(kRangeMax.name);
  const std::shared_ptr<UnigramTable> table(new UnigramTable(budget));
  WEFT_RETURN_IF_ERROR(table->charge_.Hold(settings.range * 32));  // also what MakePicks needs
  table->weights_.reserve(static_cast<size_t>(settings.range));
  const auto clear = [&](int64_t, int64_t end) { table->weights_.resize(static_cast<size_t>(end)); };
  if (!kernels::ForTiles(workers, Reserved(settings), kernels::kItemsBetweenLooks, clear)) return kernels::RunStopped();
  return table;
}

Status UnigramTable::Add(const UnigramSettings& settings, float weight) {
  weight = std::pow(weight, settings.distortion);
  if (!(weight >= 0) || std::isinf(weight)) {
    return InvalidArgument("needs weights of 0 or more, found ", weight, " for class ", weights_.size());
  }
  if (static_cast<int64_t>(weights_.size()) == settings.range) {
    return InvalidArgument("needs the number of classes of the shard, found ", settings.range, " and more weights")
        .WithPort(kRangeMax.name);
  }
  total_ += weight;
  drawable_ += weight > 0;
  weights_.push_back(weight);
  return {};
}

Status UnigramTable::Finish(const UnigramSettings& settings, const Workers& workers) {
  if (static_cast<int64_t>(weights_.size()) != settings.range) {
    return InvalidArgument("needs the number of classes of the shard, ", weights_.size(), ", found ", settings.range)
        .WithPort(kRangeMax.name);
  }
  if (drawable_ == 0 || std::isinf(total_)) return InvalidArgument("needs weights with a finite sum above 0, found ", total_);
  WEFT_RETURN_IF_ERROR(MakePicks(workers));
  return charge_.Hold(settings.range * 12);
}

/// Classes of less than the mean probability are each filled up by one of more.
Status UnigramTable::MakePicks(const Workers& workers) {
  const size_t count = weights_.size();
  kernels::StopCheck stop(workers);
  double sum = 0;
  for (size_t i = 0; i < count && !stop(); ++i) sum += static_cast<double>(weights_[i]);
  std::vector<double> parts;  // of the mean
  std::vector<int32_t> high, low;
  parts.reserve(count);
  high.reserve(count);
  low.reserve(count);
  picks_.reserve(count);
  for (size_t i = 0; i < count && !stop(4); ++i) {
    parts.push_back(static_cast<double>(weights_[i] * static_cast<float>(count)) / sum);
    (parts[i] < 1.0 ? low : high).push_back(static_cast<int32_t>(i));
    picks_.push_back({1, static_cast<int32_t>(i)});
  }
  while (!high.empty() && !low.empty() && !stop(4)) {
    const int32_t less = low.back(), more = high.back();
    low.pop_back();
    high.pop_back();
    picks_[static_cast<size_t>(less)] = {static_cast<float>(parts[static_cast<size_t>(less)]), more};
    double& rest = parts[static_cast<size_t>(more)];
    rest -= 1.0 - parts[static_cast<size_t>(less)];
    (rest < 1.0 ? low : high).push_back(more);
  }
  return stop(0) ? kernels::RunStopped() : Status();
}

Result<std::shared_ptr<const UnigramTable>> UnigramTable::FromWeights(const UnigramSettings& settings, std::span<const float> weights,
                                                                      const std::shared_ptr<MemoryBudget>& budget, const Workers& workers) {
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<UnigramTable> table, Empty(settings, budget, workers));
  ShardCount count(settings);
  kernels::StopCheck stop(workers);
  for (float weight : weights) {
    if (stop(32)) return kernels::RunStopped();
    if (count.Next()) WEFT_RETURN_IF_ERROR(table->Add(settings, weight));
  }
  WEFT_RETURN_IF_ERROR(table->Finish(settings, workers));
  return std::shared_ptr<const UnigramTable>(table);
}

Result<std::shared_ptr<const UnigramTable>> UnigramTable::FromLines(const UnigramSettings& settings, std::string_view lines,
                                                                    const std::shared_ptr<MemoryBudget>& budget, const Workers& workers) {
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<UnigramTable> table, Empty(settings, budget, workers));
  ShardCount count(settings);
  kernels::StopCheck stop(workers);
  while (!lines.empty()) {
    const size_t length = std::min(lines.find('\n'), lines.size());
    const std::string_view line = WithoutBlanks(lines.substr(0, length));
    lines.remove_prefix(std::min(length + 1, lines.size()));
    if (stop(static_cast<int64_t>(length) + 32)) return kernels::RunStopped();
    if (line.empty() || !count.Next()) continue;
    WEFT_ASSIGN_OR_RETURN(const float weight, WeightOf(line));
    WEFT_RETURN_IF_ERROR(table->Add(settings, weight));
  }
  WEFT_RETURN_IF_ERROR(table->Finish(settings, workers));
  return std::shared_ptr<const UnigramTable>(table);
}

}  // namespace weft::blocks
