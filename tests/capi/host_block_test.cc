// Blocks of the host whose outputs have shapes that only the run knows, and their gradients.
#include <cstring>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

struct BlockHost {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  void Add(const weft_block& block) { C_OK(problems, weft_runtime_add_block(runtime, &block, problems.out())); }
};

weft_block OneToOne(const char* name) {
  weft_block block = WEFT_BLOCK_INIT;
  block.name = name;
  block.summary = "For a test.";
  block.inputs = kX;
  block.input_count = 1;
  block.outputs = kY;
  block.output_count = 1;
  block.plan = [](void*, const weft_plan_call* call, void**) { return call->set_shape(call, 0, call->inputs[0].rank, call->inputs[0].shape); };
  block.run = [](void*, void*, const weft_run_call* call) -> int32_t {
    std::memcpy(call->outputs[0].data, call->inputs[0].data, static_cast<size_t>(call->inputs[0].count) * sizeof(float));
    return WEFT_OK;
  };
  return block;
}

// ---- Words: cuts texts into letters: their list, and how many there are of each text -----------------------------------------------------

const weft_port kWordsIn[] = {{"texts", "DT_STRING", WEFT_SINGLE, nullptr, "[n]"}};
const weft_port kWordsOut[] = {{"letters", "DT_STRING", WEFT_SINGLE, nullptr, "[m]"}, {"sizes", "DT_INT64", WEFT_SINGLE, nullptr, "[n]"}};

int32_t PlanWords(void*, const weft_plan_call* call, void**) {
  const int64_t unknown = -1;
  (void)call->set_scratch(call, 128);
  const int32_t code = call->set_unknown(call, 0, 1, &unknown);
  return code != WEFT_OK ? code : call->set_shape(call, 1, 1, call->inputs[0].shape);
}

int32_t RunWords(void*, void*, const weft_run_call* call) {
  if (call->scratch_bytes != 128 || reinterpret_cast<uintptr_t>(call->scratch) % 64 != 0) return WEFT_INTERNAL;
  if (call->outputs[0].shape != nullptr || call->outputs[1].count != call->inputs[0].count || call->cancelled(call) != 0) return WEFT_INTERNAL;
  std::string all;
  auto* sizes = static_cast<int64_t*>(call->outputs[1].data);
  for (int64_t i = 0; i < call->inputs[0].count; ++i) {
    const char* data = nullptr;
    size_t bytes = 0;
    if (int32_t code = call->get_string(call, 0, i, &data, &bytes); code != WEFT_OK) return code;
    all.append(data, bytes);
    sizes[i] = static_cast<int64_t>(bytes);
  }
  const auto count = static_cast<int64_t>(all.size());
  if (int32_t code = call->set_output(call, 0, 1, &count, nullptr); code != WEFT_OK) return code;
  if (call->outputs[0].count != count) return WEFT_INTERNAL;
  struct Work {
    const weft_run_call* call;
    const std::string* all;
  } work = {call, &all};
  call->parallel(
      call, count,
      [](void* user, int64_t i) {
        const Work& w = *static_cast<Work*>(user);
        (void)w.call->set_string(w.call, 0, i, w.all->data() + i, 1);
      },
      &work);
  return WEFT_OK;
}

}  // namespace

TEST_CASE("C: a host's block tells the shape of its output while it runs, for strings and beside known shapes", "[capi][blocks]") {
  weft_block block = WEFT_BLOCK_INIT;
  block.name = "Letters";
  block.summary = "Cuts texts.";
  block.inputs = kWordsIn;
  block.input_count = 1;
  block.outputs = kWordsOut;
  block.output_count = 2;
  block.plan = PlanWords;
  block.run = RunWords;
  BlockHost host;
  host.Add(block);
  OwnedPage page = LoadPage(host.runtime, {Block("l", "Letters", {{"texts", R"({"dtype": "DT_STRING", "shape": [2], "values": ["ab", "c"]})"}}),
                                           Block("n", "Size", {{"input", "l.letters"}})});
  OwnedSession session = OpenSession(page);
  for (int i = 0; i < 2; ++i) C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  OwnedView letters = ViewOf(session, "l.letters"), sizes = ViewOf(session, "l.sizes"), size = ViewOf(session, "n.output");
  REQUIRE(InfoOf(letters).count == 3);
  weft_bytes bytes;
  REQUIRE(weft_view_string(letters, 2, &bytes) == WEFT_OK);
  CHECK(std::string(bytes.data, bytes.size) == "c");
  CHECK(static_cast<const int64_t*>(InfoOf(sizes).data)[0] == 2);
  CHECK(*static_cast<const int32_t*>(InfoOf(size).data) == 3);
}

