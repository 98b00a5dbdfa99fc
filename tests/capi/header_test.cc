// weft.h itself: plain C99 and C++, every function documented, numbers that stay.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/kit/program.h"
#include "tests/kit/weft_headers.h"
#include "weft/base/dtype.h"
#include "weft/base/status.h"

using namespace weft;
using namespace weft::test;

TEST_CASE("weft.h compiles as C99 and as C++ without a warning", "[capi]") {
  const std::string include = Cat("-I", WEFT_SOURCE_DIR, "/runtime/include");
  const std::string flags = Cat(" -pedantic -Wall -Wextra -Werror -Wconversion -fsyntax-only ", include);
  const std::string file = Cat(WEFT_SOURCE_DIR, "/runtime/include/weft.h");
  CHECK(std::system(Cat("cc -std=c99 -Wstrict-prototypes -x c", flags, " ", file).c_str()) == 0);
  CHECK(std::system(Cat("c++ -std=c++11 -x c++", flags, " ", file).c_str()) == 0);
}

TEST_CASE("every part of weft.h can be included alone", "[capi]") {
  for (const std::filesystem::path& path : HeaderFiles()) {
    INFO(path);
    std::string command =
        Cat("cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c -I", WEFT_SOURCE_DIR, "/runtime/include ", path.string());
    CHECK(std::system(command.c_str()) == 0);
  }
}

TEST_CASE("weft.h includes all its parts", "[capi]") {
  const std::string text = kit::FileBytes(std::filesystem::path(WEFT_SOURCE_DIR) / "runtime/include/weft.h");
  for (const std::filesystem::path& path : HeaderFiles()) {
    if (path.filename() == "weft.h") continue;
    INFO(path);
    CHECK(text.find(Cat("#include \"weft/capi/", path.filename().string(), "\"")) != std::string::npos);
  }
}

TEST_CASE("every function of weft.h says what errors, ownership and threads it has", "[capi]") {
  std::vector<HeaderFunction> functions = HeaderFunctions();
  CHECK(functions.size() >= 40);
  for (const HeaderFunction& function : functions) {
    INFO(function.file << ": " << function.name);
    CHECK(function.name.starts_with("weft_"));
    for (const char* word : {"Errors:", "Owner:", "Threads:"}) {
      INFO(word);
      CHECK(function.comment.find(word) != std::string::npos);
    }
  }
}

TEST_CASE("the reader of the headers finds what is there", "[capi]") {
  std::vector<HeaderFunction> found = FunctionsIn(
      "/** Does it.\n * Errors: none. */\nWEFT_API weft_status weft_do(int a,\n    int b);\nWEFT_API int weft_bare(void);\n", "x.h");
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "weft_do");
  CHECK(found[0].comment.find("Errors:") != std::string::npos);
  CHECK(found[1].name == "weft_bare");
  CHECK(found[1].comment.empty());
}

TEST_CASE("codes and element types have the numbers of the interface", "[capi]") {
  CHECK(weft_abi_version() == WEFT_ABI_VERSION);
  CHECK(weft_version() == std::string("0.1.0"));
  for (int32_t code = WEFT_OK; code <= WEFT_INTERNAL; ++code) CHECK(CodeFromName(weft_status_name(code)) == static_cast<Code>(code));
  CHECK(weft_status_name(-1) == std::string("unknown"));
  CHECK(weft_status_name(13) == std::string("unknown"));
  CHECK(weft_dtype_name(WEFT_FLOAT) == std::string("DT_FLOAT"));
  CHECK(weft_dtype_name(WEFT_UINT64) == std::string("DT_UINT64"));
  CHECK(weft_dtype_name(21) == std::string("DT_INVALID"));
  CHECK(weft_dtype_name(0) == std::string("DT_INVALID"));
  CHECK(weft_dtype_size(WEFT_COMPLEX128) == 16);
  CHECK(weft_dtype_size(WEFT_BOOL) == 1);
  CHECK(weft_dtype_size(WEFT_STRING) == 0);
  CHECK(weft_dtype_size(WEFT_RESOURCE) == 0);
  CHECK(weft_dtype_size(-5) == 0);
}
