// enuSpace's runtime JSON -> Page.
#include <array>
#include <utility>

#include "runtime/page/formats.h"
#include "runtime/page/imported.h"
#include "runtime/page/json_walk.h"

namespace weft::page {
namespace {

/// A pin with the wire into it.
struct WiredPin : Pin {
  std::string from_id, from_pin;  // empty: no wire
  std::string interface;          // "Scope": not an input of the block
};

class RuntimeReader : public JsonSink {
 public:
  RuntimeReader(const ReadOptions& options, ReadPageResult& result)
      : report_(result.diagnostics, options.name), importer_(options, result.page, report_), page_(result.page), walk_(*this) {}

  void Read(std::string_view text) {
    page_.complete = walk_.Run(text);
    report_.EndBlock("");
    importer_.Finish();
  }

  void Scalar(JsonScalar& value) override;
  void Start(bool object) override;
  void Key(std::string& key) override {
    if (state_ != State::kSkip) key_ = std::move(key);
  }
  void End(bool object) override;
  void Fault(Status status) override {
    const std::string pointer = walk_.pointer();
    report_.Error(std::move(status), pointer, pin_.name);
  }

 private:
  enum class State : uint8_t { kRoot, kPage, kObjects, kObject, kInputs, kOutputs, kPin, kSkip };

  void WrongKind(std::string_view needed, std::string_view found) {
    report_.Error(InvalidArgument("needs ", needed, ", found ", found), walk_.pointer(), pin_.name);
  }
  void PinField(std::string text);
  void EndObject();
  void EndPin();
  std::string_view Needed() const;

