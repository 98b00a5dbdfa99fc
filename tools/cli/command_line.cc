// Reads the command line, runs the command, and reports wrong options.
#include <cxxabi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "tools/cli/common.h"
#include "weft/base/text.h"

namespace {

/// Prints "weft run: error: there is no option '--step' (did you mean '--steps'?)", and which help to read.
std::string UsageError(const CLI::App& app, const CLI::Error& error) {
  std::vector<CLI::App*> commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands[0];
  std::string name = commands.empty() ? "weft" : weft::Cat("weft ", command.get_name());
  std::string message = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    std::vector<std::string> extras = command.remaining();
    auto unknown = std::find_if(extras.begin(), extras.end(), [](const std::string& text) { return text.size() > 1 && text[0] == '-'; });
    if (unknown != extras.end()) {
      std::string option = unknown->substr(0, unknown->find('='));
      std::vector<std::string> options;
      for (const CLI::Option* known : command.get_options()) {
        for (const std::string& long_name : known->get_lnames()) options.push_back("--" + long_name);
      }
      std::string meant = weft::DidYouMean(option, options);
      message = weft::Cat("there is no option '", option, "'", meant.empty() ? "" : weft::Cat(" (", meant, ")"));
    } else if (!extras.empty()) {
      message = weft::Cat("'", extras[0], "' is one argument too many");
    }
  }
  return weft::Cat(name, ": ", weft::cli::Colored("error:", 31), " ", message, "\n", name, " --help tells more\n");
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

int UnknownCommand(const std::vector<std::string>& names, const std::string& given) {
  std::string meant = weft::DidYouMean(given, names);
  std::cerr << "weft: " << weft::cli::Colored("error:", 31) << " there is no command '" << weft::cli::Visible(given) << "'";
  if (!meant.empty()) std::cerr << " (" << meant << ")";
  std::cerr << "\nweft --help lists the commands\n";
  return weft::cli::kWrongUse;
}

/// Flushes standard output and reports a failure, such as a full disk.
bool OutputArrived() {
  std::cout.flush();
  bool arrived = std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!arrived) std::cerr << "weft: " << weft::cli::Colored("error:", 31) << " standard output could not be written\n";
  return arrived;
}

/// Takes no memory.
int SayNoMemory() {
  constexpr std::string_view kText = "weft: error: the machine has no memory left\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  return weft::cli::kFailed;
}

/// What is left where an exception has no way out, as when objects of the libraries take memory to end, or to begin before main.
[[noreturn]] void OnTerminate() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type != nullptr && *type == typeid(std::bad_alloc)) _exit(SayNoMemory());
  std::abort();
}
[[gnu::constructor(101)]] void SetTerminate() { std::set_terminate(OnTerminate); }

/// The exit status. Throws bad_alloc.
int RunCommandLine(int argc, char** argv) {
  CLI::App app("Weft runs block-graph pages in the style of enuSpace; each block computes what the TensorFlow operation of its name computes.");
  app.name("weft");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  app.footer("weft COMMAND --help tells more of a command. Exit status: 0, 1 (it failed), 2 (wrong use), 130 (interrupted).");
  int status = weft::cli::kOk;
  weft::cli::Program program(app, std::vector<std::string>(argv, argv + argc), status);
  weft::cli::AddRun(program);
  weft::cli::AddCheck(program);
  weft::cli::AddTest(program);
  weft::cli::AddBlocks(program);
  weft::cli::AddPlan(program);
  weft::cli::AddConvert(program);
  weft::cli::AddReplay(program);
  weft::cli::AddShow(program);
  weft::cli::AddCodes(program);
  weft::cli::AddBench(program);
  weft::cli::AddSweep(program);
  weft::cli::AddServe(program);
  weft::cli::AddEdit(program);
  if (argc < 2) {
    std::cerr << app.help();
    return weft::cli::kWrongUse;
  }
  std::vector<std::string> names = CommandNames(app);
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) return UnknownCommand(names, argv[1]);
  app.failure_message([](const CLI::App* root, const CLI::Error& error) { return UsageError(*root, error); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? weft::cli::kOk : weft::cli::kWrongUse;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::cerr << "weft: error: " << error.what() << "\n";
    status = weft::cli::kFailed;
  }
  return OutputArrived() || status != weft::cli::kOk ? status : weft::cli::kFailed;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int weft_command_main(int argc, char** argv) {
  // A file that would become larger than a limit allows is an error of the write (EFBIG), not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return RunCommandLine(argc, argv);
  } catch (const std::bad_alloc&) {
    return SayNoMemory();
  }
}
