#include "tools/cli/command.h"

#include <cmath>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "weft/base/text.h"

namespace weft::cli {

Option& Option::Type(const char* name) {
  option_->type_name(name);
  return *this;
}

Option& Option::Required() {
  option_->required();
  return *this;
}

Option& Option::Repeated() {
  option_->take_all()->expected(1);
  return *this;
}

Option& Option::TakesOne() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::ValueOptional() {
  option_->expected(0, 1);
  return *this;
}

Option& Option::SplitAt(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Option& Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Option& Option::NotEmpty() {
  option_->check(CLI::Validator([](std::string& text) { return std::string(text.empty() ? "the name is empty" : ""); }, ""));
  return *this;
}

Option& Option::OneOf(std::initializer_list<const char*> texts) {
  option_->check(CLI::IsMember(std::vector<std::string>(texts.begin(), texts.end())));
  return *this;
}

Option& Option::Between(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::Between(double least, double most) {
  option_->check(CLI::Range(least, most));
  option_->check(CLI::Validator([](std::string& text) { return std::string(std::isnan(std::strtod(text.c_str(), nullptr)) ? "needs a number" : ""); }, ""));
  return *this;
}

Option& Option::Bytes() {
  auto check = [](std::string& text) {
    const bool number = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
    return number && text.find_first_not_of('0') != std::string::npos ? std::string() : Cat("needs a number of bytes such as 512M or 2G, found '", text, "'");
  };
  option_->transform(CLI::AsSizeValue(false));
  option_->check(CLI::Validator(check, ""));
  return *this;
}

namespace {

/// Digits alone, few enough for an int64_t.
bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Option& Option::Index() {
  auto check = [](std::string& text) {
    return IsNumber(text) ? std::string() : Cat("needs a number, 0 or more, found '", text, "'");
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
}

Option& Option::CountOfRuns() {
  auto check = [](std::string& text) {
    return IsNumber(text) && text[0] != '0' ? std::string() : Cat("needs a number of runs, 1 or more, found '", text, "'");
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
}

Option& Option::EndsIn(std::vector<std::string> endings) {
  auto check = [endings = std::move(endings)](std::string& path) {
    std::string known;
    for (const std::string& ending : endings) {
      if (path.size() > ending.size() && path.ends_with(ending)) return std::string();
      known += Cat(known.empty() ? "" : " or ", ending);
    }
    return Cat("needs a file name that ends in ", known, ", found '", path, "'");
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
}

Option& Option::NoOtherPicture() {
  auto check = [](std::string& path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (ending.empty() || ending == ".svg") return std::string();
    return Cat("writes SVG, and needs a file name that ends in .svg, found '", path, "'; rsvg-convert page.svg -o page.png makes a .png of it");
  };
  option_->check(CLI::Validator(check, ""));
  return *this;
}

Option& Option::Needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::Excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Option Command::Add(const char* name, std::string& value, const char* help) { return Option(app_->add_option(name, value, help)); }
Option Command::Add(const char* name, std::vector<std::string>& values, const char* help) { return Option(app_->add_option(name, values, help)); }
Option Command::Add(const char* name, int& value, const char* help) { return Option(app_->add_option(name, value, help)); }
Option Command::Add(const char* name, int64_t& value, const char* help) { return Option(app_->add_option(name, value, help)); }
Option Command::Add(const char* name, double& value, const char* help) { return Option(app_->add_option(name, value, help)); }
Option Command::AddFlag(const char* name, bool& value, const char* help) { return Option(app_->add_flag(name, value, help)); }

Command Program::Add(const char* name, const char* summary, const char* examples, std::function<int()> run) {
  CLI::App* command = app_.add_subcommand(name, summary);
  command->footer(std::string("Examples:\n") + examples);
  command->callback([run = std::move(run), &status = status_] { status = run(); });
  return Command(command);
}

}  // namespace weft::cli
