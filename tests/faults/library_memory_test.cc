// No memory in the libraries that read and write pictures, compressed files, archives and plots: an error or the whole result, and what runs
// next is right.
#include <zlib.h>

#include <algorithm>

#include "tests/faults/fault_kit.h"
#include "tests/faults/fresh_process.h"
#include "tests/faults/malloc_fault.h"
#include "tests/kit/program.h"

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostOfLibraries = 10000;

std::string ConstBlock(const std::string& id, const std::string& dtype, const std::string& shape, const std::string& values) {
  return "{\"id\": \"" + id + R"(", "block": "Const", "inputs": {"value": {"dtype": ")" + dtype + R"(", "shape": [)" + shape + R"(], "values": [)" + values +
         "]}}}, ";
}
std::string BlockOf(const std::string& type, const std::string& attrs, const std::string& inputs) {
  return R"({"id": "it", "block": ")" + type + R"(", "attrs": ")" + attrs + R"(", "inputs": {)" + inputs + "}}";
}

/// A page in a folder, with a session of its own.
struct Loaded {
  Loaded(weft_runtime* runtime, const std::string& folder, const std::string& blocks, const char* fetched, const char* first = nullptr) : result(fetched) {
    const std::string json = R"({"weft": 1, "page": "p", "blocks": [)" + blocks + "]}";
    weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
    const char* folders[] = {folder.c_str()};
    options.folder = folder.c_str();
    options.write_folders = folders;
    options.write_count = 1;
    OwnedProblems problems;
    const weft_status status = weft_page_load(runtime, json.data(), json.size(), &options, page.out(), problems.out());
    const char* text = "";
    (void)weft_diagnostics_text(problems, &text);
    INFO(text);
    REQUIRE(status == WEFT_OK);
    if (first != nullptr) {
      OwnedSession once;
      weft_session_options of_first = WEFT_SESSION_OPTIONS_INIT;
      of_first.session = first;
      REQUIRE(weft_session_open(page, &of_first, once.out(), nullptr) == WEFT_OK);
      REQUIRE(weft_session_run(once, nullptr, nullptr) == WEFT_OK);
    }
    weft_session_options of_result = WEFT_SESSION_OPTIONS_INIT;
    of_result.fetches = &result;
    of_result.fetch_count = 1;
    REQUIRE(weft_session_open(page, &of_result, session.out(), nullptr) == WEFT_OK);
  }
  weft_status Run(weft_diagnostics** problems = nullptr) { return weft_session_run(session, nullptr, problems); }
  std::string Value() const {
    OwnedView view;
    OwnedStrings text;
    const char* shown = "";
    REQUIRE(weft_session_view(session, result, view.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_view_text(view, 1000000, text.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_strings_get(text, 0, &shown, nullptr) == WEFT_OK);
    return shown;
  }

  const char* result;
  OwnedPage page;
  OwnedSession session;
};

/// What a page does that calls a library.
struct LibraryWork {
  std::string name, blocks;
  const char* result;
  const char* first = nullptr;  // a session to run before
  bool again = true;            // whether the session runs again after a failure; else another one does
  std::string expected{};       // besides: what is in the result
};

/// Each allocation of libraries in a run fails, alone and with all that follow it.
void EachOfLibrariesFails(const LibraryWork& work) {
  const OwnedRuntime runtime = OpenRuntime();
  const Folder folder;
  const auto load = [&] { return std::make_unique<Loaded>(runtime, folder.text, work.blocks, work.result, work.first); };
  auto whole = load();
  INFO(work.name);
  REQUIRE(whole->Run() == WEFT_OK);
  const std::string value = whole->Value();
  CHECK_THAT(value, Catch::Contains(work.expected));
  int failed = 0;
  for (const bool lasts : {false, true}) {
    uint64_t number = 1;
    for (bool happened = true; happened && number < kMostOfLibraries; number += happened) {
      INFO("allocation " << number << (lasts ? " and those after it" : ""));
      const Watchdog watchdog(work.name.c_str(), number);
      auto page = load();
      OwnedProblems problems;
      weft_status status = WEFT_OK;
      {
        const MallocFault fault(number, lasts);
        status = page->Run(problems.out());
        happened = fault.happened();
      }
      failed += status != WEFT_OK;
      const char* text = "";
      (void)weft_diagnostics_text(problems, &text);
      INFO(text);
      if (!happened) CHECK(status == WEFT_OK);
      if (status != WEFT_OK) CHECK(status == WEFT_RESOURCE_EXHAUSTED);
      if (status == WEFT_OK) CHECK(page->Value() == value);
      if (status == WEFT_OK && !work.again) continue;
      if (!work.again) page = load();
      CHECK(page->Run() == WEFT_OK);
      CHECK(page->Value() == value);
    }
    CHECK(number < kMostOfLibraries);
  }
  CHECK(failed > 0);
}

/// [height, width, channels] of a picture without even areas.
std::string PictureBlock(int height, int width, int channels) {
  std::string values;
  for (int i = 0; i < height * width * channels; ++i) values += std::to_string(i * i % 251) + (i + 1 < height * width * channels ? "," : "");
  return ConstBlock("picture", "DT_UINT8", Cat(height, ",", width, ",", channels), values);
}

TEST_CASE("Blocks that write and read JPEG files lack memory in libjpeg without harm", "[memory]") {
  const std::string picture = PictureBlock(40, 24, 3), image = R"("image": "picture.output")";
  for (const char* attrs : {"", "progressive_ = true;", "optimize_size_ = true;chroma_downsampling_ = false;"}) {
    EachOfLibrariesFails({Cat("EncodeJpeg ", attrs), picture + BlockOf("EncodeJpeg", attrs, image), "it.contents"});
    const std::string encode = R"({"id": "file", "block": "EncodeJpeg", "attrs": ")" + std::string(attrs) + R"(", "inputs": {)" + image + "}}, ";
    EachOfLibrariesFails({Cat("DecodeJpeg ", attrs), picture + encode + BlockOf("DecodeJpeg", "", R"("contents": "file.contents")"), "it.image"});
  }
}

TEST_CASE("Blocks that write and read PNG files lack memory in libpng, zlib and libdeflate without harm", "[memory]") {
  const std::string picture = PictureBlock(20, 30, 4), image = R"("image": "picture.output")";
  EachOfLibrariesFails({"EncodePng", picture + BlockOf("EncodePng", "", image), "it.contents"});
  const std::string encode = R"({"id": "file", "block": "EncodePng", "inputs": {)" + image + "}}, ";
  EachOfLibrariesFails({"DecodePng", picture + encode + BlockOf("DecodePng", "", R"("contents": "file.contents")"), "it.image"});
  EachOfLibrariesFails({"DecodePng, grey", picture + encode + BlockOf("DecodePng", "channels_ = 1;", R"("contents": "file.contents")"), "it.image"});
}

/// Three frames of two by two pixels, each with a palette of its own besides that of all.
std::string GifBytes() {
  using Bytes = std::string;
  Bytes gif("GIF89a\2\0\2\0\x80\0\0\0\0\0\xff\xff\xff", 19);
  for (const char shade : {'\x10', '\x20', '\x30'}) {
    gif += Bytes(",\0\0\0\0\2\0\2\0\x80", 10) + Bytes(3, shade) + Bytes(3, static_cast<char>(shade + 1));
    // Codes of 3 bits, the last of 4: clear, 0, 1, 1, 0, end.
    gif += Bytes("\2\3\x44\x02\x05\0", 6);
  }
  return gif + ";";
}

std::string Base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

TEST_CASE("DecodeGif gives all frames or lacks memory", "[memory]") {
  const std::string file = ConstBlock("file", "DT_STRING", "", R"({"base64": ")" + Base64(GifBytes()) + "\"}");
  EachOfLibrariesFails({"DecodeGif", file + BlockOf("DecodeGif", "", R"("contents": "file.output")"), "it.image", nullptr, true, "49"});
}

TEST_CASE("A reader of compressed records lacks memory in zlib without harm", "[memory]") {
  const kit::TemporaryFolder folder;
  std::string records;
  for (int i = 0; i < 50000; ++i) records += std::to_string(i * 7 % 10);
  const std::string path = (folder.path() / "records.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, records.data(), static_cast<unsigned>(records.size())) == static_cast<int>(records.size()));
  REQUIRE(gzclose(file) == Z_OK);
  // The page writes the file into its folder before it reads it.
  const std::string blocks =
      ConstBlock("bytes", "DT_STRING", "", R"({"base64": ")" + Base64(kit::FileBytes(path)) + "\"}") + ConstBlock("name", "DT_STRING", "", R"("records.gz")") +
      ConstBlock("many", "DT_INT64", "", "5000") +
      R"({"id": "write", "block": "WriteFile", "inputs": {"filename": "name.output", "contents": "bytes.output"}},
         {"id": "names", "block": "FIFOQueue", "attrs": "component_types_ = {DT_STRING};"},
         {"id": "put", "block": "QueueEnqueue", "inputs": {"handle": "names.handle", "components": ["name.output"]}},
         {"id": "before", "block": "ClientSession", "inputs": {"run_outputs": ["write.operation", "put.operation"]}},
         {"id": "reader", "block": "FixedLengthRecordReader", "attrs": "record_bytes_ = 10;encoding_ = GZIP;"}, )" +
      BlockOf("ReaderReadUpTo", "", R"("reader_handle": "reader.reader_handle", "queue_handle": "names.handle", "num_records": "many.output")");
  EachOfLibrariesFails({"gzip records", blocks, "it.values", "before", false, records.substr(0, 10)});
}

// Of the pool of two threads, which Eigen 3.4 makes without a look at what malloc gives it.
constexpr uint64_t kOfThreadPool = 4;

/// `weft ARGUMENTS`, which writes `file`: each of the last `most` allocations of libraries fails, alone and with all that follow it.
void LibrariesLackMemory(const std::vector<std::string>& arguments, const fs::path& file, uint64_t most) {
  const FreshEnd whole = RunFresh(arguments, 0, false, Allocations::kOfLibraries);
  INFO(file << ": " << whole.err);
  REQUIRE(whole.status == 0);
  REQUIRE(whole.seen > kOfThreadPool);
  const std::string written = kit::FileBytes(file);
  REQUIRE(!written.empty());
  int failed = 0;
  for (const bool lasts : {false, true}) {
    for (uint64_t number = whole.seen - std::min(whole.seen - kOfThreadPool, most) + 1; number <= whole.seen; ++number) {
      fs::remove(file);
      const FreshEnd end = RunFresh(arguments, number, lasts, Allocations::kOfLibraries);
      INFO("allocation " << number << " of " << whole.seen << (lasts ? " and those after it: " : ": ") << end.status << "\n" << end.err);
      CHECK((end.status == 0 || end.status == 1));
      failed += end.status != 0;
      if (end.status != 0) CHECK(!end.err.empty());
      CHECK(fs::exists(file) == (end.status == 0));
      if (end.status == 0) CHECK(kit::FileBytes(file) == written);
    }
  }
  CHECK(failed > 10);
  CHECK(RunFresh(arguments, 0).status == 0);
  CHECK(kit::FileBytes(file) == written);
}

TEST_CASE("Archives of results are whole, or lack memory in libzip", "[memory]") {
  const kit::TemporaryFolder folder;
  const fs::path file = folder.path() / "out.npz";
  LibrariesLackMemory({"run", WEFT_SOURCE_DIR "/graphs/softmax_regression.page.json", "--threads", "2", "--results", file.string()}, file, kMostOfLibraries);
}

// (Not the first ones: where a clip has no memory, cairo 1.16 leaves a line out, or ends the process. It keeps those that it had.)
TEST_CASE("Plots are whole, or lack memory in cairo and libpng", "[memory]") {
  const kit::TemporaryFolder folder;
  for (const char* name : {"plot.png", "plot.svg"}) {
    const fs::path file = folder.path() / name;
    LibrariesLackMemory({"run", WEFT_SOURCE_DIR "/graphs/xor.page.json", "--threads", "2", "--steps", "3", "--plot", "loss.output", "--plot-file", file.string()}, file, 20);
  }
}

}  // namespace
}  // namespace weft::faults
