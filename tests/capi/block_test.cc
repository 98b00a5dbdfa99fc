// Blocks of the host: declared, checked, planned and run as C functions.
#include <atomic>
#include <cstring>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

// ---- Twice: y = factor * x, of floats or doubles, element by element ------------------------------------------------------------------

std::atomic<int> plans_alive{0};

int32_t PlanTwice(void*, const weft_plan_call* call, void** parameters) {
  if (call->inputs[0].rank > 3) return call->fail(call, WEFT_INVALID_ARGUMENT, "x", "needs rank 3 or less", "reshape it");
  *parameters = new double(call->attrs[0].real);
  ++plans_alive;
  return call->set_shape(call, 0, call->inputs[0].rank, call->inputs[0].shape);
}

template <class T>
void Scale(const weft_run_call* call, double factor) {
  const T* x = static_cast<const T*>(call->inputs[0].data);
  T* y = static_cast<T*>(call->outputs[0].data);
  for (int64_t i = 0; i < call->inputs[0].count; ++i) y[i] = static_cast<T>(factor) * x[i];
}

int32_t RunTwice(void*, void* parameters, const weft_run_call* call) {
  double factor = *static_cast<double*>(parameters);
  if (call->inputs[0].dtype == WEFT_FLOAT) Scale<float>(call, factor);
  else Scale<double>(call, factor);
  return WEFT_OK;
}

const weft_port kTwiceIn[] = {{"x", "T", WEFT_SINGLE, nullptr, "any shape"}},
                kTwiceOut[] = {{"y", "T", WEFT_SINGLE, nullptr, "the shape of x"}};
const weft_attr kTwiceAttrs[] = {{"factor", "float", "2", nullptr, nullptr, "what x is multiplied by"}};
const int32_t kTwiceTypes[] = {WEFT_FLOAT, WEFT_DOUBLE};
const weft_type_attr kTwiceTypeAttrs[] = {{"T", kTwiceTypes, 2}};

weft_block Twice() {
  weft_block block = WEFT_BLOCK_INIT;
  block.name = "Twice";
  block.summary = "Multiplies by a factor.";
  block.inputs = kTwiceIn;
  block.input_count = 1;
  block.outputs = kTwiceOut;
  block.output_count = 1;
  block.attrs = kTwiceAttrs;
  block.attr_count = 1;
  block.types = kTwiceTypeAttrs;
  block.type_count = 1;
  block.plan = PlanTwice;
  block.run = RunTwice;
  block.flags = WEFT_BLOCK_ELEMENTWISE;
  block.free_parameters = [](void*, void* parameters) {
    delete static_cast<double*>(parameters);
    --plans_alive;
  };
  return block;
}

struct Host {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  void Add(const weft_block& block) { C_OK(problems, weft_runtime_add_block(runtime, &block, problems.out())); }
  weft_status Try(const weft_block& block) { return weft_runtime_add_block(runtime, &block, problems.out()); }
};

}  // namespace

TEST_CASE("C: a host's block runs like any other", "[capi][blocks]") {
  {
    Host host;
    host.Add(Twice());
    OwnedPage page = LoadPage(host.runtime, {Block("t", "Twice", {{"x", Vector({1, 2, 3})}}),
                                             Block("h", "Twice", {{"x", test::Literal("DT_DOUBLE", {2}, {1, 3})}}, "factor_ = 0.5;"),
                                             Block("a", "Add", {{"x", "t.y"}, {"y", Scalar(1)}})});
    OwnedSession session = OpenSession(page);
    C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
    CHECK(FloatsOf(session, "a.z") == std::vector<float>{3, 5, 7});
    OwnedView view = ViewOf(session, "h.y");
    CHECK(InfoOf(view).dtype == WEFT_DOUBLE);
    CHECK(static_cast<const double*>(InfoOf(view).data)[1] == 1.5);
    CHECK(plans_alive > 0);
  }
  CHECK(plans_alive == 0);
}