TEST_CASE("C: of what a plan says of an output's shape the last counts", "[capi][blocks]") {
  weft_block known = OneToOne("Known"), told = OneToOne("Told");
  known.plan = [](void*, const weft_plan_call* c, void**) {
    if (int32_t code = c->set_unknown(c, 0, -1, nullptr); code != WEFT_OK) return code;
    return c->set_shape(c, 0, c->inputs[0].rank, c->inputs[0].shape);
  };
  told.plan = [](void*, const weft_plan_call* c, void**) {
    if (int32_t code = c->set_shape(c, 0, 0, nullptr); code != WEFT_OK) return code;
    return c->set_unknown(c, 0, -1, nullptr);
  };
  told.run = [](void*, void*, const weft_run_call* c) -> int32_t {
    void* data = nullptr;
    const int32_t code = c->set_output(c, 0, 1, c->inputs[0].shape, &data);
    if (code == WEFT_OK) std::memcpy(data, c->inputs[0].data, static_cast<size_t>(c->inputs[0].count) * sizeof(float));
    return code;
  };
  BlockHost host;
  host.Add(known);
  host.Add(told);
  OwnedPage page = LoadPage(host.runtime, {Block("k", "Known", {{"x", Vector({1, 2})}}), Block("t", "Told", {{"x", "k.y"}})});
  OwnedSession session = OpenSession(page);
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  CHECK(FloatsOf(session, "k.y") == std::vector<float>{1, 2});
  CHECK(FloatsOf(session, "t.y") == std::vector<float>{1, 2});
}

TEST_CASE("C: what a block does wrong with a shape of the run is told", "[capi][blocks]") {
  using Plan = int32_t (*)(void*, const weft_plan_call*, void**);
  using Run = int32_t (*)(void*, void*, const weft_run_call*);
  const Plan unknown = [](void*, const weft_plan_call* c, void**) { return c->set_unknown(c, 0, -1, nullptr); };
  const Plan pair = [](void*, const weft_plan_call* c, void**) {
    const int64_t two[] = {-1, 2};
    return c->set_unknown(c, 0, 2, two);
  };
  const Run fine = [](void*, void*, const weft_run_call*) -> int32_t { return WEFT_OK; };
  struct Behaviour {
    Plan plan;
    Run run;
    weft_status loads, runs;
    uint32_t flags = 0;
  };
  const Behaviour kBehaviours[] = {
      {[](void*, const weft_plan_call* c, void**) { return c->set_unknown(c, 3, 0, nullptr); }, fine, WEFT_INTERNAL, WEFT_OK},
      {[](void*, const weft_plan_call* c, void**) { return c->set_unknown(c, 0, -2, nullptr); }, fine, WEFT_INVALID_ARGUMENT, WEFT_OK},
      {[](void*, const weft_plan_call* c, void**) { return c->set_unknown(c, 0, 1, nullptr); }, fine, WEFT_INVALID_ARGUMENT, WEFT_OK},
      {unknown, fine, WEFT_INTERNAL, WEFT_OK, WEFT_BLOCK_ELEMENTWISE},
      {unknown, fine, WEFT_OK, WEFT_INTERNAL},  // no set_output
      {unknown, [](void*, void*, const weft_run_call* c) { return c->set_output(c, 0, 1, nullptr, nullptr); }, WEFT_OK, WEFT_INVALID_ARGUMENT},
      {unknown, [](void*, void*, const weft_run_call* c) { return c->set_output(c, 0, 255, nullptr, nullptr); }, WEFT_OK, WEFT_INVALID_ARGUMENT},
      {unknown, [](void*, void*, const weft_run_call* c) { return c->set_output(c, 1, 0, nullptr, nullptr); }, WEFT_OK, WEFT_INTERNAL},
      {unknown,
       [](void*, void*, const weft_run_call* c) {
         const int64_t huge = int64_t{1} << 61;
         return c->set_output(c, 0, 1, &huge, nullptr);
       },
       WEFT_OK, WEFT_RESOURCE_EXHAUSTED},
      {unknown,
       [](void*, void*, const weft_run_call* c) {
         (void)c->set_output(c, 0, 0, nullptr, nullptr);
         return c->set_output(c, 0, 0, nullptr, nullptr);
       },
       WEFT_OK, WEFT_INTERNAL},
      {pair,
       [](void*, void*, const weft_run_call* c) {
         const int64_t three[] = {1, 3};
         return c->set_output(c, 0, 2, three, nullptr);
       },
       WEFT_OK, WEFT_INTERNAL},
      {[](void*, const weft_plan_call* c, void**) { return c->set_shape(c, 0, 0, nullptr); },
       [](void*, void*, const weft_run_call* c) { return c->set_output(c, 0, 0, nullptr, nullptr); }, WEFT_OK, WEFT_INTERNAL},
  };
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    INFO("behaviour " << i);
    weft_block block = OneToOne("Odd");
    block.plan = kBehaviours[i].plan;
    block.run = kBehaviours[i].run;
    block.flags = kBehaviours[i].flags;
    BlockHost host;
    host.Add(block);
    OwnedPage page;
    std::string text = PageText({Block("odd", "Odd", {{"x", Scalar(1)}})});
    CHECK(weft_page_load(host.runtime, text.data(), text.size(), nullptr, page.out(), host.problems.out()) == kBehaviours[i].loads);
    if (page != nullptr) {
      OwnedSession session = OpenSession(page);
      CHECK(weft_session_run(session, nullptr, host.problems.out()) == kBehaviours[i].runs);
    }
    CHECK(host.problems.at(0).block == std::string("odd"));
  }
}

