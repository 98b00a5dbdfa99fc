#include "weft/cases/case_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "runtime/cases/json_tree.h"
#include "runtime/page/json_walk.h"
#include "weft/page/reader.h"

namespace weft::cases {
namespace {

using Kind = JsonTree::Kind;

std::string_view KindOf(const JsonTree::Value& value) {
  switch (value.kind) {
    case Kind::kObject: return "an object";
    case Kind::kList: return "a list";
    case Kind::kString: return "a string";
    case Kind::kBool: return "true or false";
    case Kind::kNull: return "null";
    default: return "a number";
  }
}

/// A JSON value with its pointer; adds findings to `report`.
class JsonNode {
 public:
  JsonNode(const JsonTree& tree, size_t at, std::string pointer, const std::string& file, Diagnostics& report)
      : tree_(tree), at_(at), pointer_(std::move(pointer)), file_(file), report_(report) {}
  /// The same value, whose findings go elsewhere.
  JsonNode(const JsonNode& node, Diagnostics& report) : JsonNode(node.tree_, node.at_, node.pointer_, node.file_, report) {}

  std::string_view json() const { return tree_.Json(at_); }
  const std::string& pointer() const { return pointer_; }
  bool is_list() const { return value().kind == Kind::kList; }
  bool is_object() const { return value().kind == Kind::kObject; }

  void Error(Status status) const { report_.Error(Status(status.code(), status.message()).WithPage(file_).WithPointer(pointer_ + status.place().pointer)); }
  void Warning(Status status) const { report_.Warning(std::move(status).WithPage(file_).WithPointer(pointer_)); }
  bool Needs(bool right, std::string_view needed) const {
    if (!right) Error(InvalidArgument("needs ", needed, ", found ", KindOf(value())));
    return right;
  }

  bool has(std::string_view key) const { return tree_.Member(at_, key) != 0; }
  /// A member that is there.
  JsonNode at(std::string_view key) const { return {tree_, tree_.Member(at_, key), Pointer(key), file_, report_}; }
  template <class F>
  void EachMember(F&& f) const {
    if (!Needs(is_object(), "an object")) return;
    for (size_t i = tree_.First(at_); i != 0; i = tree_.value(i).next) {
      f(std::string(tree_.Key(i)), JsonNode(tree_, i, Pointer(tree_.Key(i)), file_, report_));
    }
  }
  template <class F>
  void EachElement(F&& f) const {
    if (!Needs(is_list(), "a list")) return;
    size_t index = 0;
    for (size_t i = tree_.First(at_); i != 0; i = tree_.value(i).next)
      f(JsonNode(tree_, i, Pointer(std::to_string(index++)), file_, report_));
  }
  /// Warns of unknown members.
  void CheckKeys(std::initializer_list<std::string_view> known) const {
    if (!is_object()) return;
    for (size_t i = tree_.First(at_); i != 0; i = tree_.value(i).next) {
      const std::string_view key = tree_.Key(i);
      if (std::ranges::find(known, key) != known.end()) continue;
      Status status = InvalidArgument("the key '", key, "' means nothing here");
      report_.Warning(std::move(status).WithPage(file_).WithPointer(Pointer(key)).WithHint(DidYouMean(key.substr(0, 60), known)));
    }
  }

  std::string Text() const { return Needs(value().kind == Kind::kString, "a string") ? std::string(tree_.Text(at_)) : std::string(); }
  bool Bool() const { return Needs(value().kind == Kind::kBool, "true or false") && value().boolean; }
  double Real() const { return Needs(value().kind == Kind::kInteger || value().kind == Kind::kReal, "a number") ? value().real : 0; }
  std::optional<int64_t> Integer() const {
    return Needs(value().kind == Kind::kInteger, "a whole number") ? std::optional(value().integer) : std::nullopt;
  }

 private:
  const JsonTree::Value& value() const { return tree_.value(at_); }
  std::string Pointer(std::string_view token) const {
    std::string pointer = pointer_;
    page::AppendPointer(pointer, token);
    return pointer;
  }

