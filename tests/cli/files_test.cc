// Files that the command line reads and writes: .npy feeds, results as JSON and .npz, plots as pictures.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

/// A placeholder of a type, given on as it is.
std::string PageOf(const std::string& dtype) {
  return "{\"weft\": 1, \"blocks\": [{\"id\": \"x\", \"block\": \"Placeholder\", \"attrs\": \"dtype_ = " + dtype +
         ";\"}, {\"id\": \"same\", \"block\": \"Identity\", \"inputs\": {\"input\": \"x.output\"}}]}";
}

/// A .npy file: version, the header as a Python dictionary, the data.
std::string Npy(const std::string& header, const std::string& data, char version = 1) {
  std::string text = header + "\n", bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  size_t length_bytes = version == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) bytes += static_cast<char>(text.size() >> (8 * i));
  return bytes + text + data;
}

std::string Header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string Bytes(std::initializer_list<T> values, bool big_endian = false) {
  std::string bytes;
  for (T value : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (big_endian) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
  }
  return bytes;
}

struct FeedPlace : kit::TemporaryFolder {
  /// The result of feeding a file with these bytes, or the errors.
  std::string Fed(const std::string& dtype, const std::string& npy) const {
    ProgramResult run = RunWeft({"run", Write("page.json", PageOf(dtype)), "--feed", "x.output=@" + Write("x.npy", npy)});
    CHECK(run.status == (run.err.empty() ? 0 : 1));
    return run.err.empty() ? run.out : run.err;
  }
};

TEST_CASE("--feed reads .npy files", "[cli]") {
  FeedPlace place;
  CHECK(place.Fed("DT_FLOAT", Npy(Header("<f4", "(2, 3)"), Bytes<float>({1, 2, 3, 4, 5, 6}))) == "same.output  DT_FLOAT [2,3] {{1,2,3},{4,5,6}}\n");
  CHECK(place.Fed("DT_FLOAT", Npy(Header("<f4", "(2, 3)"), Bytes<float>({1, 2, 3, 4, 5, 6}), 2)) == "same.output  DT_FLOAT [2,3] {{1,2,3},{4,5,6}}\n");
  CHECK(place.Fed("DT_FLOAT", Npy(Header("<f4", "(2, 3)", true), Bytes<float>({1, 4, 2, 5, 3, 6}))) ==
        "same.output  DT_FLOAT [2,3] {{1,2,3},{4,5,6}}\n");
  CHECK(place.Fed("DT_DOUBLE", Npy(Header(">f8", "(3,)"), Bytes<double>({0.5, -2, 1e300}, true))) == "same.output  DT_DOUBLE [3] {0.5,-2,1e+300}\n");
  CHECK(place.Fed("DT_INT16", Npy(Header(">i2", "(2,)"), Bytes<int16_t>({-2, 300}, true))) == "same.output  DT_INT16 [2] {-2,300}\n");
  CHECK(place.Fed("DT_INT64", Npy(Header("<i8", "()"), Bytes<int64_t>({-7}))) == "same.output  DT_INT64 [] -7\n");
  CHECK(place.Fed("DT_UINT8", Npy(Header("|u1", "(2, 2, 1)", true), Bytes<uint8_t>({1, 3, 2, 255}))) ==
        "same.output  DT_UINT8 [2,2,1] {{{1},{2}},{{3},{255}}}\n");
  CHECK(place.Fed("DT_BOOL", Npy(Header("|b1", "(3,)"), std::string("\0\1\2", 3))) == "same.output  DT_BOOL [3] {false,true,true}\n");
  CHECK_THAT(place.Fed("DT_COMPLEX64", Npy(Header(">c8", "(1,)"), Bytes<float>({1, -2}, true))), Contains("DT_COMPLEX64 [1] {1-2j}"));
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<f4", "(0, 3)"), "")), Contains("DT_FLOAT [0,3]"));
}

