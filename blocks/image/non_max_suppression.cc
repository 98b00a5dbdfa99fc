// NonMaxSuppression: the best boxes of those that overlap.
#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> boxes{"boxes", "DT_FLOAT", "[boxes, 4]: two opposite corners, row and column of each"};
constexpr In<1> scores{"scores", "DT_FLOAT", "[boxes]: the higher, the better; NaN is never selected"};
constexpr In<2> max_output_size{"max_output_size", "DT_INT32", "a scalar >= 0: the most boxes to select"};
constexpr Out<0> selected_indices{"selected_indices", "DT_INT32", "[selected]: the boxes, best first"};
constexpr Attr<float> iou_threshold{"iou_threshold", "0.5", "0 to 1: boxes whose common area is a greater part of their union overlap"};

Result<float> Plan(PlanContext& ctx) {
  const Shape &shape = ctx.shape(boxes), &ranks = ctx.shape(scores);
  if (shape.rank() != 2 || shape[1] != 4) return ctx.Error(boxes, "needs shape [boxes, 4], found ", shape);
  if (ranks != Shape{shape[0]}) return ctx.Error(scores, "needs a score for each of the ", shape[0], " boxes, found shape ", ranks);
  if (shape[0] > std::numeric_limits<int32_t>::max()) return ctx.Error(boxes, "needs fewer than 2^31 boxes, found shape ", shape);
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, max_output_size));
  const float threshold = ctx.attr(iou_threshold);
  if (!(threshold >= 0 && threshold <= 1)) return ctx.Error(iou_threshold, "needs a number from 0 to 1, found ", threshold);
  WEFT_ASSIGN_OR_RETURN(PartialShape partial, PartialShape::Make({-1}));
  ctx.set_unknown(selected_indices, 0, std::move(partial));
  return threshold;
}

struct Box {
  float top, left, bottom, right;

  explicit Box(const float* corners)
      : top(std::min(corners[0], corners[2])), left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])), right(std::max(corners[1], corners[3])) {}
  float area() const { return (bottom - top) * (right - left); }
};

/// The common area as a part of the union; 0 where a box has no area.
float Overlap(const Box& a, const Box& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  return height * width / (area_a + area_b - height * width);
}

/// A box not looked at yet, or at 0 by an overlap that is no number: it comes again, to be compared with what was selected meanwhile.
struct Candidate {
  float score;
  int32_t index;
  int32_t compared;  // with so many of the selected

  /// Comes after `other`.
  bool operator<(const Candidate& other) const { return score < other.score || (score == other.score && index > other.index); }
};

class Selection {
 public:
  Selection(const float* corners, float threshold, Tensor candidates, Tensor selected, const Workers& workers)
      : corners_(corners), threshold_(threshold), memory_(std::move(candidates)), selected_(std::move(selected)), stop_(workers) {}

  /// Those that have a score.
  void Fill(std::span<const float> ranks) {
    heap_ = static_cast<Candidate*>(memory_.data());
    for (size_t i = 0; i < ranks.size() && !stop_(); ++i) {
      if (ranks[i] > std::numeric_limits<float>::lowest()) heap_[left_++] = {ranks[i], static_cast<int32_t>(i), 0};
    }
    for (int64_t i = 1; i <= left_ && !stop_(8); ++i) std::push_heap(heap_, heap_ + i);
  }
  void Select(int64_t most) {
    while (count_ < most && left_ > 0 && !stop_(64)) {
      std::pop_heap(heap_, heap_ + left_);
      Candidate next = heap_[--left_];
      if (Suppressed(next)) continue;
      selected_.values<int32_t>()[static_cast<size_t>(count_++)] = next.index;
    }
  }
  int64_t count() const { return count_; }
  std::span<const int32_t> selected() const { return selected_.values<int32_t>().first(static_cast<size_t>(count_)); }

 private:
  bool Suppressed(Candidate& next) {
    const Box box(corners_ + 4 * static_cast<int64_t>(next.index));
    bool unknown = false;
    for (int64_t i = count_ - 1; i >= next.compared; --i) {
      if (stop_(16)) return true;
      const float overlap = Overlap(box, Box(corners_ + 4 * static_cast<int64_t>(selected()[static_cast<size_t>(i)])));
      if (overlap > threshold_) return true;
      unknown |= std::isnan(overlap);
    }
    if (!unknown || next.score == 0) return false;
    heap_[left_++] = {0, next.index, static_cast<int32_t>(count_)};
    std::push_heap(heap_, heap_ + left_);
    return true;
  }

  const float* const corners_;
  const float threshold_;
  Tensor memory_, selected_;
  kernels::StopCheck stop_;
  Candidate* heap_ = nullptr;
  int64_t left_ = 0, count_ = 0;
};

constexpr auto Run = [](const float& threshold, ProduceContext& ctx) -> Status {
  const auto ranks = ctx.in<float>(scores);
  const auto count = static_cast<int64_t>(ranks.size());
  const int32_t most = ctx.in<int32_t>(max_output_size)[0];
  if (most < 0) return ctx.Error(max_output_size, "needs 0 or more, found ", most);
  static_assert(sizeof(Candidate) == 3 * sizeof(int32_t));
  WEFT_ASSIGN_OR_RETURN(Tensor candidates, ctx.Allocate(DType::kInt32, Shape{count, 3}));
  WEFT_ASSIGN_OR_RETURN(Tensor found, ctx.Allocate(DType::kInt32, Shape{std::min<int64_t>(most, count)}));
  Selection selection(ctx.in<float>(boxes).data(), threshold, std::move(candidates), std::move(found), ctx.workers());
  selection.Fill(ranks);
  selection.Select(most);
  if (ctx.cancelled()) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(Tensor selected, ctx.Allocate(DType::kInt32, Shape{selection.count()}));
  std::ranges::copy(selection.selected(), selected.values<int32_t>().begin());
  return Emitted(ctx, selected_indices, std::move(selected));
};

}  // namespace

BlockDef NonMaxSuppression() {
  return Block("NonMaxSuppression", "Selects boxes by their scores, leaving out those that overlap a better one.")
      .Details("Of equal scores the first box is better. Corners may come in any order.")
      .Ports(boxes, scores, max_output_size, selected_indices)
      .Attrs(iou_threshold)
      .NotDifferentiable()
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