TEST_CASE("C: a host's block has checks, help and a place in palettes", "[capi][blocks]") {
  Host host;
  host.Add(Twice());
  OwnedStrings json;
  C_OK(host.problems, weft_block_json(host.runtime, "Twice", json.out(), host.problems.out()));
  const char* text = nullptr;
  REQUIRE(weft_strings_get(json, 0, &text, nullptr) == WEFT_OK);
  for (const char* part : {"\"category\":\"host\"", "Multiplies by a factor.", "what x is multiplied by", "any shape", "DT_DOUBLE"}) {
    std::string squeezed;
    for (const char* c = text; *c != '\0'; ++c) {
      if (*c != ' ' || (c > text && c[-1] != ':')) squeezed += *c;
    }
    INFO(squeezed);
    CHECK(squeezed.find(part) != std::string::npos);
  }
  struct Fault {
    std::string block;
    weft_status code;
    const char* port;
  };
  for (const Fault& fault :
       {Fault{Block("t", "Twice", {{"x", test::Ints({1})}}), WEFT_INVALID_ARGUMENT, "x"},
        Fault{Block("t", "Twice", {{"x", Scalar(1)}}, "factor_ = a;"), WEFT_INVALID_ARGUMENT, "factor"},
        Fault{Block("t", "Twice", {{"x", Scalar(1)}}, "faktor_ = 1;"), WEFT_NOT_FOUND, "faktor"},
        Fault{Block("t", "Twice", {{"xx", Scalar(1)}}), WEFT_NOT_FOUND, "xx"},
        Fault{Block("t", "Twize", {{"x", Scalar(1)}}), WEFT_NOT_FOUND, ""},
        Fault{Block("t", "Twice", {{"x", test::Literal("DT_FLOAT", {1, 1, 1, 1}, {1})}}), WEFT_INVALID_ARGUMENT, "x"}}) {
    OwnedPage page;
    std::string page_text = PageText({fault.block});
    INFO(page_text);
    CHECK(weft_page_load(host.runtime, page_text.data(), page_text.size(), nullptr, page.out(), host.problems.out()) == fault.code);
    CHECK(host.problems.at(0).block == std::string("t"));
    CHECK(host.problems.at(0).port == std::string(fault.port));
  }
  CHECK(host.problems.at(0).message == std::string("needs rank 3 or less"));
  CHECK(host.problems.at(0).hint == std::string("reshape it"));
}

TEST_CASE("C: large element-wise blocks of a host give the same when they are fused", "[capi][blocks]") {
  Host host;
  host.Add(Twice());
  OwnedPage page = LoadPage(
      host.runtime, {Block("x", "Fill", {{"dims", test::Ints({300, 301})}, {"value", Scalar(3)}}), Block("a", "Twice", {{"x", "x.output"}}),
                     Block("b", "Twice", {{"x", "a.y"}}, "factor_ = 5;"), Block("c", "Add", {{"x", "b.y"}, {"y", Scalar(1)}})});
  OwnedSession session;
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.keep_asked = 1;
  C_OK(host.problems, weft_session_open(page, &options, session.out(), host.problems.out()));
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  CHECK(FloatsOf(session, "c.z") == std::vector<float>(300 * 301, 31));
}