// ---- gradients -------------------------------------------------------------------------------------------------------------------------

namespace {

/// loss = sum(block(x)^2) / 2 at x = [1, -2], and its gradient.
std::vector<std::string> GradientPage(const char* block) {
  return {Block("x", "Const", {{"value", Vector({1, -2})}}), Block("b", block, {{"x", "x.output"}}), Block("loss", "L2Loss", {{"t", "b.y"}}),
          Block("grad", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"x.output\"]"}})};
}

/// dx = 3 * dy, by a constant, a product and a shape that is looked at.
int32_t ThriceGradient(void* user, const weft_gradient_call* call) {
  if (user != nullptr) ++*static_cast<int*>(user);
  if (call->input_count != 1 || call->output_count != 1 || call->wanted[0] == 0 || call->input_dtypes[0] != WEFT_FLOAT) return WEFT_INTERNAL;
  if (call->input_first[1] != 1 || call->output_first[1] != 1 || call->output_dtypes[0] != WEFT_FLOAT) return WEFT_INTERNAL;
  weft_buffer three = WEFT_BUFFER_INIT;
  float value = 3;
  three.dtype = WEFT_FLOAT;
  three.data = &value;
  three.bytes = sizeof value;
  const int64_t factor = call->constant(call, &three), one = call->scalar(call, call->inputs[0], 1);
  const weft_gradient_input product[] = {{"x", &call->gradients[0], 1}, {"y", &factor, 1}};
  const int64_t scaled = call->add(call, "Multiply", "", product, 2);
  const int64_t both[] = {scaled, one};
  const weft_gradient_input list[] = {{"input", both, 1}};
  const int64_t split = call->add(call, "Identity", nullptr, list, 1);
  return call->set(call, 0, call->output(call, split, 0));
}

}  // namespace

TEST_CASE("C: a gradient passes through a host's block", "[capi][blocks]") {
  int calls = 0;
  weft_block block = OneToOne("Thrice");
  block.gradient = ThriceGradient;
  block.user = &calls;
  BlockHost host;
  host.Add(block);
  OwnedStrings json;
  C_OK(host.problems, weft_block_json(host.runtime, "Thrice", json.out(), host.problems.out()));
  const char* text = nullptr;
  REQUIRE(weft_strings_get(json, 0, &text, nullptr) == WEFT_OK);
  CHECK(std::string(text).find("\"gradient\":\"yes\"") != std::string::npos);
  OwnedPage page = LoadPage(host.runtime, GradientPage("Thrice"));
  OwnedSession session = OpenSession(page, {"grad.grad_outputs[0]"});
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  CHECK(FloatsOf(session, "grad.grad_outputs[0]") == std::vector<float>{3, -6});
  CHECK(calls > 0);
}