  Report report_;
  Importer importer_;
  Page& page_;
  JsonWalk walk_;
  State state_ = State::kRoot;
  State after_ = State::kRoot;
  int depth_ = 0;
  bool is_input_ = false;
  std::string key_;
  size_t block_ = 0;
  size_t first_recorded_ = 0;  // of the current object
  bool has_id_ = false, has_symbol_ = false;
  WiredPin pin_;
};

std::string_view RuntimeReader::Needed() const {
  switch (state_) {
    case State::kRoot: return "a page, which is an object";
    case State::kPage:
    case State::kObject: return "a list";
    case State::kPin: return "a string";
    default: return "an object";
  }
}

void RuntimeReader::PinField(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string Pin::*>, 5> kFields = {{
      {"pin-name", &Pin::name},
      {"pin-type", &Pin::type},
      {"pin-shape", &Pin::shape},
      {"pin-initial", &Pin::text},
      {"pin-binary-pos", &Pin::binary_position},
  }};
  for (const auto& [name, field] : kFields) {
    if (key_ == name) {
      pin_.*field = std::move(text);
      return;
    }
  }
  if (key_ == "pin-save") pin_.binary = text == "binary";
  else if (key_ == "pin-interface") pin_.interface = std::move(text);
  else if (key_ == "in-symbol-id") pin_.from_id = std::move(text);
  else if (key_ == "in-symbol-pin-name") pin_.from_pin = std::move(text);
}

void RuntimeReader::Scalar(JsonScalar& value) {
  const bool string = value.kind == JsonScalar::Kind::kString;
  if (state_ == State::kSkip || (state_ == State::kPage && key_ != "object")) return;
  if (state_ == State::kPin) {
    if (string) return PinField(std::move(*value.text));
    if (value.kind == JsonScalar::Kind::kNull) return;
    if (value.kind == JsonScalar::Kind::kBool) return PinField(value.boolean ? "true" : "false");
    if (value.kind == JsonScalar::Kind::kFloat) return PinField(std::move(*value.text));
    return PinField(value.kind == JsonScalar::Kind::kUnsigned ? std::to_string(value.unsigned_value) : std::to_string(value.integer));
  }
  if (state_ != State::kObject || key_ == "input" || key_ == "output") return WrongKind(Needed(), KindName(value));
  if (key_ != "id" && key_ != "symbol-name") return;
  has_id_ |= key_ == "id";
  has_symbol_ |= key_ == "symbol-name";
  if (!string) {
    page_.blocks[block_].faulty = true;
    return WrongKind("a string", KindName(value));
  }
  if (key_ == "id") {
    page_.blocks[block_].id = std::move(*value.text);
    CheckId(report_, page_.blocks[block_].id, walk_.pointer(), true);
  } else {
    importer_.SetType(block_, *value.text);
    if (Status status = CheckName("a symbol", page_.blocks[block_].type); !status.ok()) {
      page_.blocks[block_].faulty = true;
      report_.Error(std::move(status), walk_.pointer());
    }
  }
}

void RuntimeReader::Start(bool object) {
  const State before = state_;
  switch (state_) {
    case State::kRoot:
      if (object) state_ = State::kPage;
      break;
    case State::kPage:
      if (!object && key_ == "object") state_ = State::kObjects;
      break;
    case State::kObjects:
      if (!object) break;
      report_.EndBlock("");
      state_ = State::kObject;
      block_ = importer_.AddBlock(walk_.pointer());
      first_recorded_ = page_.recorded.size();
      has_id_ = has_symbol_ = false;
      break;
    case State::kObject:
      if (object || (key_ != "input" && key_ != "output")) break;
      is_input_ = key_ == "input";
      state_ = is_input_ ? State::kInputs : State::kOutputs;
      break;
    case State::kInputs:
    case State::kOutputs:
      if (!object) break;
      state_ = State::kPin;
      pin_ = {};
      break;
    case State::kPin: break;
    case State::kSkip: ++depth_; return;
  }
  if (state_ != before) return;
  const bool unknown = (state_ == State::kPage && key_ != "object") ||
                       (state_ == State::kObject && key_ != "input" && key_ != "output" && key_ != "id" && key_ != "symbol-name");
  if (!unknown)
    WrongKind(state_ == State::kObject && (key_ == "id" || key_ == "symbol-name") ? "a string" : Needed(),
              object ? "an object" : "an array");
  if (state_ == State::kObject) {
    has_id_ |= key_ == "id";
    has_symbol_ |= key_ == "symbol-name";
  }
  after_ = state_;
  state_ = State::kSkip;
  depth_ = 1;
}

void RuntimeReader::EndPin() {
  const std::string pointer = walk_.pointer();
  if (pin_.name.empty()) {
    report_.Error(InvalidArgument("a pin needs a \"pin-name\""), pointer);
  } else if (!is_input_) {
    importer_.AddRecorded(block_, pin_, pointer);
  } else if (pin_.interface != "Scope") {
    importer_.InputOf(block_, pin_.name);
    if (pin_.from_id.empty()) importer_.AddValue(block_, pin_, pointer);
    else importer_.AddWire(block_, pin_.name, pin_.from_id, pin_.from_pin, pointer);
  }
  pin_.name.clear();
  state_ = is_input_ ? State::kInputs : State::kOutputs;
}

void RuntimeReader::EndObject() {
  if (!has_id_) report_.Error(InvalidArgument("a block needs an \"id\""), walk_.pointer());
  page_.blocks[block_].faulty |= !has_symbol_;
  if (!has_symbol_) report_.Error(InvalidArgument("a block needs a \"symbol-name\"").WithHint("for example \"#MatMul\""), walk_.pointer());
  // The id may have come after the pins.
  for (size_t i = first_recorded_; i < page_.recorded.size(); ++i) page_.recorded[i].block = page_.blocks[block_].id;
  report_.EndBlock(page_.blocks[block_].id);
  state_ = State::kObjects;
}

void RuntimeReader::End(bool) {
  switch (state_) {
    case State::kRoot: return;
    case State::kPage: state_ = State::kRoot; return;
    case State::kObjects: state_ = State::kPage; return;
    case State::kObject: return EndObject();
    case State::kInputs:
    case State::kOutputs: state_ = State::kObject; return;
    case State::kPin: return EndPin();
    case State::kSkip:
      if (--depth_ == 0) state_ = after_;
  }
}

}  // namespace

void ReadRuntimePage(std::string_view text, const ReadOptions& options, ReadPageResult& result) {
  result.page.format = Page::Format::kEnuSpaceRuntime;
  result.page.name = PageStem(options.name);
  RuntimeReader(options, result).Read(text);
}

}  // namespace weft::page