TEST_CASE("C: declarations that contradict themselves are refused", "[capi][blocks]") {
  Host host;
  auto refused = [&](auto change, weft_status status, const char* port = "") {
    weft_block block = Twice();
    change(block);
    CHECK(host.Try(block) == status);
    CHECK(host.problems.at(0).port == std::string(port));
  };
  static const weft_port kTwo[] = {{"x", "T", WEFT_SINGLE, nullptr, ""}, {"x", "T", WEFT_SINGLE, nullptr, ""}};
  static const weft_port kNoList[] = {{"x", "T", WEFT_LIST, nullptr, ""}}, kNoType[] = {{"x", nullptr, WEFT_SINGLE, nullptr, ""}},
                         kNoName[] = {{nullptr, "T", WEFT_SINGLE, nullptr, ""}}, kStrange[] = {{"x", "T", 9, nullptr, ""}};
  static const weft_attr kBadDefault[] = {{"factor", "float", "two", nullptr, nullptr, ""}},
                         kBadType[] = {{"factor", "number", "2", nullptr, nullptr, ""}},
                         kNotAllowed[] = {{"factor", "string", "a", "b|c", nullptr, ""}},
                         kTwins[] = {{"f", "int", "1", nullptr, nullptr, ""}, {"f", "int", "1", nullptr, nullptr, ""}};
  static const int32_t kUnknown[] = {99}, kFar[] = {1};
  static const weft_type_attr kBadTypes[] = {{"T", kUnknown, 1}}, kNoTypes[] = {{"T", nullptr, 0}};
  refused([](auto& b) { b.name = nullptr; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.summary = nullptr; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.plan = nullptr; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.run = nullptr; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.flags = 1024; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.inputs = nullptr; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.inputs = kTwo, b.input_count = 2; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.inputs = kNoList; }, WEFT_INVALID_ARGUMENT, "x");
  refused([](auto& b) { b.inputs = kNoType; }, WEFT_INVALID_ARGUMENT, "x");
  refused([](auto& b) { b.inputs = kNoName; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.inputs = kStrange; }, WEFT_INVALID_ARGUMENT, "x");
  refused([](auto& b) { b.input_count = 33; }, WEFT_UNSUPPORTED);
  refused([](auto& b) { b.attrs = kBadDefault; }, WEFT_INVALID_ARGUMENT, "factor");
  refused([](auto& b) { b.attrs = kBadType; }, WEFT_INVALID_ARGUMENT, "factor");
  refused([](auto& b) { b.attrs = kNotAllowed; }, WEFT_INVALID_ARGUMENT, "factor");
  refused([](auto& b) { b.attrs = kTwins, b.attr_count = 2; }, WEFT_INVALID_ARGUMENT, "f");
  refused([](auto& b) { b.types = kBadTypes; }, WEFT_INVALID_ARGUMENT, "T");
  refused([](auto& b) { b.types = kNoTypes; }, WEFT_INVALID_ARGUMENT, "T");
  refused([](auto& b) { b.shaped_by = kFar, b.shaped_by_count = 1; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.output_count = 0; }, WEFT_INVALID_ARGUMENT);
  refused([](auto& b) { b.name = "Add"; }, WEFT_ALREADY_EXISTS);
  CHECK(weft_runtime_add_block(host.runtime, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: blocks come before pages, and release comes once, at the end", "[capi][blocks]") {
  int released = 0;
  weft_block block = Twice();
  block.user = &released;
  block.release = [](void* user) { ++*static_cast<int*>(user); };
  OwnedPage page;
  {
    Host host;
    host.Add(block);
    CHECK(host.Try(block) == WEFT_ALREADY_EXISTS);
    page = LoadPage(host.runtime, {Block("t", "Twice", {{"x", Scalar(1)}})});
    block.name = "Thrice";
    CHECK(host.Try(block) == WEFT_FAILED_PRECONDITION);
    CHECK(host.problems.at(0).block == std::string("Thrice"));
  }
  CHECK(released == 0);
  page = OwnedPage();
  CHECK(released == 1);
}

TEST_CASE("C: lists, shaping values, scratch, strings and parallel loops", "[capi][blocks]") {
  // Repeat: joins the texts of a list, as often as `times` says, one task an element.
  static const weft_port kIn[] = {{"texts", "DT_STRING", WEFT_LIST, "N", "scalars"},
                                  {"times", "DT_INT32", WEFT_SINGLE, nullptr, "a scalar"}};
  static const weft_port kOut[] = {{"joined", "DT_STRING", WEFT_SINGLE, nullptr, "[times]"},
                                   {"sizes", "DT_INT64", WEFT_SINGLE, nullptr, "[times]"}};
  static const int32_t kShaping[] = {1};
  weft_block block = WEFT_BLOCK_INIT;
  block.name = "Repeat";
  block.category = "text";
  block.summary = "Joins texts.";
  block.inputs = kIn;
  block.input_count = 2;
  block.outputs = kOut;
  block.output_count = 2;
  block.shaped_by = kShaping;
  block.shaped_by_count = 1;
  block.plan = [](void*, const weft_plan_call* call, void**) -> int32_t {
    if (call->input_first[1] != call->input_count - 1) return WEFT_INTERNAL;
    int64_t times = *static_cast<const int32_t*>(call->inputs[call->input_first[1]].data);
    (void)call->set_scratch(call, 64);
    (void)call->set_shape(call, 1, 1, &times);
    return call->set_shape(call, 0, 1, &times);
  };
  block.run = [](void*, void*, const weft_run_call* call) -> int32_t {
    if (call->scratch_bytes < 64 || reinterpret_cast<uintptr_t>(call->scratch) % 64 != 0) return WEFT_INTERNAL;
    if (call->cancelled(call) != 0) return WEFT_CANCELLED;
    std::string all;
    for (uint32_t i = call->input_first[0]; i < call->input_first[1]; ++i) {
      const char* data = nullptr;
      size_t bytes = 0;
      if (int32_t code = call->get_string(call, i, 0, &data, &bytes); code != WEFT_OK) return code;
      all.append(data, bytes);
    }
    struct Work {
      const weft_run_call* call;
      const std::string* text;
    } work = {call, &all};
    call->parallel(
        call, call->outputs[0].count,
        [](void* user, int64_t i) {
          const Work& w = *static_cast<Work*>(user);
          (void)w.call->set_string(w.call, 0, i, w.text->data(), w.text->size());
          static_cast<int64_t*>(w.call->outputs[1].data)[i] = static_cast<int64_t>(w.text->size());
        },
        &work);
    return WEFT_OK;
  };
  Host host;
  host.Add(block);
  auto text = [](const char* word) { return Cat("{\"dtype\": \"DT_STRING\", \"shape\": [], \"values\": [\"", word, "\"]}"); };
  OwnedPage page = LoadPage(host.runtime, {Block("r", "Repeat",
                                                 {{"texts", Cat("[", text("ab"), ", ", text("c"), "]")},
                                                  {"times", "{\"dtype\": \"DT_INT32\", \"shape\": [], \"values\": [3]}"}})});
  OwnedSession session = OpenSession(page);
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  OwnedView joined = ViewOf(session, "r.joined"), sizes = ViewOf(session, "r.sizes");
  REQUIRE(InfoOf(joined).count == 3);
  weft_bytes bytes;
  REQUIRE(weft_view_string(joined, 2, &bytes) == WEFT_OK);
  CHECK(std::string(bytes.data, bytes.size) == "abc");
  CHECK(static_cast<const int64_t*>(InfoOf(sizes).data)[2] == 3);
}

TEST_CASE("C: what callbacks do wrong is told, with block and port", "[capi][blocks]") {
  struct Behaviour {
    int32_t (*plan)(void*, const weft_plan_call*, void**);
    int32_t (*run)(void*, void*, const weft_run_call*);
    weft_status loads, runs;
  };
  auto good = [](void*, const weft_plan_call* call, void**) { return call->set_shape(call, 0, 0, nullptr); };
  auto fine = [](void*, void*, const weft_run_call* call) -> int32_t { return *static_cast<float*>(call->outputs[0].data) = 0, WEFT_OK; };
  const Behaviour kBehaviours[] = {
      {[](void*, const weft_plan_call*, void**) -> int32_t { return WEFT_OK; }, fine, WEFT_INTERNAL, WEFT_OK},  // sets no shape
      {[](void*, const weft_plan_call*, void**) -> int32_t { return 99; }, fine, WEFT_INTERNAL, WEFT_OK},       // no status
      {[](void*, const weft_plan_call*, void**) -> int32_t { return WEFT_OUT_OF_RANGE; }, fine, WEFT_OUT_OF_RANGE, WEFT_OK},
      {[](void*, const weft_plan_call* c, void**) { return c->set_shape(c, 1, 0, nullptr); }, fine, WEFT_INTERNAL, WEFT_OK},
      {[](void*, const weft_plan_call* c, void**) { return c->set_shape(c, 0, 1, nullptr); }, fine, WEFT_INVALID_ARGUMENT, WEFT_OK},
      {[](void*, const weft_plan_call* c, void**) { return c->set_scratch(c, -1); }, fine, WEFT_INVALID_ARGUMENT, WEFT_OK},
      {good, [](void*, void*, const weft_run_call* c) { return c->fail(c, WEFT_DATA_LOSS, "y", "broken", nullptr); }, WEFT_OK,
       WEFT_DATA_LOSS},
      {good, [](void*, void*, const weft_run_call* c) { return c->fail(c, -3, nullptr, nullptr, nullptr); }, WEFT_OK, WEFT_INTERNAL},
      {good, [](void*, void*, const weft_run_call*) -> int32_t { return 13; }, WEFT_OK, WEFT_INTERNAL},
      {good, [](void*, void*, const weft_run_call* c) { return c->get_string(c, 0, 0, nullptr, nullptr); }, WEFT_OK, WEFT_OUT_OF_RANGE},
      {good, [](void*, void*, const weft_run_call* c) { return c->set_string(c, 0, 0, "a", 1); }, WEFT_OK, WEFT_OUT_OF_RANGE},
      // A failure that is overlooked counts all the same.
      {good, [](void*, void*, const weft_run_call* c) -> int32_t { return (void)c->set_string(c, 0, 0, "a", 1), WEFT_OK; }, WEFT_OK,
       WEFT_OUT_OF_RANGE},
      {[](void*, const weft_plan_call* c, void**) { return (void)c->set_scratch(c, -1), c->set_shape(c, 0, 0, nullptr); }, fine,
       WEFT_INVALID_ARGUMENT, WEFT_OK},
  };
  static const weft_port kOut[] = {{"y", "DT_FLOAT", WEFT_SINGLE, nullptr, "a scalar"}};
  for (size_t i = 0; i < std::size(kBehaviours); ++i) {
    INFO("behaviour " << i);
    weft_block block = WEFT_BLOCK_INIT;
    block.name = "Odd";
    block.summary = "Odd.";
    block.outputs = kOut;
    block.output_count = 1;
    block.plan = kBehaviours[i].plan;
    block.run = kBehaviours[i].run;
    Host host;
    host.Add(block);
    OwnedPage page;
    std::string text = PageText({Block("odd", "Odd", {})});
    CHECK(weft_page_load(host.runtime, text.data(), text.size(), nullptr, page.out(), host.problems.out()) == kBehaviours[i].loads);
    if (page != nullptr) {
      OwnedSession session = OpenSession(page);
      CHECK(weft_session_run(session, nullptr, host.problems.out()) == kBehaviours[i].runs);
    }
    CHECK(host.problems.at(0).block == std::string("odd"));
  }
}