  const JsonTree& tree_;
  size_t at_;
  std::string pointer_;
  const std::string& file_;
  Diagnostics& report_;
};

Tensor ReadValue(const JsonNode& node) {
  if (!node.Needs(node.is_object(), "a tensor {dtype, shape, values}")) return {};
  auto tensor = ReadTensor(node.json());
  if (tensor.ok()) return std::move(*tensor);
  node.Error(tensor.status());
  return {};
}

/// A tensor whose values may be absent.
ExpectedValue ReadExpected(const JsonNode& node) {
  ExpectedValue expected;
  if (node.has("values") || !node.has("dtype") || !node.has("shape")) {
    expected.tensor = ReadValue(node);
    expected.dtype = expected.tensor.dtype();
    expected.shape = expected.tensor.shape();
    return expected;
  }
  node.CheckKeys({"dtype", "shape"});
  if (auto dtype = DTypeFromName(node.at("dtype").Text())) expected.dtype = *dtype;
  else node.at("dtype").Error(InvalidArgument("needs a type such as DT_FLOAT"));
  std::vector<int64_t> dims;
  node.at("shape").EachElement([&](const JsonNode& size) {
    if (const auto dim = size.Integer()) dims.push_back(*dim);
  });
  auto shape = Shape::Make(dims);
  if (shape.ok()) expected.shape = std::move(*shape);
  else node.at("shape").Error(shape.status());
  return expected;
}

std::optional<ExpectedError> ReadError(const JsonNode& node) {
  ExpectedError error;
  if (!node.Needs(node.is_object(), "an object")) return error;
  node.CheckKeys({"code", "port"});
  auto code = node.has("code") ? CodeFromName(node.at("code").Text()) : std::nullopt;
  if (code && *code != Code::kOk) error.code = *code;
  else node.Error(InvalidArgument("needs a code such as invalid_argument"));
  if (node.has("port")) error.port = node.at("port").Text();
  return error;
}

void ReadExpectation(const JsonNode& node, Expectation& expected) {
  if (node.has("outputs"))
    node.at("outputs").EachMember([&](const std::string& port, const JsonNode& value) { expected.outputs[port] = ReadExpected(value); });
  if (node.has("error")) expected.error = ReadError(node.at("error"));
}

CaseInput ReadInput(const JsonNode& node) {
  CaseInput input;
  input.list = node.is_list();
  if (input.list) node.EachElement([&](const JsonNode& element) { input.values.push_back(ReadValue(element)); });
  else input.values.push_back(ReadValue(node));
  return input;
}

Step ReadStep(const JsonNode& node) {
  Step step;
  if (!node.Needs(node.is_object(), "an object")) return step;
  node.CheckKeys({"fetch", "run", "feed", "outputs", "error"});
  if (node.has("fetch")) node.at("fetch").EachElement([&](const JsonNode& wire) { step.fetch.push_back(wire.Text()); });
  if (node.has("run")) node.at("run").EachElement([&](const JsonNode& id) { step.run.push_back(id.Text()); });
  if (node.has("feed"))
    node.at("feed").EachMember([&](const std::string& wire, const JsonNode& value) { step.feed[wire] = ReadValue(value); });
  ReadExpectation(node, step.expected);
  return step;
}

/// The page of a case as a document of its own.
std::string PageText(const JsonNode& node, std::string_view name) {
  if (!node.Needs(node.is_object(), "an object")) return "{}";
  std::string text = "{";
  if (!node.has("weft")) text += "\"weft\":1,";
  if (!node.has("page")) text += Cat("\"page\":\"", name, "\",");
  text += node.json().substr(1);
  if (text.ends_with(",}")) text.erase(text.size() - 2, 1);  // it has no members of its own
  return text;
}

void ReadLimits(const JsonNode& node, RandomLimits& limits) {
  const auto take = [&](const char* name, const char* first, std::optional<double>& to_first, const char* second, std::optional<double>& to_second) {
    if (!node.has(name)) return;
    const JsonNode from = node.at(name);
    if (!from.Needs(from.is_object(), "an object")) return;
    from.CheckKeys({first, second});
    if (from.has(first)) to_first = from.at(first).Real();
    if (from.has(second)) to_second = from.at(second).Real();
  };
  take("range", "min", limits.minimum, "max", limits.maximum);
  take("distribution", "mean", limits.mean, "stddev", limits.deviation);
}

void ReadTolerance(const JsonNode& node, Tolerance& tolerance) {
  if (!node.Needs(node.is_object(), "an object")) return;
  node.CheckKeys({"relative", "absolute"});
  if (node.has("relative")) tolerance.relative = node.at("relative").Real();
  if (node.has("absolute")) tolerance.absolute = node.at("absolute").Real();
}

void ReadCase(const JsonNode& node, TestCase& test) {
  if (!node.Needs(node.is_object(), "an object")) return;
  node.CheckKeys({"name", "attrs", "inputs", "outputs", "variables", "error", "page", "steps", "tolerance", "shape_only", "range", "distribution",
                  "source_note"});
  if (node.has("name")) test.name = node.at("name").Text();
  if (node.has("source_note")) test.source_note = node.at("source_note").Text();
  if (node.has("attrs")) test.attrs = node.at("attrs").Text();
  if (node.has("inputs"))
    node.at("inputs").EachMember([&](const std::string& port, const JsonNode& value) { test.inputs[port] = ReadInput(value); });
  if (node.has("variables")) {
    node.at("variables").EachMember([&](const std::string& port, const JsonNode& value) { test.variables[port] = ReadExpected(value); });
  }
  ReadExpectation(node, test.expected);
  if (node.has("page")) test.page = PageText(node.at("page"), "case");
  if (node.has("steps")) node.at("steps").EachElement([&](const JsonNode& step) { test.steps.push_back(ReadStep(step)); });
  if (node.has("tolerance")) ReadTolerance(node.at("tolerance"), test.tolerance);
  if (node.has("shape_only")) test.shape_only = node.at("shape_only").Bool();
  ReadLimits(node, test.limits);
  if (!test.is_page() && test.block.empty()) node.Error(InvalidArgument("needs a page, or a block in the file"));
  if (test.is_page() && test.steps.empty() && !test.expected.error) node.Error(InvalidArgument("needs steps"));
  if (!test.is_page() && !node.has("outputs") && !node.has("variables") && !node.has("error")) {
    node.Warning(InvalidArgument("the case has neither outputs, variables nor an error: it tests only that the block runs"));
  }
  if (!test.is_page() && !test.steps.empty()) node.Error(InvalidArgument("needs a page for its steps"));
  for (const char* key : {"attrs", "inputs", "outputs", "variables", "range", "distribution"}) {
    if (test.is_page() && node.has(key)) node.at(key).Error(InvalidArgument("is of a case of one block: a page's outputs stand in its steps"));
  }
}

void ReadDocument(const JsonTree& tree, const std::string& name, CaseFile& file) {
  const JsonNode root(tree, 0, "", name, file.diagnostics);
  if (!root.Needs(root.is_object(), "an object with cases")) return;
  root.CheckKeys({"block", "source", "cases"});
  std::string block = root.has("block") ? root.at("block").Text() : "";
  if (!root.has("cases")) return root.Error(InvalidArgument("needs a list of cases"));
  root.at("cases").EachElement([&](const JsonNode& element) {
    TestCase& test = file.cases.emplace_back();
    test.file = name;
    test.pointer = element.pointer();
    test.block = block;
    Diagnostics found;
    ReadCase(JsonNode(element, found), test);
    if (found.has_errors()) test.fault = ToString(found.FirstError());
    file.diagnostics.Append(std::move(found));
  });
}

}  // namespace

namespace {

/// Adds the case files and the folders in a folder; 0 or an errno. (The standard library's walks end the program where they lack memory.)
int ListFolder(const std::filesystem::path& folder, std::vector<std::filesystem::path>& files, std::vector<std::filesystem::path>& folders) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  if (listing == nullptr) return errno;
  for (errno = 0; const dirent* entry = ::readdir(listing.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const bool is_case_file = name.ends_with(".cases.json");
    struct stat info {};
    if (::fstatat(::dirfd(listing.get()), entry->d_name, &info, is_case_file ? 0 : AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (is_case_file && S_ISREG(info.st_mode)) files.push_back(folder / name);
    if (!S_ISDIR(info.st_mode)) continue;
    // (A link to a folder is not followed, whatever its name.)
    if (::fstatat(::dirfd(listing.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) folders.push_back(folder / name);
  }
  return errno;
}

}  // namespace

CaseFile ReadCases(std::string_view json, const std::string& name) {
  CaseFile file;
  const JsonTree tree = JsonTree::Read(json, name, file.diagnostics);
  if (!tree.empty()) ReadDocument(tree, name, file);
  return file;
}

CaseFile ReadCaseFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (in.is_open() && !in.bad()) return ReadCases(text, path.string());
  CaseFile file;
  file.diagnostics.Error(NotFound("the file cannot be read").WithPage(path.string()));
  return file;
}

Result<std::vector<std::filesystem::path>> FindCaseFiles(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (!std::filesystem::exists(there)) {
    const bool hidden = there.type() == std::filesystem::file_type::none;  // what lies before it cannot be searched
    return (hidden ? PermissionDenied("cannot be found: ", error.message()) : NotFound("there is no such file or folder")).WithPage(path.string());
  }
  if (std::filesystem::is_regular_file(there)) return std::vector{path};
  if (!std::filesystem::is_directory(there)) return InvalidArgument("needs a file or a folder, found a device or pipe").WithPage(path.string());
  std::vector<std::filesystem::path> folders = {path};
  while (!folders.empty()) {
    const std::filesystem::path folder = std::move(folders.back());
    folders.pop_back();
    if (const int failed = ListFolder(folder, files, folders); failed != 0) {
      return NotFound("the folder cannot be read: ", std::generic_category().message(failed)).WithPage(path.string());
    }
  }
  if (files.empty()) return NotFound("no case files (NAME.cases.json) here").WithPage(path.string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace weft::cases