TEST_CASE("C: gradients that cannot be are refused, with the block and the reason as the cause", "[capi][blocks]") {
  struct Behaviour {
    weft_gradient_function gradient;
    weft_status code;
    const char* says;
  };
  const Behaviour kBehaviours[] = {
      {[](void*, const weft_gradient_call* c) { return c->fail(c, WEFT_UNSUPPORTED, "not at this rank", "use rank 1"); }, WEFT_UNSUPPORTED, "not at this rank"},
      {[](void*, const weft_gradient_call*) -> int32_t { return WEFT_ABORTED; }, WEFT_ABORTED, "aborted"},
      {[](void*, const weft_gradient_call*) -> int32_t { return 77; }, WEFT_INTERNAL, "no status"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, c->add(c, "Nonsuch", "", nullptr, 0)); }, WEFT_NOT_FOUND, "Nonsuch"},
      {[](void*, const weft_gradient_call* c) -> int32_t { return c->add(c, nullptr, "", nullptr, 0), WEFT_OK; }, WEFT_INVALID_ARGUMENT, "block"},
      {[](void*, const weft_gradient_call* c) -> int32_t { return c->add(c, "Neg", "", nullptr, 1), WEFT_OK; }, WEFT_INVALID_ARGUMENT, "inputs"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 1, c->gradients[0]); }, WEFT_INVALID_ARGUMENT, "index"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, 1000); }, WEFT_INVALID_ARGUMENT, "a value"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, c->output(c, c->inputs[0], 1)); }, WEFT_OUT_OF_RANGE, "output 1"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, c->scalar(c, 0, 1)); }, WEFT_INVALID_ARGUMENT, "scalar"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, c->constant(c, nullptr)); }, WEFT_INVALID_ARGUMENT, "value"},
      {[](void*, const weft_gradient_call* c) {
         const int64_t strange = -7;
         const weft_gradient_input x = {"x", &strange, 1};
         return c->set(c, 0, c->add(c, "Neg", "", &x, 1));
       },
       WEFT_INVALID_ARGUMENT, "no value"},
      {[](void*, const weft_gradient_call* c) {
         const weft_gradient_input x = {"x", c->gradients, 1};
         return c->set(c, 0, c->add(c, "Neg", "wrong_ = 1;", &x, 1));
       },
       WEFT_NOT_FOUND, "wrong"},
      {[](void*, const weft_gradient_call* c) {
         const weft_gradient_input x = {"z", c->gradients, 1};
         return c->set(c, 0, c->add(c, "Neg", "", &x, 1));
       },
       WEFT_INTERNAL, "'z'"},
      {[](void*, const weft_gradient_call* c) {
         const int64_t both[] = {c->gradients[0], c->inputs[0]};
         const weft_gradient_input x = {"x", both, 2};
         return c->set(c, 0, c->add(c, "Neg", "", &x, 1));
       },
       WEFT_INVALID_ARGUMENT, "takes one"},
      {[](void*, const weft_gradient_call* c) {
         const weft_gradient_input twice[] = {{"x", c->gradients, 1}, {"x", c->inputs, 1}};
         return c->set(c, 0, c->add(c, "Neg", "", twice, 2));
       },
       WEFT_INVALID_ARGUMENT, "twice"},
      {[](void*, const weft_gradient_call* c) { return c->set(c, 0, c->add(c, "ClientSession", "", nullptr, 0)); }, WEFT_UNSUPPORTED, "only pages"},
  };
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    INFO("behaviour " << i);
    weft_block block = OneToOne("Odd");
    block.gradient = kBehaviours[i].gradient;
    BlockHost host;
    host.Add(block);
    OwnedPage page;
    const std::string text = PageText(GradientPage("Odd"));
    CHECK(weft_page_load(host.runtime, text.data(), text.size(), nullptr, page.out(), host.problems.out()) == kBehaviours[i].code);
    INFO(host.problems.text());
    const weft_diagnostic first = host.problems.at(0);
    CHECK(first.block == std::string("grad"));
    CHECK(std::string(first.message).find(kBehaviours[i].says) != std::string::npos);
    CHECK(first.phase == WEFT_PHASE_CONNECT);
    REQUIRE(first.causes == 1);
    CHECK(host.problems.at(1).severity == WEFT_NOTE);
    CHECK(host.problems.at(1).block == std::string("b"));
  }
}

