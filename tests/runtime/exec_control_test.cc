// Dead values and the frames of loops, on the plans of pages, without kernels.
#include "runtime/exec/control.h"
#include "runtime/exec/loop_frames.h"
#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

/// Values of a planned page, which a test sets by hand.
struct SetValues {
  explicit SetValues(PlannedPage& of) : page(of), parts(of) { REQUIRE(parts.memory.Bind(set).ok()); }
  Value& operator[](const std::string& wire) { return set.values[page.Slot(wire)]; }
  void SetBool(const std::string& wire, bool value) { set.Own(page.Slot(wire), Tensor::Scalar<bool>(value)); }
  void SetDead(const std::vector<std::string>& wires, bool dead = true) {
    for (const std::string& wire : wires) (*this)[wire].dead = dead;
  }
  const Step& StepOf(const std::string& block) const { return page.plan().steps[page.StepOf(block)]; }

  PlannedPage& page;
  PlannedMemory parts;
  ResultSet set;
};

std::vector<std::string> TwoWays() {
  return {PlaceholderOf("x", "[2]"), Block("pred", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
          Block("way", "Switch", {{"data", "x.output"}, {"pred", "pred.output"}}), Next("no", "way.output_false"), Next("yes", "way.output_true"),
          Block("both", "Merge", {{"inputs", "[\"no.y\", \"yes.y\"]"}})};
}

TEST_CASE("A Switch hands its value on one way, and what lies on the other does not run", "[exec]") {
  PlannedPage page(TwoWays(), {"both.output"});
  SetValues values(page);
  values.set.Own(page.Slot("x.output"), Tensor::Of<float>({4, 5}));
  for (bool taken : {true, false}) {
    values.SetBool("pred.output", taken);
    values.SetDead({"way.output_false", "way.output_true"}, false);
    REQUIRE(RunSwitch(page.plan(), values.StepOf("way"), values.set).ok());
    CHECK(values["way.output_true"].dead == !taken);
    CHECK(values["way.output_false"].dead == taken);
    CHECK(FloatsOf(values[taken ? "way.output_true" : "way.output_false"]) == Floats{4, 5});
    CHECK(SkipDead(*page.planned, values.StepOf("yes"), values.set) == !taken);
    CHECK(SkipDead(*page.planned, values.StepOf("no"), values.set) == taken);
    CHECK(values["yes.y"].dead == !taken);
    CHECK_FALSE(SkipDead(*page.planned, values.StepOf("both"), values.set));
    Fill(values[taken ? "yes.y" : "no.y"], 9);
    REQUIRE(RunMerge(*page.planned, values.StepOf("both"), values.parts.memory, values.set).ok());
    CHECK(FloatsOf(values["both.output"]) == Floats{9, 9});
    CHECK(*static_cast<const int32_t*>(values["both.value_index"].data) == (taken ? 1 : 0));
  }
}

TEST_CASE("A Merge of dead values is dead itself", "[exec]") {
  PlannedPage page(TwoWays(), {"both.output"});
  SetValues values(page);
  values.SetDead({"no.y", "yes.y"});
  CHECK(SkipDead(*page.planned, values.StepOf("both"), values.set));
  CHECK(values["both.output"].dead);
}

TEST_CASE("A Switch needs a scalar", "[exec]") {
  PlannedPage page(TwoWays(), {"both.output"});
  SetValues values(page);
  values.set.Own(page.Slot("pred.output"), Tensor::Of<bool>({true, false}));
  const Status status = RunSwitch(page.plan(), values.StepOf("way"), values.set);
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().port == "pred");
}

/// while (the condition holds) value = ToyNext(value).
std::vector<std::string> OneLoop() {
  return {PlaceholderOf("x", "[2]"),
          Block("cond", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
          Block("c_in", "Enter", {{"data", "cond.output"}}, "frame_name_ = f;is_constant_ = true;"),
          Block("in", "Enter", {{"data", "x.output"}}, "frame_name_ = f;"),
          Block("m", "Merge", {{"inputs", "[\"in.output\", \"back.output\"]"}}),
          Block("c", "LoopCond", {{"input", "c_in.output"}}),
          Block("s", "Switch", {{"data", "m.output"}, {"pred", "c.output"}}),
          Next("body", "s.output_true"),
          Block("back", "NextIteration", {{"data", "body.y"}}),
          Block("out", "Exit", {{"data", "s.output_false"}})};
}

TEST_CASE("A loop goes back for as long as its condition holds; then its values are the last that each block computed", "[exec]") {
  PlannedPage page(OneLoop(), {"out.output"});
  REQUIRE(page.plan().loops.size() == 1);
  const Loop& loop = page.plan().loops[0];
  const auto first = static_cast<size_t>(loop.first), last = static_cast<size_t>(loop.last);
  SetValues values(page);
  LoopFrames frames(*page.planned);
  values.SetDead({"back.output"}, false);
  frames.Begin(values.set);
  if (first > 0) frames.Next(values.set, first - 1);
  CHECK(values["back.output"].dead);  // nothing comes from an iteration before the first
  CHECK_FALSE(frames.computed(page.Slot("body.y")));

  // The first iteration goes on.
  values.SetBool("c.output", true);
  values.SetDead({"in.output", "m.output", "s.output_true", "body.y", "back.output", "c.output"}, false);
  values.SetDead({"s.output_false", "out.output"});
  for (size_t step = first; step < last; ++step) CHECK(frames.Next(values.set, step) == step + 1);
  CHECK(frames.Next(values.set, last) == first);
  CHECK(values["in.output"].dead);  // entered in the first iteration
  CHECK_FALSE(values["c_in.output"].dead);
  CHECK(frames.computed(page.Slot("body.y")));

  // The second one ends it.
  values.SetBool("c.output", false);
  values.SetDead({"s.output_true", "body.y", "back.output"});
  values.SetDead({"s.output_false", "out.output", "m.output"}, false);
  for (size_t step = first; step < last; ++step) frames.Next(values.set, step);
  CHECK(frames.Next(values.set, last) == last + 1);
  CHECK_FALSE(values["body.y"].dead);
  CHECK_FALSE(values["out.output"].dead);
}

TEST_CASE("A loop whose next iteration gets no value ends", "[exec]") {
  PlannedPage page(OneLoop(), {"out.output"});
  const auto last = static_cast<size_t>(page.plan().loops[0].last);
  SetValues values(page);
  LoopFrames frames(*page.planned);
  frames.Begin(values.set);
  values.SetBool("c.output", true);
  values.SetDead({"back.output"});
  CHECK(frames.Next(values.set, last) == last + 1);
}

}  // namespace
}  // namespace weft::test
