// weft show, through the program: pictures of every sample page, of faulty pages, of large ones.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "weft/base/text.h"

using namespace weft;
namespace fs = std::filesystem;

namespace {

struct Box {
  double x, y, width, height;
};

/// The program's standard output; `status` gets how it exited.
std::string Show(const fs::path& page, const std::string& more, int& status) {
  std::string command = Cat(WEFT_PROGRAM, " show '", page.string(), "' -o - ", more, " 2>/dev/null"), out;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  status = WEXITSTATUS(pclose(pipe));
  return out;
}

std::vector<Box> BoxesOf(const std::string& svg) {
  std::vector<Box> boxes;
  const std::string mark = "<rect class=\"box\" x=\"";
  for (size_t at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + 1)) {
    Box box = {};
    if (std::sscanf(svg.c_str() + at, "<rect class=\"box\" x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &box.x, &box.y, &box.width, &box.height) == 4) {
      boxes.push_back(box);
    }
  }
  return boxes;
}

size_t Overlaps(std::vector<Box> boxes) {
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.x < b.x; });
  size_t overlaps = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t k = i + 1; k < boxes.size() && boxes[k].x < boxes[i].x + boxes[i].width; ++k) {
      overlaps += boxes[k].y < boxes[i].y + boxes[i].height && boxes[i].y < boxes[k].y + boxes[k].height;
    }
  }
  return overlaps;
}

fs::path Write(const std::string& name, const std::string& text) {
  fs::path path = fs::temp_directory_path() / Cat("weft_show_", getpid(), "_", name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace

TEST_CASE("every sample page is drawn without overlaps", "[show]") {
  for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / "graphs")) {
    if (!entry.path().filename().string().ends_with(".page.json")) continue;
    INFO(entry.path());
    int status = -1;
    std::string svg = Show(entry.path(), "--layout auto", status);
    CHECK(status == 0);
    CHECK(svg.starts_with("<svg xmlns="));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(BoxesOf(svg).size() >= 5);
    CHECK(Overlaps(BoxesOf(svg)) == 0);
  }
}

TEST_CASE("a picture names blocks, ports, types and shapes", "[show]") {
  int status = -1;
  std::string svg = Show(fs::path(WEFT_SOURCE_DIR) / "graphs" / "xor.page.json", "", status);
  CHECK(status == 0);
  for (const char* text : {">hidden</text>", ">BiasAdd</text>", ">grad_outputs[3]</text>", ">float [4,4]</text>", ">ClientSession</text>"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(svg.find("[?]") == std::string::npos);
}

TEST_CASE("faulty pages are drawn, and their texts are escaped", "[show]") {
  fs::path path = Write("faulty.json", R"({"weft": 1, "page": "a<b>&\"c\"", "blocks": [
    {"id": "a", "block": "No<such>Block", "inputs": {"x": "b.y", "z": "nowhere.output"}},
    {"id": "b", "block": "Tanh", "inputs": {"x": "c.y", "q": {"text": "</svg>"}}},
    {"id": "c", "block": "Tanh", "inputs": {"x": "b.y"}}, {"id": "d", "block": "Tanh", "inputs": {"x": "d.y"}}],
    "layout": {"a": [1e300, -5], "b": [0, 0]}})");
  for (const char* layout : {"", "--layout auto"}) {
    int status = -1;
    std::string svg = Show(path, layout, status);
    CHECK(status == 1);  // the drawing is there, and so are the faults
    CHECK(BoxesOf(svg).size() == 4);
    CHECK(svg.find("a&lt;b&gt;&amp;&quot;c&quot;") != std::string::npos);
    CHECK(svg.find("No&lt;such&gt;Block") != std::string::npos);
    CHECK(svg.find("</svg>") == svg.size() - 7);
  }
  fs::remove(path);
  path = Write("broken.json", "{");
  int status = -1;
  CHECK(Show(path, "", status).empty());
  CHECK(status == 1);
  fs::remove(path);
}

TEST_CASE("5,000 blocks are drawn without overlaps", "[show]") {
  // A chain whose every block also reads the first one; blocks that read others far and near; blocks on their own.
  for (int kind : {0, 1, 2}) {
    std::string text = R"({"weft": 1, "page": "large", "blocks": [{"id": "x0", "block": "Const", "inputs": {"value": {"text": "{1,2}"}}})";
    uint32_t random = 1;
    for (int i = 1; i < 5000; ++i) {
      random = random * 1664525u + 1013904223u;
      int near = i - 1, far = kind == 0 ? 0 : static_cast<int>((random >> 8) % static_cast<uint32_t>(i));
      auto wire = [](int k) { return Cat("\"x", k, k == 0 ? ".output\"" : ".z\""); };
      if (kind == 2) text += Cat(",\n{\"id\": \"x", i, "\", \"block\": \"Const\", \"inputs\": {\"value\": {\"text\": \"{1,2}\"}}}");
      else text += Cat(",\n{\"id\": \"x", i, "\", \"block\": \"Add\", \"inputs\": {\"x\": ", wire(near), ", \"y\": ", wire(far), "}}");
    }
    fs::path path = Write("large.json", text + "]}");
    int status = -1;
    auto start = std::chrono::steady_clock::now();
    std::string svg = Show(path, "", status);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    INFO("kind " << kind << ": " << seconds << " s, " << svg.size() << " bytes");
    CHECK(status == 0);
    CHECK(BoxesOf(svg).size() == 5000);
    CHECK(Overlaps(BoxesOf(svg)) == 0);
    CHECK(seconds < 20);  // far below a second in a release build; sanitizers take their time
    fs::remove(path);
  }
}
