// Results as views, DLPack, memory of the host.
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

/// y = x + 1, z = 2 * y.
std::vector<std::string> ScaledLine() {
  return {Block("x", "Const", {{"value", Vector({1, 2, 3})}}), Block("y", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
          Block("z", "Multiply", {{"x", "y.z"}, {"y", Scalar(2)}}), Block("run", "ClientSession", {{"fetch_outputs", "[\"z.z\"]"}})};
}

struct LineHost {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, ScaledLine());
  OwnedSession session = OpenSession(page);
  Problems problems;
  void Run() { C_OK(problems, weft_session_run(session, nullptr, problems.out())); }
  weft_status View(const char* name) {
    OwnedView view;
    return weft_session_view(session, name, view.out(), problems.out());
  }
};

}  // namespace

TEST_CASE("C: a view says what it shows", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(
      runtime, {Block("m", "Const", {{"value", test::Literal("DT_DOUBLE", {2, 3, 1}, {1, 2, 3, 4, 5, 6})}}),
                Block("r", "Identity", {{"input", "m.output"}}), Block("e", "Const", {{"value", test::Literal("DT_INT32", {0, 3}, {})}}),
                Block("f", "Identity", {{"input", "e.output"}})});
  OwnedSession session = OpenSession(page);
  REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
  OwnedView view = ViewOf(session, "r.output");
  weft_view_info info = InfoOf(view);
  CHECK(info.dtype == WEFT_DOUBLE);
  REQUIRE(info.rank == 3);
  CHECK(std::vector<int64_t>(info.shape, info.shape + 3) == std::vector<int64_t>{2, 3, 1});
  CHECK(std::vector<int64_t>(info.strides, info.strides + 3) == std::vector<int64_t>{24, 8, 8});
  CHECK(info.count == 6);
  CHECK(info.bytes == 48);
  CHECK(info.stale == 0);
  CHECK(info.generation == 1);
  CHECK(static_cast<const double*>(info.data)[5] == 6);
  OwnedView element = ViewOf(session, "r.result_output[1][0][0]");
  CHECK(InfoOf(element).rank == 0);
  CHECK(InfoOf(element).shape == nullptr);
  CHECK(*static_cast<const double*>(InfoOf(element).data) == 4);
  OwnedView empty = ViewOf(session, "f.output");
  CHECK(InfoOf(empty).count == 0);
  CHECK(InfoOf(empty).data == nullptr);
  CHECK(InfoOf(empty).strides[0] == 12);
  OwnedStrings text;
  REQUIRE(weft_view_text(view, 2, text.out(), nullptr) == WEFT_OK);
  const char* words = nullptr;
  REQUIRE(weft_strings_get(text, 0, &words, nullptr) == WEFT_OK);
  CHECK(std::string(words).find("DT_DOUBLE [2,3,1]") == 0);
  CHECK(weft_view_text(view, -1, text.out(), nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: the text of a value is short where the value has little to say, or a very long string", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(
      runtime, {Block("rows", "Const", {{"value", test::Literal("DT_FLOAT", {int64_t{1} << 62, 0}, {})}}),
                Block("text", "Const", {{"value", Cat(R"({"dtype": "DT_STRING", "shape": [], "values": [")", std::string(1 << 20, 'x'), "\"]}")}}),
                Block("deep", "Const", {{"value", test::Literal("DT_FLOAT", {2, int64_t{1} << 61, 0}, {})}}),
                Block("run", "ClientSession", {{"fetch_outputs", "[\"rows.output\", \"text.output\", \"deep.output\"]"}})});
  OwnedSession session = OpenSession(page);
  Problems problems;
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  const auto text_of = [&](const char* name) {
    OwnedView view = ViewOf(session, name);
    OwnedStrings text;
    C_OK(problems, weft_view_text(view, 1'000'000'000, text.out(), problems.out()));
    const char* words = nullptr;
    size_t size = 0;
    REQUIRE(weft_strings_get(text, 0, &words, &size) == WEFT_OK);
    return std::string(words, size);
  };
  const std::string rows = text_of("rows.output"), text = text_of("text.output");
  CHECK(rows.size() < 10'000);
  CHECK(rows.starts_with("DT_FLOAT [4611686018427387904,0] {{},{},"));
  CHECK(rows.ends_with(",...}"));
  CHECK(text == Cat("DT_STRING [] \"", std::string(4096, 'x'), "\"... (", (1 << 20) - 4096, " more bytes)"));
  OwnedView deep = ViewOf(session, "deep.output");
  CHECK(InfoOf(deep).strides[2] == 4);
  CHECK(InfoOf(deep).strides[1] == 4);
  CHECK(InfoOf(deep).strides[0] == INT64_MAX);
  weft_bytes whole{};  // which is there, too
  REQUIRE(weft_view_string(ViewOf(session, "text.output"), 0, &whole) == WEFT_OK);
  CHECK(whole.size == 1 << 20);
}

TEST_CASE("C: names that give no value say why", "[capi]") {
  LineHost line;
  CHECK(line.View("z.z") == WEFT_FAILED_PRECONDITION);
  line.Run();
  CHECK(line.View("z.z") == WEFT_OK);
  CHECK(line.View("zz.z") == WEFT_NOT_FOUND);
  CHECK(line.View("z.q") == WEFT_NOT_FOUND);
  CHECK(line.View("z") == WEFT_INVALID_ARGUMENT);
  CHECK(line.View("z.z[") == WEFT_INVALID_ARGUMENT);
  CHECK(line.View("z.z[0][0]") == WEFT_INVALID_ARGUMENT);
  CHECK(line.View("z.z[3]") == WEFT_OUT_OF_RANGE);
  CHECK(line.View("z.z[99999999999999999999]") == WEFT_INVALID_ARGUMENT);
  CHECK(line.View(nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_view(line.session, "z.z", nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: a view never changes, whatever runs", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, CounterBlocks());
  OwnedSession session = OpenSession(page);
  std::vector<OwnedView> views;
  for (int run = 1; run <= 20; ++run) {
    REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    views.push_back(ViewOf(session, "next.output_ref"));
    for (int i = 0; i < run; ++i) {
      CHECK(FloatsOf(views[static_cast<size_t>(i)]) == std::vector<float>{static_cast<float>(i + 1)});
      CHECK(InfoOf(views[static_cast<size_t>(i)]).generation == static_cast<uint64_t>(i + 1));
    }
  }
}

TEST_CASE("C: views are counted", "[capi]") {
  LineHost line;
  line.Run();
  weft_view* view = ViewOf(line.session, "z.z").release();
  CHECK(weft_view_retain(view) == WEFT_OK);
  CHECK(weft_view_release(view) == WEFT_OK);
  CHECK(FloatsOf(view) == std::vector<float>{4, 6, 8});
  CHECK(weft_view_release(view) == WEFT_OK);
  CHECK(weft_view_release(view) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_view_retain(view) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: many views at once are of one run", "[capi]") {
  LineHost line;
  const char* names[] = {"y.z", "none.z", "z.z[1]"};
  weft_view* views[3] = {};
  CHECK(weft_session_views(line.session, names, 3, views, line.problems.out()) == WEFT_FAILED_PRECONDITION);
  size_t count = 0;
  CHECK(weft_diagnostics_count(line.problems.list(), &count) == WEFT_OK);
  CHECK(count == 3);
  line.Run();
  C_OK(line.problems, weft_session_views(line.session, names, 3, views, line.problems.out()));
  OwnedView first(views[0]), last(views[2]);
  CHECK(FloatsOf(first) == std::vector<float>{2, 3, 4});
  CHECK(views[1] == nullptr);
  CHECK(FloatsOf(last) == std::vector<float>{6});
  CHECK(weft_session_views(line.session, nullptr, 0, nullptr, nullptr) == WEFT_OK);
  CHECK(weft_session_views(line.session, nullptr, 1, views, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_views(line.session, names, 1, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  names[1] = nullptr;
  CHECK(weft_session_views(line.session, names, 3, views, nullptr) == WEFT_INVALID_ARGUMENT);
  // While it runs: both of one generation.
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = WEFT_UNTIL_STOPPED;
  REQUIRE(weft_session_start(line.session, &options, nullptr) == WEFT_OK);
  names[1] = "z.z";
  for (int i = 0; i < 200; ++i) {
    REQUIRE(weft_session_views(line.session, names, 2, views, nullptr) == WEFT_OK);
    OwnedView a(views[0]), b(views[1]);
    CHECK(InfoOf(a).generation == InfoOf(b).generation);
  }
}

TEST_CASE("C: the names of all results", "[capi]") {
  LineHost line;
  OwnedStrings names;
  C_OK(line.problems, weft_session_results(line.session, names.out(), line.problems.out()));
  size_t count = 0;
  REQUIRE(weft_strings_count(names, &count) == WEFT_OK);
  CHECK(count >= 2);
  line.Run();
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    REQUIRE(weft_strings_get(names, i, &name, nullptr) == WEFT_OK);
    INFO(name);
    CHECK(line.View(name) == WEFT_OK);
  }
}

TEST_CASE("C: strings are read element by element", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("s", "Const", {{"value", R"({"dtype": "DT_STRING", "shape": [2], "values": ["ab", ""]})"}}),
                                      Block("t", "Identity", {{"input", "s.output"}})});
  OwnedSession session = OpenSession(page);
  Problems problems;
  std::string zero("a\0b", 3);
  weft_bytes elements[] = {{zero.data(), zero.size()}, {nullptr, 0}};
  int64_t shape = 2;
  weft_buffer buffer = WEFT_BUFFER_INIT;
  buffer.dtype = WEFT_STRING;
  buffer.rank = 1;
  buffer.shape = &shape;
  buffer.data = elements;
  buffer.bytes = sizeof elements;
  C_OK(problems, weft_session_feed(session, "s.output", &buffer, problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  OwnedView view = ViewOf(session, "t.output");
  CHECK(InfoOf(view).data == nullptr);
  CHECK(InfoOf(view).bytes == 0);
  weft_bytes bytes;
  REQUIRE(weft_view_string(view, 0, &bytes) == WEFT_OK);
  CHECK(std::string(bytes.data, bytes.size) == zero);
  REQUIRE(weft_view_string(view, 1, &bytes) == WEFT_OK);
  CHECK(bytes.size == 0);
  CHECK(weft_view_string(view, 2, &bytes) == WEFT_OUT_OF_RANGE);
  CHECK(weft_view_string(view, -1, &bytes) == WEFT_OUT_OF_RANGE);
  weft_dl_managed_tensor* tensor = nullptr;
  CHECK(weft_view_dlpack(view, &tensor, problems.out()) == WEFT_UNSUPPORTED);
  CHECK(weft_session_bind_input(session, "s.output", &buffer, problems.out()) == WEFT_UNSUPPORTED);
  elements[1] = {nullptr, 3};
  CHECK(weft_session_feed(session, "s.output", &buffer, problems.out()) == WEFT_INVALID_ARGUMENT);
  LineHost line;
  line.Run();
  CHECK(weft_view_string(ViewOf(line.session, "z.z"), 0, &bytes) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: DLPack tensors show the view's memory, and outlive it", "[capi]") {
  LineHost line;
  line.Run();
  weft_dl_managed_tensor* tensor = nullptr;
  const void* data = nullptr;
  {
    OwnedView view = ViewOf(line.session, "z.z");
    data = InfoOf(view).data;
    C_OK(line.problems, weft_view_dlpack(view, &tensor, line.problems.out()));
  }
  line.Run();
  line.session = OwnedSession();
  CHECK(tensor->dl_tensor.data == data);
  CHECK(static_cast<const float*>(tensor->dl_tensor.data)[2] == 8);
  CHECK(tensor->dl_tensor.device.device_type == 1);
  CHECK(tensor->dl_tensor.ndim == 1);
  CHECK(tensor->dl_tensor.shape[0] == 3);
  CHECK(tensor->dl_tensor.strides[0] == 1);
  CHECK(tensor->dl_tensor.dtype.code == 2);
  CHECK(tensor->dl_tensor.dtype.bits == 32);
  CHECK(tensor->dl_tensor.dtype.lanes == 1);
  CHECK(tensor->dl_tensor.byte_offset == 0);
  tensor->deleter(tensor);
}

TEST_CASE("C: DLPack has the types of numbers", "[capi]") {
  const std::tuple<const char*, int, int> kTypes[] = {{"DT_BOOL", 6, 8},    {"DT_INT8", 0, 8},   {"DT_UINT16", 1, 16},
                                                      {"DT_INT64", 0, 64},  {"DT_HALF", 2, 16},  {"DT_BFLOAT16", 4, 16},
                                                      {"DT_DOUBLE", 2, 64}, {"DT_QUINT8", 1, 8}, {"DT_QINT32", 0, 32}};
  OwnedRuntime runtime = OpenRuntime();
  for (auto [dtype, code, bits] : kTypes) {
    INFO(dtype);
    std::string value = std::string(dtype) == "DT_BOOL" ? std::string(R"({"dtype": "DT_BOOL", "shape": [1], "values": [true]})")
                                                        : test::Literal(dtype, {1}, {1});
    OwnedPage page = LoadPage(runtime, {Block("c", "Const", {{"value", value}}), Block("i", "Identity", {{"input", "c.output"}})});
    OwnedSession session = OpenSession(page);
    REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    weft_dl_managed_tensor* tensor = nullptr;
    REQUIRE(weft_view_dlpack(ViewOf(session, "i.output"), &tensor, nullptr) == WEFT_OK);
    CHECK(tensor->dl_tensor.dtype.code == code);
    CHECK(tensor->dl_tensor.dtype.bits == bits);
    tensor->deleter(tensor);
  }
}

TEST_CASE("C: values are fed, and the page's own come back", "[capi]") {
  LineHost line;
  FloatBuffer values({10, 20});
  weft_buffer buffer = values.get();
  C_OK(line.problems, weft_session_feed(line.session, "x.output", &buffer, line.problems.out()));
  values.values = {0, 0};  // it was copied
  line.Run();
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{22, 42});
  C_OK(line.problems, weft_session_unbind(line.session, "x.output", line.problems.out()));
  line.Run();
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{4, 6, 8});
  CHECK(weft_session_unbind(line.session, "x.output", line.problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_session_unbind(line.session, "w.output", line.problems.out()) == WEFT_NOT_FOUND);
}

TEST_CASE("C: buffers are checked", "[capi]") {
  LineHost line;
  auto refused = [&](auto change, weft_status status, const char* port) {
    FloatBuffer values({10, 20});
    weft_buffer buffer = values.get();
    change(buffer);
    CHECK(weft_session_feed(line.session, "x.output", &buffer, line.problems.out()) == status);
    CHECK(line.problems.at(0).port == std::string(port));
  };
  static const int64_t kNegative[] = {-1}, kHuge[] = {INT64_MAX / 2, 4}, kWide[] = {int64_t{1} << 62};
  refused([](auto& b) { b.dtype = 77; }, WEFT_INVALID_ARGUMENT, "dtype");
  refused([](auto& b) { b.dtype = WEFT_RESOURCE; }, WEFT_UNSUPPORTED, "dtype");
  refused([](auto& b) { b.dtype = WEFT_INT32; }, WEFT_INVALID_ARGUMENT, "");
  refused([](auto& b) { b.rank = -1; }, WEFT_INVALID_ARGUMENT, "rank");
  refused([](auto& b) { b.rank = 255; }, WEFT_INVALID_ARGUMENT, "rank");
  refused([](auto& b) { b.shape = nullptr; }, WEFT_INVALID_ARGUMENT, "");
  refused([](auto& b) { b.shape = kNegative; }, WEFT_INVALID_ARGUMENT, "shape");
  refused([](auto& b) { b.shape = kHuge, b.rank = 2; }, WEFT_INVALID_ARGUMENT, "shape");
  refused([](auto& b) { b.shape = kWide; }, WEFT_INVALID_ARGUMENT, "shape");
  refused([](auto& b) { b.bytes = 7; }, WEFT_INVALID_ARGUMENT, "bytes");
  refused([](auto& b) { b.data = nullptr; }, WEFT_INVALID_ARGUMENT, "");
  refused([](auto& b) { b.size = 1; }, WEFT_INVALID_ARGUMENT, "");
  CHECK(weft_session_feed(line.session, "x.output", nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  FloatBuffer values({1});
  weft_buffer buffer = values.get();
  CHECK(weft_session_feed(line.session, nullptr, &buffer, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_feed(line.session, "q.output", &buffer, nullptr) == WEFT_NOT_FOUND);
  // A shape that the page cannot take is the next run's failure.
  OwnedPage page = LoadPage(
      line.runtime, {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("y", "Add", {{"x", "x.output"}, {"y", Vector({1, 2})}})});
  OwnedSession session = OpenSession(page);
  FloatBuffer three({1, 2, 3});
  buffer = three.get();
  REQUIRE(weft_session_feed(session, "x.output", &buffer, nullptr) == WEFT_OK);
  CHECK(weft_session_run(session, nullptr, line.problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(line.problems.at(0).block == std::string("y"));
}

TEST_CASE("C: memory of the host as input is read by each run, and views of it are copies", "[capi]") {
  LineHost line;
  int released = 0;
  FloatBuffer values({10, 20, 30});
  weft_buffer buffer = values.get();
  buffer.user = &released;
  buffer.release = [](void* user, void*) { ++*static_cast<int*>(user); };
  C_OK(line.problems, weft_session_bind_input(line.session, "x.output", &buffer, line.problems.out()));
  line.Run();
  OwnedView own = ViewOf(line.session, "x.output"), sum = ViewOf(line.session, "y.z");
  CHECK(InfoOf(own).data != values.values.data());
  values.values[0] = 100;
  CHECK(FloatsOf(own) == std::vector<float>{10, 20, 30});
  line.Run();
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{202, 42, 62});
  CHECK(FloatsOf(sum) == std::vector<float>{11, 21, 31});
  CHECK(released == 0);
  C_OK(line.problems, weft_session_unbind(line.session, "x.output", line.problems.out()));
  line.Run();
  line.Run();
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{4, 6, 8});
  line.session = OwnedSession();
  CHECK(released == 1);
  buffer.data = reinterpret_cast<char*>(values.values.data()) + 1;
  line.session = OpenSession(line.page);
  CHECK(weft_session_bind_input(line.session, "x.output", &buffer, line.problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(line.problems.at(0).port == std::string("data"));
  CHECK(released == 1);
}

namespace {

/// Memory of the host that calls the session when it comes back.
struct CallingFloats {
  CallingFloats(weft_session* of, std::vector<float> given) : session(of), floats(std::move(given)) {}
  void Bind() {
    Problems problems;
    weft_buffer buffer = floats.get();
    buffer.user = this;
    buffer.release = [](void* user, void*) { static_cast<CallingFloats*>(user)->Call(); };
    C_OK(problems, weft_session_bind_input(session, "x.output", &buffer, problems.out()));
  }
  void Call() {
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    OwnedView view;
    FloatBuffer values({4, 5, 6});
    const weft_buffer buffer = values.get();
    bool well = weft_session_get_info(session, &info, nullptr) == WEFT_OK;
    well = (info.runs == 0 || weft_session_view(session, "z.z", view.out(), nullptr) == WEFT_OK) && well;
    well = weft_session_feed(session, "x.output", &buffer, nullptr) == WEFT_OK && well;
    (well ? called_well : called_badly)++;
  }
  weft_session* const session;
  FloatBuffer floats;
  std::atomic<int> called_well{0}, called_badly{0};
};

void FeedLine(weft_session* session, std::vector<float> given) {
  FloatBuffer values(std::move(given));
  const weft_buffer buffer = values.get();
  Problems problems;
  C_OK(problems, weft_session_feed(session, "x.output", &buffer, problems.out()));
}

}  // namespace

TEST_CASE("C: memory of the host comes back without a lock, and what that calls may call the session", "[capi]") {
  LineHost line;
  CallingFloats idle(line.session, {1, 1, 1}), paused(line.session, {2, 2, 2}), planned(line.session, {3, 3, 3});
  idle.Bind();
  FeedLine(line.session, {7, 8, 9});
  CHECK(idle.called_well == 1);
  line.Run();
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{10, 12, 14});  // what it was fed when the memory came back

  // What is replaced before a run that goes on has taken it.
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 2, options.until_block = "y";
  int32_t state = WEFT_IDLE;
  C_OK(line.problems, weft_session_start(line.session, &options, line.problems.out()));
  C_OK(line.problems, weft_session_wait(line.session, 20000, &state, line.problems.out()));
  REQUIRE(state == WEFT_PAUSED);
  paused.Bind();
  FeedLine(line.session, {7, 8, 9});
  C_OK(line.problems, weft_session_resume(line.session, WEFT_GO_ON, line.problems.out()));
  C_OK(line.problems, weft_session_wait(line.session, 20000, &state, line.problems.out()));
  REQUIRE(state == WEFT_IDLE);
  CHECK(paused.called_well == 1);

  // What a run before the last has left, and a plan for another shape takes the place of.
  planned.Bind();
  line.Run();
  FeedLine(line.session, {7, 8, 9});
  line.Run();
  FeedLine(line.session, {1, 2});
  line.Run();
  line.Run();
  CHECK(planned.called_well == 1);
  for (const CallingFloats* memory : {&idle, &paused, &planned}) CHECK(memory->called_badly == 0);
}

TEST_CASE("C: memory of the host as output is written by each run that succeeds", "[capi]") {
  LineHost line;
  int released = 0;
  FloatBuffer values({0, 0, 0});
  weft_buffer buffer = values.get();
  buffer.user = &released;
  buffer.release = [](void* user, void*) { ++*static_cast<int*>(user); };
  CHECK(weft_session_bind_output(line.session, "q.z", &buffer, line.problems.out()) == WEFT_NOT_FOUND);
  C_OK(line.problems, weft_session_bind_output(line.session, "z.z", &buffer, line.problems.out()));
  line.Run();
  CHECK(values.values == std::vector<float>{4, 6, 8});
  FloatBuffer two({1, 1});
  weft_buffer fed = two.get();
  REQUIRE(weft_session_feed(line.session, "x.output", &fed, nullptr) == WEFT_OK);
  CHECK(weft_session_run(line.session, nullptr, line.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(values.values == std::vector<float>{4, 6, 8});
  CHECK(FloatsOf(line.session, "z.z") == std::vector<float>{4, 4});
  C_OK(line.problems, weft_session_unbind(line.session, "z.z", line.problems.out()));
  CHECK(released == 1);
  line.Run();
  CHECK(values.values == std::vector<float>{4, 6, 8});
  buffer.dtype = WEFT_INT32;
  CHECK(weft_session_bind_output(line.session, "z.z", &buffer, line.problems.out()) == WEFT_INVALID_ARGUMENT);
  buffer.dtype = WEFT_FLOAT;
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.keep_asked = 1;
  OwnedSession asked;
  REQUIRE(weft_session_open(line.page, &options, asked.out(), nullptr) == WEFT_OK);
  CHECK(weft_session_bind_output(asked, "y.z", &buffer, line.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(released == 1);
}

TEST_CASE("C: inputs change between the runs of a session that goes on", "[capi]") {
  LineHost line;
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = WEFT_UNTIL_STOPPED;
  REQUIRE(weft_session_start(line.session, &options, nullptr) == WEFT_OK);
  for (int i = 0; i < 20; ++i) {
    FloatBuffer values({static_cast<float>(i), 0, 0});
    weft_buffer buffer = values.get();
    REQUIRE(weft_session_feed(line.session, "x.output", &buffer, nullptr) == WEFT_OK);
    uint64_t runs = InfoOf(line.session).runs;
    while (InfoOf(line.session).runs < runs + 2) std::this_thread::yield();
    CHECK(FloatsOf(line.session, "z.z[0]") == std::vector<float>{2.0f * static_cast<float>(i) + 2});
  }
}
