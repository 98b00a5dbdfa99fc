#include "runtime/cases/json_tree.h"

#include <limits>

#include "runtime/page/json_text.h"
#include "runtime/page/json_walk.h"

namespace weft::cases {

/// Takes the events of the reader.
class JsonTree::Builder final : public page::JsonSink {
 public:
  Builder(JsonTree& tree, const std::string& file, Diagnostics& report) : tree_(tree), file_(file), report_(report) {}

  void Scalar(page::JsonScalar& given) override {
    using Given = page::JsonScalar::Kind;
    const size_t at = Begin();
    Value& value = tree_.values_[at];
    switch (given.kind) {
      case Given::kNull: tree_.json_ += "null"; break;
      case Given::kBool:
        value.kind = Kind::kBool;
        value.boolean = given.boolean;
        tree_.json_ += given.boolean ? "true" : "false";
        break;
      case Given::kInteger:
        SetInteger(value, given.integer);
        tree_.json_ += given.integer == 0 ? "-0" : std::to_string(given.integer);
        break;
      case Given::kUnsigned:
        if (given.unsigned_value <= std::numeric_limits<int64_t>::max()) SetInteger(value, static_cast<int64_t>(given.unsigned_value));
        else SetReal(value, static_cast<double>(given.unsigned_value));
        tree_.json_ += std::to_string(given.unsigned_value);
        break;
      case Given::kFloat:
        SetReal(value, given.real);
        tree_.json_ += *given.text;
        break;
      case Given::kString:
        value.kind = Kind::kString;
        value.text_begin = tree_.texts_.size();
        tree_.texts_ += *given.text;
        value.text_end = tree_.texts_.size();
        page::AppendJsonString(tree_.json_, *given.text);
        break;
    }
    End(at);
  }

  void Start(bool object) override {
    const size_t at = Begin();
    tree_.values_[at].kind = object ? Kind::kObject : Kind::kList;
    tree_.json_ += object ? '{' : '[';
    open_.push_back({at, 0});
  }

  void Key(std::string& key) override {
    key_begin_ = tree_.texts_.size();
    tree_.texts_ += key;
  }

  void End(bool object) override {
    const size_t at = open_.back().value;
    open_.pop_back();
    tree_.json_ += object ? '}' : ']';
    End(at);
  }

  void Fault(Status status) override { report_.Error(std::move(status).WithPage(file_)); }

 private:
  struct Open {
    size_t value, last;  // the last value in it; 0: none
  };

  static void SetInteger(Value& value, int64_t number) {
    value.kind = Kind::kInteger;
    value.integer = number;
    value.real = static_cast<double>(number);
  }
  static void SetReal(Value& value, double number) {
    value.kind = Kind::kReal;
    value.real = number;
  }

  /// Adds a value to the list or object that is open, under the last key.
  size_t Begin() {
    const size_t at = tree_.values_.size();
    Value& value = tree_.values_.emplace_back();
    if (!open_.empty()) {
      Open& parent = open_.back();
      if (parent.last != 0) {
        tree_.values_[parent.last].next = at;
        tree_.json_ += ',';
      }
      parent.last = at;
      if (tree_.values_[parent.value].kind == Kind::kObject) {
        value.key_begin = key_begin_;
        value.key_end = tree_.texts_.size();
        page::AppendJsonString(tree_.json_, tree_.Key(at));
        tree_.json_ += ':';
      }
    }
    value.json_begin = tree_.json_.size();
    return at;
  }
  void End(size_t at) { tree_.values_[at].json_end = tree_.json_.size(); }

  JsonTree& tree_;
  const std::string& file_;
  Diagnostics& report_;
  std::vector<Open> open_;
  size_t key_begin_ = 0;
};

JsonTree JsonTree::Read(std::string_view json, const std::string& file, Diagnostics& report) {
  JsonTree tree;
  Builder builder(tree, file, report);
  if (!page::JsonWalk(builder).Run(json) || report.has_errors()) return {};
  return tree;
}

size_t JsonTree::Member(size_t object, std::string_view key) const {
  if (values_[object].kind != Kind::kObject) return 0;
  for (size_t i = First(object); i != 0; i = values_[i].next) {
    if (Key(i) == key) return i;
  }
  return 0;
}

}  // namespace weft::cases
