// Commands and their options. Only command.cc and command_line.cc see the library that reads a command line: its headers alone take
// seconds to compile.
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

/// An option of a command, or an argument without a name, while it is declared.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What the help says that it takes.
  Option& Type(const char* name);
  Option& Required();
  /// It may be given again; each time more values may follow, unless TakesOne.
  Option& Repeated();
  /// What follows its value is the command's.
  Option& TakesOne();
  /// It may stand without a value.
  Option& ValueOptional();
  /// One value is a list of several.
  Option& SplitAt(char delimiter);
  /// The help tells the value that it has where it is not given.
  Option& ShowDefault();

  // What is refused.
  Option& NotEmpty();
  Option& OneOf(std::initializer_list<const char*> texts);
  Option& Between(int least, int most);
  Option& Between(double least, double most);
  /// Numbers of runs: 1 or more. (Plain reading would take what is too large as the largest number.)
  Option& CountOfRuns();
  /// Files whose ending says what they are.
  Option& EndsIn(std::vector<std::string> endings);
  /// Only together with the other, or never together.
  Option& Needs(const Option& other);
  Option& Excludes(const Option& other);

  /// Once the command line is read: whether it was on it.
  bool given() const;

 private:
  CLI::Option* option_;
};

/// A command while it is declared. The variables get what the command line says, and keep what they have where it says nothing.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  /// "--name", "-n,--name", or "name" of an argument.
  Option Add(const char* name, std::string& value, const char* help);
  Option Add(const char* name, std::vector<std::string>& values, const char* help);
  Option Add(const char* name, int& value, const char* help);
  Option Add(const char* name, int64_t& value, const char* help);
  Option Add(const char* name, double& value, const char* help);
  Option AddFlag(const char* name, bool& value, const char* help);

 private:
  CLI::App* app_;
};

/// What commands are added to.
class Program {
 public:
  /// `status` gets the exit status of the command that runs.
  Program(CLI::App& app, int& status) : app_(app), status_(status) {}

  /// `run` gives the exit status.
  Command Add(const char* name, const char* summary, const char* examples, std::function<int()> run);
  template <class Options>
  Command Add(const char* name, const char* summary, const char* examples, std::shared_ptr<Options> options, int (*run)(const Options&)) {
    return Add(name, summary, examples, [options = std::move(options), run] { return run(*options); });
  }

 private:
  CLI::App& app_;
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

}  // namespace weft::cli
