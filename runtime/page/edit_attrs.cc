#include "runtime/page/edit_attrs.h"

#include "runtime/block/attr_settings.h"
#include "runtime/page/json_text.h"
#include "runtime/page/settings.h"

namespace weft::page {
namespace {

/// Receives the events of one JSON value and keeps the first fault.
class ValueSink : public JsonSink {
 public:
  void Fault(Status status) override { Keep(std::move(status)); }
  Status TakeFault() { return std::move(fault_); }

 protected:
  void Keep(Status status) {
    if (fault_.ok()) fault_ = std::move(status);
  }

 private:
  Status fault_;
};

Status Walk(ValueSink& sink, std::string_view json) {
  JsonWalk walk(sink);
  const bool whole = walk.Run(json);
  WEFT_RETURN_IF_ERROR(sink.TakeFault());
  return whole ? Status() : InvalidArgument("needs JSON, found ", internal::FoundText(json));
}

/// Records the values directly inside an object or array, each as text.
class PartsSink : public ValueSink {
 public:
  explicit PartsSink(bool object) : object_(object) {}

  void Scalar(JsonScalar& value) override {
    if (depth_ == 0) return Refuse(KindName(value));
    recorder_.Scalar(value);
    EndPart();
  }
  void Start(bool object) override {
    if (depth_++ > 0) return recorder_.Start(object);
    if (object != object_) Refuse(object ? "an object" : "an array");
  }
  void Key(std::string& key) override {
    if (depth_ > 1) return recorder_.Key(key);
    parts.emplace_back().key = std::move(key);
  }
  void End(bool object) override {
    if (--depth_ == 0) return;
    recorder_.End(object);
    EndPart();
  }

  std::vector<JsonMember> parts;

 private:
  void Refuse(std::string_view found) { Keep(InvalidArgument("needs ", object_ ? "an object" : "an array", ", found ", found)); }
  void EndPart() {
    if (depth_ > 1 || !recorder_.complete()) return;
    if (!object_) parts.emplace_back();
    if (!parts.empty()) parts.back().value = recorder_.Take();
  }

  bool object_;
  int depth_ = 0;
  JsonRecorder recorder_;
};

class SettingsSink : public ValueSink {
 public:
  void Scalar(JsonScalar& value) override {
    if (depth_ == 0) return Keep(InvalidArgument("attributes need an object, found ", KindName(value)));
    Keep(reader_.Scalar(value));
  }
  void Start(bool object) override {
    if (depth_++ == 0 && !object) return Keep(InvalidArgument("attributes need an object, found an array"));
    Keep(reader_.Start(object));
  }
  void Key(std::string& key) override { reader_.Key(key); }
  void End(bool) override {
    --depth_;
    reader_.End();
  }
  std::string Take() { return reader_.Take(); }

 private:
  SettingsReader reader_;
  int depth_ = 0;
};

class StringSink : public ValueSink {
 public:
  void Scalar(JsonScalar& value) override {
    if (value.kind == JsonScalar::Kind::kString) text = std::move(*value.text);
    else Keep(InvalidArgument("needs a string, found ", KindName(value)));
  }
  void Start(bool object) override { Keep(InvalidArgument("needs a string, found ", object ? "an object" : "an array")); }
  void Key(std::string&) override {}
  void End(bool) override {}

  std::string text;
};

/// The object with one member changed, removed, or added at its end.
Result<std::string> WithMember(std::string_view object, std::string_view attr, std::string_view value) {
  if (attr.size() > 1 && attr.back() == '_') attr.remove_suffix(1);
  WEFT_ASSIGN_OR_RETURN(std::vector<JsonMember> members, JsonMembers(object));
  std::string text;
  bool found = false;
  for (const JsonMember& member : members) {
    const bool meant = !found && internal::NamesAttr(member.key, attr);
    found |= meant;
    if (!meant) AppendMember(text, member.key, member.value);
    else if (!value.empty()) AppendMember(text, member.key, value);
  }
  if (!found && value.empty()) return NotFound("the attribute '", attr, "' is not given, so that it has its default already");
  if (!found) AppendMember(text, attr, value);
  return Cat("{", text, "}");
}

}  // namespace

Result<std::vector<JsonMember>> JsonMembers(std::string_view json) {
  PartsSink sink(true);
  WEFT_RETURN_IF_ERROR(Walk(sink, json));
  return std::move(sink.parts);
}

Result<std::vector<std::string>> JsonElements(std::string_view json) {
  PartsSink sink(false);
  WEFT_RETURN_IF_ERROR(Walk(sink, json));
  std::vector<std::string> elements;
  for (JsonMember& part : sink.parts) elements.push_back(std::move(part.value));
  return elements;
}

Result<std::string> AttrsOfObject(std::string_view json) {
  SettingsSink sink;
  WEFT_RETURN_IF_ERROR(Walk(sink, json));
  return sink.Take();
}

Result<std::string> JsonString(std::string_view json) {
  StringSink sink;
  WEFT_RETURN_IF_ERROR(Walk(sink, json));
  return std::move(sink.text);
}

Result<SetAttrs> WithAttr(const PageBlock& block, const SetAttr& edit) {
  if (!edit.json.empty() && !edit.text.empty()) return InvalidArgument("needs the value as JSON or as text, found both");
  if (!edit.json.empty()) {
    auto values = JsonElements(Cat("[", edit.json, "]"));
    if (!values.ok() || values->size() != 1) return InvalidArgument("needs one JSON value, found ", internal::FoundText(edit.json));
  }
  SetAttrs attrs{block.id, true, block.attrs, block.attrs_object, block.type.empty() || block.id.empty()};
  if (!block.attrs_object.empty() && edit.text.empty()) {
    WEFT_ASSIGN_OR_RETURN(attrs.attrs_object, WithMember(block.attrs_object, edit.attr, edit.json));
    WEFT_ASSIGN_OR_RETURN(attrs.attrs, AttrsOfObject(attrs.attrs_object));
    return attrs;
  }
  attrs.attrs_object.clear();
  std::optional<std::string> value;
  if (!edit.text.empty()) value = edit.text;
  if (!edit.json.empty()) {
    // The text of the value: that of an attribute object with this one member.
    std::string member;
    AppendMember(member, "v", edit.json);
    WEFT_ASSIGN_OR_RETURN(const std::string setting, AttrsOfObject(Cat("{", member, "}")));
    internal::Settings settings(setting);
    internal::Setting only;
    if (!settings.Next(only)) return InvalidArgument("needs a value, found ", internal::FoundText(edit.json));
    value = only.value;
  }
  WEFT_ASSIGN_OR_RETURN(attrs.attrs, internal::WithSetting(block.attrs, edit.attr, value));
  return attrs;
}

}  // namespace weft::page
