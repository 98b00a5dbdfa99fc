#include "runtime/plan/refusals.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/plan/partial_shapes.h"
#include "runtime/plan/trial_inputs.h"

namespace weft {
namespace {

constexpr int kMostRank = 6;
constexpr int64_t kLarge = 64;
constexpr size_t kMostTrials = 1000;

/// An input value that is refused, and shapes for which it is not.
struct OpenInput {
  uint32_t value;
  std::vector<Shape> shapes;
};

class RefusalFinder {
 public:
  RefusalFinder(const Node& node, std::span<const InputInfo> inputs) : node_(node), inputs_(node, inputs) {
    std::vector<PartialInput> known;
    for (const InputInfo& info : inputs) known.push_back({info, info.shape == nullptr ? PartialShape() : PartialShape(*info.shape)});
    sizes_ = NamedSizes(node, known);
    knows_sizes_ = !sizes_.empty();
    sizes_.insert(sizes_.end(), {1, 2, 3, 7, kLarge});
    std::ranges::sort(sizes_);
    sizes_.erase(std::ranges::unique(sizes_).begin(), sizes_.end());
  }

  /// The value that a fault is of; -1 where it is of no one value, or one that shapes outputs: of what elements would another shape be?
  int ValueOf(const Status& fault) const;
  std::vector<ShapeRefusal> All(Status refused);

 private:
  Status Try() {
    ++trials_;
    PlannedShapes shapes;
    return inputs_.Plan(shapes);
  }
  bool Takes(uint32_t value, std::vector<int64_t> dims, std::vector<Shape>& taken);
  std::vector<Shape> ShapesTaken(uint32_t value);
  bool Narrow(size_t open, Status& common);

