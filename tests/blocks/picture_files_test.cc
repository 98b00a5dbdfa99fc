// Files of pictures that are not what they seem: what they need is known before memory is taken, and they end soon.
#include <catch2/catch.hpp>

#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

/// The file that an encoder makes of a grey picture without detail.
std::string Encoded(std::string_view format, int64_t side, std::string_view attrs) {
  const std::string dims = Cat(R"({"dtype": "DT_INT32", "shape": [3], "values": [)", side, ", ", side, ", 3]}");
  TestPage page({Block("z", "Fill", {{"dims", dims}, {"value", R"({"dtype": "DT_UINT8", "shape": [], "values": [77]})"}}),
                 Block("e", Cat("Encode", format), {{"image", "z.output"}}, attrs)});
  auto session = page.Open({"e.contents"});
  RunOk(*session);
  return std::string(test::Get<String>(*session, "e.contents").at(0));
}

/// What comes of reading it within a memory limit.
Status Read(std::string_view format, const std::string& bytes, int64_t limit) {
  TestPage page({Block("file", "Placeholder", {}, "dtype_ = DT_STRING;"), Block("d", Cat("Decode", format), {{"contents", "file.output"}})},
                {.threads = 2, .memory_limit = limit});
  auto session = page.Open({"d.image"});
  Tensor file = Tensor::Allocate(DType::kString, Shape{}).value();
  file.values<String>()[0] = String(bytes);
  REQUIRE(page.Feed(*session, "file.output", file).ok());
  return session->Run();
}

}  // namespace

TEST_CASE("A picture that the memory limit does not hold is refused by its header", "[pictures]") {
  const std::string png = Encoded("Png", 2000, "");
  CHECK(png.size() < 100'000);
  CHECK(Read("Png", png, 16 * kMegabyte).ok());
  CHECK(Read("Png", png, 8 * kMegabyte).code() == Code::kResourceExhausted);
  // A frame of 60,000 by 60,000 pixels in some bytes.
  const std::string gif = std::string("GIF89a\x60\xea\x60\xea\0\0\0,\0\0\0\0\x60\xea\x60\xea\x80\1\2\3\4\5\6\2\2D\1\0;", 35);
  CHECK(Read("Gif", gif, 8 * kMegabyte).code() == Code::kInvalidArgument);
}

TEST_CASE("What libjpeg holds of a picture counts in the memory limit", "[pictures]") {
  CHECK(Read("Jpeg", Encoded("Jpeg", 2000, ""), 16 * kMegabyte).ok());
  const std::string progressive = Encoded("Jpeg", 2000, "progressive_ = true;");
  CHECK(Read("Jpeg", progressive, 16 * kMegabyte).code() == Code::kResourceExhausted);
  CHECK(Read("Jpeg", progressive, 40 * kMegabyte).ok());
}

TEST_CASE("A JPEG file of more scans than any encoder makes is refused", "[pictures]") {
  const std::string file = Encoded("Jpeg", 64, "progressive_ = true;");
  const size_t last = file.rfind("\xff\xda");
  REQUIRE(last != std::string::npos);
  const std::string scan = file.substr(last, file.size() - 2 - last);
  std::string many = file.substr(0, last);
  for (int i = 0; i < 80; ++i) many += scan;
  CHECK(Read("Jpeg", many + "\xff\xd9", 16 * kMegabyte).ok());
  for (int i = 0; i < 40; ++i) many += scan;
  const Status status = Read("Jpeg", many + "\xff\xd9", 16 * kMegabyte);
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK_THAT(status.message(), Catch::Contains("scans"));
}

}  // namespace weft::test
