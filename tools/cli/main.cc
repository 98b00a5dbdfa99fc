// weft: runs, checks, tests and draws block-graph pages.
#include <iostream>

#include "tools/cli/common.h"

int main(int argc, char** argv) {
  CLI::App app("Weft runs block-graph pages in the style of enuSpace; each block computes what the TensorFlow operation of its name computes.");
  app.name("weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  app.footer("weft COMMAND --help tells more of a command. Exit status: 0, 1 (it failed), 2 (wrong use).");
  int status = weft::cli::kOk;
  weft::cli::AddRun(app, status);
  weft::cli::AddCheck(app, status);
  weft::cli::AddTest(app, status);
  weft::cli::AddBlocks(app, status);
  weft::cli::AddPlan(app, status);
  weft::cli::AddConvert(app, status);
  weft::cli::AddReplay(app, status);
  weft::cli::AddShow(app, status);
  weft::cli::AddBench(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? weft::cli::kOk : weft::cli::kWrongUse;
  } catch (const std::exception& error) {
    std::cerr << "weft: error: " << error.what() << "\n";
    return weft::cli::kFailed;
  }
  return status;
}