TEST_CASE("C: a gradient of another type than its input is refused, with block, port, and both types", "[capi][blocks]") {
  weft_block block = OneToOne("Odd");
  block.gradient = [](void*, const weft_gradient_call* c) -> int32_t {
    const weft_gradient_input x = {"x", c->gradients, 1};
    (void)c->set(c, 0, c->add(c, "Cast", "DstT_ = DT_DOUBLE;", &x, 1));
    return WEFT_OK;  // the refusal counts all the same
  };
  BlockHost host;
  host.Add(block);
  OwnedPage page;
  const std::string text = PageText(GradientPage("Odd"));
  CHECK(weft_page_load(host.runtime, text.data(), text.size(), nullptr, page.out(), host.problems.out()) == WEFT_INVALID_ARGUMENT);
  INFO(host.problems.text());
  REQUIRE(host.problems.at(0).causes == 1);
  const weft_diagnostic cause = host.problems.at(1);
  CHECK(cause.block == std::string("b"));
  CHECK(cause.port == std::string("x"));
  CHECK(cause.needed == std::string("DT_FLOAT"));
  CHECK(cause.found == std::string("DT_DOUBLE"));
  CHECK(std::string(cause.message).find("needs DT_FLOAT") != std::string::npos);
}

TEST_CASE("C: constants of a host's gradient count in the page's memory limit", "[capi][blocks]") {
  weft_block block = OneToOne("Large");
  block.gradient = [](void*, const weft_gradient_call* c) {
    static const std::vector<float> kValues(2 << 20, 1.0f);
    const auto count = static_cast<int64_t>(kValues.size());
    weft_buffer large = WEFT_BUFFER_INIT;
    large.dtype = WEFT_FLOAT;
    large.rank = 1;
    large.shape = &count;
    large.data = const_cast<float*>(kValues.data());
    large.bytes = count * static_cast<int64_t>(sizeof(float));
    return c->set(c, 0, c->constant(c, &large));
  };
  BlockHost host;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.page_memory_limit = 4 << 20;
  host.runtime = OwnedRuntime();
  C_OK(host.problems, weft_runtime_open(&options, host.runtime.out(), host.problems.out()));
  host.Add(block);
  OwnedPage page;
  const std::string text = PageText(GradientPage("Large"));
  CHECK(weft_page_load(host.runtime, text.data(), text.size(), nullptr, page.out(), host.problems.out()) == WEFT_RESOURCE_EXHAUSTED);
  INFO(host.problems.text());
  REQUIRE(host.problems.at(0).causes == 1);
  CHECK(host.problems.at(1).block == std::string("b"));
}

TEST_CASE("C: flags of gradients, and blocks that palettes do not show", "[capi][blocks]") {
  BlockHost host;
  weft_block both = OneToOne("Both");
  both.gradient = ThriceGradient;
  both.flags = WEFT_BLOCK_NOT_DIFFERENTIABLE;
  CHECK(weft_runtime_add_block(host.runtime, &both, host.problems.out()) == WEFT_INVALID_ARGUMENT);
  weft_block hidden = OneToOne("Hidden");
  hidden.flags = WEFT_BLOCK_INTERNAL | WEFT_BLOCK_NOT_DIFFERENTIABLE;
  host.Add(hidden);
  OwnedStrings json;
  C_OK(host.problems, weft_block_json(host.runtime, "Hidden", json.out(), host.problems.out()));
  const char* text = nullptr;
  REQUIRE(weft_strings_get(json, 0, &text, nullptr) == WEFT_OK);
  CHECK(std::string(text).find("\"internal\":true") != std::string::npos);
  // Gradients stop there: nothing depends on x any more.
  OwnedPage page = LoadPage(host.runtime, GradientPage("Hidden"));
}
