// Commands and their options. Only command.cc and command_line.cc include CLI11, whose headers take seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace weft::cli {

/// An option of a command, or a positional argument, during its declaration. Functions return *this.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// The name of its value in the help.
  Option& Type(const char* name);
  Option& Required();
  /// May be given several times, each time with one or more values (with TakesOne: with one).
  Option& Repeated();
  /// Takes one value; arguments after it belong to the command.
  Option& TakesOne();
  /// The value may be absent.
  Option& ValueOptional();
  /// A value is a list with this separator.
  Option& SplitAt(char delimiter);
  /// The help shows the default.
  Option& ShowDefault();

  // Checks of the value.
  Option& NotEmpty();
  Option& OneOf(std::initializer_list<const char*> texts);
  Option& Between(int least, int most);
  Option& Between(double least, double most);
  /// A number of bytes, 1 or more, as a number or with a unit: 512M, 2GiB; a K is 1024.
  Option& Bytes();
  /// A number of runs, 1 or more. Numbers too large for the type are errors; CLI11 alone would clamp them.
  Option& CountOfRuns();
  /// A whole number, 0 or more.
  Option& Index();
  /// A file name with one of these extensions.
  Option& EndsIn(std::vector<std::string> endings);
  /// A file for an SVG picture: names that end as another kind of file are refused.
  Option& NoOtherPicture();
  /// Only together with the other option; never together with it.
  Option& Needs(const Option& other);
  Option& Excludes(const Option& other);

  /// Whether it was given. After the command line has been read.
  bool given() const;

 private:
  CLI::Option* option_;
};

/// A command during its declaration. Variables get the values of the command line; those not given keep theirs.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// `name`: "--name", "-n,--name", or "name" for a positional argument. `value` must outlive the reading of the command line.
  Option Add(const char* name, std::string& value, const char* help);
  Option Add(const char* name, std::vector<std::string>& values, const char* help);
  Option Add(const char* name, int& value, const char* help);
  Option Add(const char* name, int64_t& value, const char* help);
  Option Add(const char* name, double& value, const char* help);
  Option AddFlag(const char* name, bool& value, const char* help);

 private:
  CLI::App* app_;
};

/// The program that commands are added to.
class Program {
 public:
  /// `arguments`: of the program, its name first. `status` gets the exit status of the command that runs.
  Program(CLI::App& app, std::vector<std::string> arguments, int& status) : app_(app), arguments_(std::move(arguments)), status_(status) {}

  const std::vector<std::string>& arguments() const { return arguments_; }

  /// `run` returns the exit status.
  Command Add(const char* name, const char* summary, const char* examples, std::function<int()> run);
  template <class Options>
  Command Add(const char* name, const char* summary, const char* examples, std::shared_ptr<Options> options, int (*run)(const Options&)) {
    return Add(name, summary, examples, [options = std::move(options), run] { return run(*options); });
  }

 private:
  CLI::App& app_;
  std::vector<std::string> arguments_;
  int& status_;
};

// One function for each command.
void AddRun(Program& program);
void AddCheck(Program& program);
void AddPlan(Program& program);
void AddConvert(Program& program);
void AddBlocks(Program& program);
void AddTest(Program& program);
void AddCodes(Program& program);
void AddReplay(Program& program);
void AddShow(Program& program);
void AddBench(Program& program);
void AddSweep(Program& program);
void AddServe(Program& program);  // tools/serve
void AddEdit(Program& program);   // tools/serve

}  // namespace weft::cli