  const Node& node_;
  TrialInputs inputs_;
  std::vector<int64_t> sizes_;
  std::vector<OpenInput> open_;
  size_t trials_ = 0;
  bool knows_sizes_ = false;  // what another input depends on is among the sizes that are tried
  bool passed_ = false;  // some of the shapes leave no fault
};

int RefusalFinder::ValueOf(const Status& fault) const {
  const std::string_view place = fault.place().port;
  const size_t bracket = place.find('[');
  const int port = node_.def->FindInput(place.substr(0, bracket));
  if (port < 0 || std::ranges::find(node_.def->shaped_by, port) != node_.def->shaped_by.end()) return -1;
  const uint32_t first = node_.in_first[static_cast<size_t>(port)], count = node_.in_first[static_cast<size_t>(port) + 1] - first;
  uint32_t index = 0;
  if (bracket != place.npos) std::from_chars(place.data() + bracket + 1, place.data() + place.size(), index);
  else if (count != 1) return -1;
  return index < count && inputs_.infos()[first + index].shape != nullptr ? static_cast<int>(first + index) : -1;
}

// Whether the value is not refused in this shape, which then is among `taken`.
bool RefusalFinder::Takes(uint32_t value, std::vector<int64_t> dims, std::vector<Shape>& taken) {
  auto shape = Shape::Make(std::move(dims));
  if (!shape.ok()) return false;
  inputs_.Set(value, *shape);
  const Status status = Try();
  passed_ |= status.ok();
  if (!status.ok() && std::cmp_equal(ValueOf(status), value)) return false;
  taken.push_back(std::move(*shape));
  return true;
}

std::vector<Shape> RefusalFinder::ShapesTaken(uint32_t value) {
  std::vector<Shape> taken;
  std::vector<size_t> ranks;
  for (size_t rank = 0; rank <= kMostRank; ++rank) {
    bool takes = false;
    for (size_t s = 0; s < (rank == 0 ? 1 : sizes_.size()) && !(takes && passed_); ++s) takes |= Takes(value, std::vector<int64_t>(rank, sizes_[s]), taken);
    if (takes) ranks.push_back(rank);
  }
  // What another input depends on may be one size of several.
  for (size_t rank : ranks) {
    for (size_t axis = 0; axis < rank && rank > 1; ++axis) {
      for (size_t s = 0; s < sizes_.size() && !passed_; ++s) {
        std::vector<int64_t> dims(rank, kLarge);
        dims[axis] = sizes_[s];
        Takes(value, std::move(dims), taken);
      }
    }
  }
  inputs_.Reset(value);
  return taken;
}

/// The ranks of shapes, as a shape; empty where it is not the rank that is at fault, or too many are possible.
std::string RanksText(const std::vector<Shape>& taken, int found) {
  std::set<int> ranks;
  for (const Shape& shape : taken) ranks.insert(shape.rank());
  if (ranks.empty() || ranks.contains(found) || found > kMostRank) return "";
  const auto unknown = [](int rank) { return ToString(*PartialShape::Make(std::vector<int64_t>(static_cast<size_t>(rank), -1))); };
  if (const int least = *ranks.begin(); least + static_cast<int>(ranks.size()) == kMostRank + 1 && ranks.size() > 1) {
    std::string text = unknown(least);
    text.insert(text.size() - 1, ",...");
    return text;
  }
  constexpr size_t kMost = 3;
  std::string text;
  for (int rank : ranks) text += Cat(text.empty() ? "" : "|", unknown(rank));
  return ranks.size() <= kMost ? text : "";
}

// Whether all shapes of the open values from `open` on meet the same refusal; the first one met is `common`.
bool RefusalFinder::Narrow(size_t open, Status& common) {
  const uint32_t value = open_[open].value;
  for (const Shape& shape : open_[open].shapes) {
    inputs_.Set(value, shape);
    if (open + 1 < open_.size()) {
      if (!Narrow(open + 1, common)) return false;
      continue;
    }
    const Status status = Try();
    if (status.ok() || trials_ > kMostTrials) return false;
    if (common.ok()) common = status;
    if (status.code() != common.code() || status.message() != common.message() || status.place().port != common.place().port) return false;
  }
  return true;
}

std::vector<ShapeRefusal> RefusalFinder::All(Status refused) {
  std::vector<ShapeRefusal> all;
  const auto is_open = [&](int value) {
    return std::ranges::any_of(open_, [&](const OpenInput& open) { return std::cmp_equal(open.value, value); });
  };
  for (;;) {
    const int value = ValueOf(refused);
    ShapeRefusal& told = all.emplace_back(ShapeRefusal{std::move(refused), ""});
    if (value < 0) return all;
    const auto at = static_cast<uint32_t>(value);
    const int rank = inputs_.infos()[at].shape->rank();
    std::vector<Shape> taken = ShapesTaken(at);
    told.shape = RanksText(taken, rank);
    if (passed_ || !knows_sizes_ || taken.empty()) return all;
    open_.push_back({at, std::move(taken)});
    refused = Status();
    if (!Narrow(0, refused) || refused.place().port.empty() || is_open(ValueOf(refused))) return all;
  }
}

}  // namespace

std::vector<ShapeRefusal> AllRefusals(const Node& node, std::span<const InputInfo> inputs, Status refused) {
  if (!IsNoMemory(refused)) return RefusalFinder(node, inputs).All(std::move(refused));
  std::vector<ShapeRefusal> all;
  all.push_back({std::move(refused), ""});
  return all;
}

std::string RanksNeeded(const Node& node, std::span<const PartialInput> inputs, const Status& refused) {
  std::vector<std::vector<int64_t>> dims;
  for (const PartialInput& input : inputs) std::ranges::replace(dims.emplace_back(input.shape.dims()), -1, 1);
  TrialInputs tried(node, inputs);
  if (!tried.Set(dims)) return "";
  PlannedShapes planned;
  Status status = tried.Plan(planned);
  if (status.ok() || status.place().port != refused.place().port) return "";
  return AllRefusals(node, tried.infos(), std::move(status)).front().shape;
}

}  // namespace weft
