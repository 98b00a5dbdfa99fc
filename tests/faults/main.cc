#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/faults/fresh_process.h"

int main(int argc, char** argv) {
  weft::faults::StartFreshProcesses();
  return Catch::Session().run(argc, argv);
}
