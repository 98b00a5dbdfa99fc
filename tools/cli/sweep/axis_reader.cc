// Reads the values of axes: lists, ranges and draws.
#include <cmath>

#include "tools/cli/sweep/grid_json.h"

namespace weft::cli {
namespace {

using Kind = JsonValue::Kind;
using Draws = RandomDraws::Kind;

void ReadListed(GridJson& json, const Placed& at, Axis& axis) {
  ListedValues listed;
  if (!json.ReadValues(at, listed.values)) return;
  axis.count = static_cast<int64_t>(listed.values.size());
  axis.values = std::move(listed);
}

/// The ends of a range.
bool ReadEnds(GridJson& json, const Placed& at, double& from, double& to) {
  if (!at.Has("from") || !at.Has("to")) {
    json.Fault(at, InvalidArgument("a range needs 'from' and 'to'").WithHint("{\"from\": 0, \"to\": 1, \"step\": 0.1}"));
    return false;
  }
  return json.ReadNumber(at.Of("from"), from) && json.ReadNumber(at.Of("to"), to);
}

void ReadCounted(GridJson& json, const Placed& at, double low, double high, Axis& axis) {
  int64_t count = 1;
  if (!json.ReadCount(at, count)) return;
  const double step = count > 1 ? (high - low) / static_cast<double>(count - 1) : 0;
  if (!std::isfinite(step)) return json.Fault(at, OutOfRange("the range is wider than numbers can tell"));
  axis.count = count;
  axis.values = LinearRange{low, step};
}

void ReadStepped(GridJson& json, const Placed& at, double low, double high, Axis& axis) {
  double step = 0;
  if (!json.ReadNumber(at.Of("step"), step)) return;
  const double steps = std::floor((high - low) / step + 1e-9);  // the last one may miss the end by its rounding
  if (step == 0 || !(steps >= 0)) return json.Fault(at, InvalidArgument("a step of ", step, " does not lead from ", low, " to ", high));
  if (steps >= static_cast<double>(kMostPoints)) {
    return json.Fault(at,
                      ResourceExhausted("the range has more than ", kMostPoints, " values: a step of ", step, " from ", low, " to ", high));
  }
  axis.count = static_cast<int64_t>(steps) + 1;
  constexpr double kExact = 9e15;
  IntegerRange integers;
  const bool exact = at.Of("from").value.Integer(integers.from) && at.Of("step").value.Integer(integers.step) && std::abs(low) < kExact &&
                     std::abs(high) < kExact;
  if (exact) axis.values = integers;
  else axis.values = LinearRange{low, step};
}

void ReadRange(GridJson& json, const Placed& at, Axis& axis) {
  json.CheckKeys(at, {"from", "to", "step", "count"});
  double low = 0, high = 0;
  if (!ReadEnds(json, at, low, high)) return;
  if (at.Has("step") == at.Has("count")) {
    return json.Fault(at, InvalidArgument("a range needs either 'step' or 'count'").WithHint("{\"from\": 0, \"to\": 1, \"step\": 0.1}"));
  }
  if (at.Has("count")) ReadCounted(json, at, low, high, axis);
  else ReadStepped(json, at, low, high, axis);
}

void ReadLogRange(GridJson& json, const Placed& at, Axis& axis) {
  json.CheckKeys(at, {"from", "to", "count"});
  LogRange range;
  if (!ReadEnds(json, at, range.from, range.to)) return;
  if (!(range.from > 0 && range.to > 0)) {
    return json.Fault(at, InvalidArgument("a log_range needs ends above 0, found ", range.from, " and ", range.to));
  }
  if (!json.ReadCount(at, range.count)) return;
  axis.count = range.count;
  axis.values = range;
}

/// The two numbers of a distribution.
bool ReadPair(GridJson& json, const Placed& at, RandomDraws& draws) {
  if (!json.Needs(at, Kind::kArray, "a list of two numbers")) return false;
  const std::vector<JsonValue>& items = at.value.items;
  std::string needed;
  if (items.size() != 2) {
    needed = Cat("two numbers, found ", items.size());
  } else if (draws.kind == Draws::kInteger) {
    if (!items[0].Integer(draws.least) || !items[1].Integer(draws.most) || draws.least > draws.most) {
      needed = "two integers, the lesser one first";
    }
  } else {
    if (!json.ReadNumber(at.At(0), draws.low) || !json.ReadNumber(at.At(1), draws.high)) return false;
    const bool ordered = draws.low <= draws.high && std::isfinite(draws.high - draws.low);
    if (draws.kind == Draws::kNormal && !(draws.high >= 0)) needed = "a mean and a standard deviation of 0 or more";
    if (draws.kind == Draws::kUniform && !ordered) needed = "two numbers, the lesser one first";
    if (draws.kind == Draws::kLogUniform && !(ordered && draws.low > 0)) needed = "two numbers above 0, the lesser one first";
  }
  if (!needed.empty()) json.Fault(at, InvalidArgument("needs ", needed));
  return needed.empty();
}

void ReadRandom(GridJson& json, const Placed& at, uint64_t seed, Axis& axis) {
  constexpr std::pair<std::string_view, Draws> kKinds[] = {{"uniform", Draws::kUniform},
                                                           {"log_uniform", Draws::kLogUniform},
                                                           {"normal", Draws::kNormal},
                                                           {"integer", Draws::kInteger},
                                                           {"choice", Draws::kChoice}};
  json.CheckKeys(at, {"uniform", "log_uniform", "normal", "integer", "choice", "count", "seed"});
  RandomDraws draws;
  draws.seed = seed;
  draws.stream = StreamOf(axis.name);
  int64_t count = 1;
  int given = 0;
  bool good = json.ReadSeed(at, draws.seed);
  good &= json.ReadCount(at, count);
  for (const auto& [key, kind] : kKinds) {
    if (!at.Has(key)) continue;
    draws.kind = kind;
    if (++given > 1) return json.Fault(at.Of(key), InvalidArgument("draws have one distribution, found a second: '", key, "'"));
    good &= kind == Draws::kChoice ? json.ReadValues(at.Of(key), draws.choices) : ReadPair(json, at.Of(key), draws);
  }
  if (given == 0) {
    return json.Fault(at, InvalidArgument("draws need a distribution: 'uniform', 'log_uniform', 'normal', 'integer' or 'choice'"));
  }
  if (!good) return;
  axis.count = count;
  axis.values = std::move(draws);
}

}  // namespace

void ReadAxisValues(GridJson& json, const Placed& at, uint64_t seed, Axis& axis) {
  axis.count = 1;  // also of values with a fault, so that those of others are told right
  axis.values = ListedValues{{ParameterValue()}};
  std::string given;
  for (const char* form : {"values", "range", "log_range", "random"}) {
    if (!at.Has(form)) continue;
    const Placed values = at.Of(form);
    if (!given.empty()) return json.Fault(values, InvalidArgument("an axis has one kind of values, found '", given, "' and '", form, "'"));
    given = form;
    if (given == "values") ReadListed(json, values, axis);
    else if (!json.Needs(values, Kind::kObject, "an object")) continue;
    else if (given == "range") ReadRange(json, values, axis);
    else if (given == "log_range") ReadLogRange(json, values, axis);
    else ReadRandom(json, values, seed, axis);
  }
  if (given.empty()) json.Fault(at, InvalidArgument("an axis needs 'values', 'range', 'log_range' or 'random'"));
}

}  // namespace weft::cli