TEST_CASE("Damaged .npy files are refused", "[cli]") {
  FeedPlace place;
  const std::string good = Npy(Header("<f4", "(2, 3)"), Bytes<float>({1, 2, 3, 4, 5, 6}));
  for (size_t size = 0; size < good.size(); size += size < 20 ? 1 : 7) {
    CAPTURE(size);
    CHECK_THAT(place.Fed("DT_FLOAT", good.substr(0, size)), Contains("is no .npy file that can be read"));
  }
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<f4", "(999999999999999999, 999999999999999999)"), "")), Contains("error:"));
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<f4", "(99999999999999999999999,)"), "")), Contains("error:"));
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<f4", "(1000000000000,)"), "1234")), Contains("cut short"));
  for (const char* shape : {"(-3,)", "(3.0,)", "(2x, 3)", "(0x3,)"}) {
    CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<f4", shape), Bytes<float>({1, 2, 3, 4, 5, 6}))), Contains("has other than sizes"));
  }
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(Header("<U4", "(1,)"), "12341234")), Contains("error:"));
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(std::string(60000, 'x'), "")), Contains("error:"));
  CHECK_THAT(place.Fed("DT_FLOAT", Npy(std::string(200000, '('), "", 2)), Contains("error:"));
  CHECK_THAT(place.Fed("DT_DOUBLE", good), Contains("needs DT_DOUBLE, found DT_FLOAT"));
  std::string page = place.Write("page.json", PageOf("DT_FLOAT"));
  CHECK_THAT(RunWeft({"run", page, "--feed", "x.output=@" + place.Path("none.npy")}).err, Contains("cannot open"));
  CHECK_THAT(RunWeft({"run", page, "--feed", "x.output=@" + place.path().string()}).err, Contains("is a folder"));
  CHECK_THAT(RunWeft({"run", page, "--feed", "x.output=@/dev/zero"}).err, Contains("a file is needed"));
  CHECK_THAT(RunWeft({"run", page, "--feed", "x.output"}).err, Contains("--feed needs"));
  CHECK_THAT(RunWeft({"run", page, "--feed", "x=1"}).err, Contains("it has x.output"));
  CHECK_THAT(RunWeft({"run", page}).err, Contains("x"));
  CHECK(RunWeft({"run", page, "--feed", "x.output={{1.5,2}}"}).out == "same.output  DT_FLOAT [1,2] {{1.5,2}}\n");
}

/// The entries of a zip archive whose files are stored as they are, by its central directory.
std::vector<std::pair<std::string, std::string>> Unzip(const std::string& zip) {
  auto number = [&](size_t at, int bytes) {
    size_t value = 0;
    for (int i = 0; i < bytes && at + i < zip.size(); ++i) value |= static_cast<size_t>(static_cast<unsigned char>(zip[at + i])) << (8 * i);
    return value;
  };
  std::vector<std::pair<std::string, std::string>> files;
  size_t end = zip.rfind(std::string("PK\5\6", 4));
  REQUIRE(end != std::string::npos);
  size_t at = number(end + 16, 4);
  for (size_t i = 0; i < number(end + 10, 2); ++i) {
    REQUIRE(zip.compare(at, 4, std::string("PK\1\2", 4)) == 0);
    CHECK(number(at + 10, 2) == 0);  // stored
    size_t size = number(at + 24, 4), name_size = number(at + 28, 2), local = number(at + 42, 4);
    size_t data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    files.emplace_back(zip.substr(at + 46, name_size), zip.substr(data, size));
    at += 46 + name_size + number(at + 30, 2) + number(at + 32, 2);
  }
  return files;
}

constexpr const char* kMany = R"({"weft": 1, "blocks": [
  {"id": "f", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2, 1], "values": [0.1, -3]}}},
  {"id": "b", "block": "Const", "inputs": {"value": {"dtype": "DT_BFLOAT16", "shape": [1], "values": [1.5]}}},
  {"id": "s", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [1], "values": ["word"]}}},
  {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["f.output", "b.output", "s.output"]}}]})";

TEST_CASE("--results writes JSON and .npz", "[cli]") {
  FeedPlace place;
  std::string page = place.Write("page.json", kMany), json = place.Path("out.json"), npz = place.Path("out.npz");
  CHECK(RunWeft({"run", page, "--results", json}).status == 0);
  CHECK(kit::FileBytes(json) == RunWeft({"run", page, "--json"}).out);
  Json results = Json::parse(kit::FileBytes(json));
  CHECK(results["f.output"] == Json::parse(R"({"dtype": "DT_FLOAT", "shape": [2, 1], "values": [0.1, -3]})"));
  CHECK(results["s.output"]["values"][0] == "word");

  CHECK(RunWeft({"run", page, "--results", npz}).status == 0);
  auto files = Unzip(kit::FileBytes(npz));
  REQUIRE(files.size() == 2);  // strings have no place in it
  CHECK(files[0].first == "f.output.npy");
  CHECK(files[1].first == "b.output.npy");
  // What was written can be fed again; bfloat16 comes as float.
  std::string fed = place.Write("fed.json", PageOf("DT_FLOAT"));
  CHECK(RunWeft({"run", fed, "--feed", "x.output=@" + place.Write("f.npy", files[0].second)}).out == "same.output  DT_FLOAT [2,1] {{0.1},{-3}}\n");
  CHECK(RunWeft({"run", fed, "--feed", "x.output=@" + place.Write("b.npy", files[1].second)}).out == "same.output  DT_FLOAT [1] {1.5}\n");
  if (std::system("python3 -c 'import numpy' 2>/dev/null") == 0) {
    std::string program = "import numpy; r = numpy.load('" + npz + "'); assert r['f.output'].tolist() == [[numpy.float32(0.1)], [-3]], r['f.output']";
    CHECK(std::system(("python3 -c \"" + program + "\"").c_str()) == 0);
  }
  // A second write replaces the first; nothing is left beside it.
  CHECK(RunWeft({"run", page, "--results", npz, "--fetch", "s.output"}).status == 0);
  CHECK(Unzip(kit::FileBytes(npz)).empty());
  for (const auto& entry : fs::directory_iterator(place.path())) CHECK_THAT(entry.path().string(), !Contains(".tmp"));
}

TEST_CASE("--results has a fetched Variable as the run read it, and as it is after the run", "[cli]") {
  FeedPlace place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [5]}}},
      {"id": "count", "block": "AssignAdd", "inputs": {"ref": "n.ref", "value": {"text": "1.0f"}}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["n.ref"], "run_outputs": ["count.operation"]}}]})");
  const std::string json = place.Path("out.json"), npz = place.Path("out.npz");
  CHECK(RunWeft({"run", page, "--steps", "3", "--results", json}).status == 0);
  const Json results = Json::parse(kit::FileBytes(json));
  CHECK(results["n.ref"]["values"] == Json::parse("[7]"));
  CHECK(results["n"]["values"] == Json::parse("[8]"));

  CHECK(RunWeft({"run", page, "--steps", "3", "--results", npz}).status == 0);
  auto files = Unzip(kit::FileBytes(npz));
  std::ranges::sort(files);
  REQUIRE(files.size() == 3);
  const float values[] = {8, 8, 7};
  const char* names[] = {"count.output_ref.npy", "n.npy", "n.ref.npy"};
  for (size_t i = 0; i < 3; ++i) {
    CHECK(files[i].first == names[i]);
    CHECK(files[i].second.ends_with(std::string(reinterpret_cast<const char*>(&values[i]), sizeof(float))));
  }
}

TEST_CASE("--plot draws in the terminal, --plot-file writes pictures", "[cli]") {
  FeedPlace place;
  std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [0]}}},
      {"id": "next", "block": "Add", "inputs": {"x": "n.ref", "y": {"text": "1.0f"}}},
      {"id": "count", "block": "Assign", "inputs": {"ref": "n.ref", "value": "next.z"}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["count.output_ref"]}}]})");
  std::string svg = place.Path("plot.svg"), png = place.Path("plot.png");
  ProgramResult drawn = RunWeft({"run", page, "--steps", "50", "--plot", "count.output_ref", "--plot", "next.z", "--plot-file", svg});
  CHECK(drawn.status == 0);
  CHECK(drawn.err.empty());
  CHECK_THAT(drawn.out, Contains("count.output_ref  first 1, last 50") && Contains("next.z  first 1, last 50") && !Contains("\033"));
  std::string picture = kit::FileBytes(svg);
  CHECK_THAT(picture, Contains("<svg") && Contains("</svg>"));
  if (std::system("python3 -c '' 2>/dev/null") == 0) {
    CHECK(std::system(("python3 -c \"import xml.dom.minidom as m; m.parse('" + svg + "')\"").c_str()) == 0);
  }
  CHECK(RunWeft({"run", page, "--steps", "1", "--plot", "count.output_ref", "--plot-file", png}).status == 0);
  picture = kit::FileBytes(png);
  CHECK(picture.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(picture.substr(picture.size() - 8, 4) == "IEND");
}

TEST_CASE("What a run writes takes the place of no feed", "[cli]") {
  FeedPlace place;
  const std::string npy = Npy(Header("<f4", "(1,)"), Bytes<float>({2})), page = place.Write("page.json", PageOf("DT_FLOAT"));
  for (const auto& [option, name] : {std::pair("--save-state", "x.npy"), std::pair("--results", "x.npz")}) {
    const std::string file = place.Write(name, npy);
    const ProgramResult refused = RunWeft({"run", page, "--feed", "x.output=@" + file, option, file});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Contains(Cat("cannot write '", file, "': it is the file of --feed itself (give another name)")));
    CHECK(kit::FileBytes(file) == npy);
  }
  CHECK(RunWeft({"run", page, "--feed", "x.output=@" + place.Path("x.npy"), "--save-state", place.Path("state")}).status == 0);
}

TEST_CASE("weft convert writes a page over itself only in its own format", "[cli]") {
  FeedPlace place;
  const std::string design = place.Write("design.svg", R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use id="c" type="tensorflow"
      xlink:href="#Const"><pg-set-pin variable="#value" shape="[1]" var-type="float" value="1"/></use></svg>)");
  const std::string before = kit::FileBytes(design), link = place.Path("link.json");
  fs::create_symlink("design.svg", link);
  for (const std::string& out : {design, link}) {
    const ProgramResult refused = RunWeft({"convert", design, out});
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, Contains(Cat("cannot write '", out, "': it is the page itself (give another name)")));
    const Json found = Json::parse(RunWeft({"convert", design, out, "--json"}).out, nullptr, false);
    REQUIRE(found.is_object());
    CHECK(found["diagnostics"].size() == 1);
  }
  CHECK(kit::FileBytes(design) == before);
  const std::string own = place.Write("own.json", PageOf("DT_FLOAT")), canonical = RunWeft({"convert", own, "-"}).out;
  CHECK(RunWeft({"convert", own, own}).status == 0);
  CHECK(kit::FileBytes(own) == canonical);
}

}  // namespace
}  // namespace weft
