// Weft's own JSON -> Page.
#include <algorithm>
#include <limits>

#include "runtime/page/formats.h"
#include "runtime/page/literal_reader.h"
#include "runtime/page/settings.h"

namespace weft::page {
namespace {

// An estimate of the number of blocks, to reserve memory: canonical pages have one block a line.
size_t GuessBlocks(std::string_view text) {
  constexpr ptrdiff_t kMost = 1 << 20;
  return static_cast<size_t>(std::min(kMost, std::count(text.begin(), text.end(), '\n')));
}

class WeftReader : public JsonSink {
 public:
  WeftReader(const ReadOptions& options, ReadPageResult& result)
      : options_(options),
        result_(result),
        page_(result.page),
        report_(result.diagnostics, options.name),
        walk_(*this),
        literal_(report_, walk_, options) {}

  void Read(std::string_view text) {
    const size_t blocks = GuessBlocks(text);
    page_.blocks.reserve(blocks);
    ids_.Reserve(blocks);
    const bool complete = page_.complete = walk_.Run(text);
    report_.EndBlock(id_);
    if (newer_) return;
    if (complete && object_) {
      if (!has_version_) Error(InvalidArgument("a page needs the key \"weft\" with the number of its format").WithHint("add \"weft\": 1"));
      if (!has_blocks_) Error(InvalidArgument("a page needs the key \"blocks\" with a list of blocks"));
    }
    if (!has_name_) page_.name = PageStem(options_.name);
    ids_.ReportRepeated(report_, page_);
  }

  void Scalar(JsonScalar& value) override;
  void Start(bool object) override;
  void Key(std::string& key) override;
  void End(bool object) override;
  void Fault(Status status) override {
    const std::string pointer = walk_.pointer();
    report_.Error(std::move(status), pointer, port_);
    if (state_ == State::kBlock) block().faulty = true;
  }

 private:
  enum class State : uint8_t { kRoot, kPage, kBlocks, kBlock, kInputs, kInputList, kLiteral, kRecord, kSettings, kLayout, kSkip };

  PageBlock& block() { return page_.blocks.back(); }
  void Error(Status status);
  void WrongKind(std::string_view needed, std::string_view found) { Error(InvalidArgument("needs ", needed, ", found ", found)); }
  static std::string_view Name(bool object) { return object ? "an object" : "an array"; }

  void PageScalar(JsonScalar& value);
  void BlockScalar(JsonScalar& value);
  void InputScalar(JsonScalar& value);
  void Version(const JsonScalar& value);
  void StartPageMember(bool object);
  void StartBlock(bool object);
  void StartBlockMember(bool object);
  void StartInput(bool object);
  void BeginRecord(State state, State after, bool object);
  void EndRecord();
  void EndBlock();
  void AddItem(InputItem item) { block().inputs.back().items.push_back(std::move(item)); }
  void Skip(State after) {
    state_ = State::kSkip;
    after_ = after;
    depth_ = 1;
  }

  const ReadOptions& options_;
  ReadPageResult& result_;
  Page& page_;
  Report report_;
  JsonWalk walk_;
  LiteralReader literal_;
  JsonRecorder recorder_;
  SettingsReader settings_;
  LayoutReader layout_;
  State state_ = State::kRoot;
  State after_ = State::kRoot;  // the state after the current record, literal or skipped value
  int depth_ = 0;               // open objects and arrays of the value that is recorded or skipped
  std::string key_;
  std::string id_;    // of the current block, for diagnostics
  std::string port_;  // of the current input, for diagnostics
  UniqueIds ids_;
  bool object_ = false, has_version_ = false, has_name_ = false, has_blocks_ = false, newer_ = false;
  bool has_id_ = false, has_type_ = false;
};

void WeftReader::Error(Status status) {
  report_.Error(std::move(status), walk_.pointer(), port_);
  if (state_ == State::kBlock || state_ == State::kSettings) block().faulty = true;
  if ((state_ == State::kInputs || state_ == State::kInputList) && !block().inputs.empty()) block().inputs.back().faulty = true;
}

void WeftReader::Version(const JsonScalar& value) {
  has_version_ = true;
  if (value.kind != JsonScalar::Kind::kUnsigned || value.unsigned_value == 0) {
    return WrongKind("the number of the page format, 1", value.is_number() ? "another number" : KindName(value));
  }
  if (value.unsigned_value <= static_cast<uint64_t>(Page::kVersion)) return;
  newer_ = true;
  Error(Unsupported("the page has format ", value.unsigned_value, "; this version of Weft reads formats up to ", Page::kVersion)
            .WithHint("use a newer version of Weft"));
  walk_.Stop();
}

void WeftReader::PageScalar(JsonScalar& value) {
  if (key_ == "weft") return Version(value);
  if (key_ == "page") {
    has_name_ = value.kind == JsonScalar::Kind::kString;
    if (!has_name_) return WrongKind("a string", KindName(value));
    page_.name = std::move(*value.text);
    if (page_.name.find('\0') != std::string::npos) Error(InvalidArgument("the name of a page needs to be without NUL characters"));
  } else if (key_ == "blocks") {
    has_blocks_ = true;
    WrongKind("a list of blocks", KindName(value));
  } else {
    recorder_.Scalar(value);
    if (key_ == "layout") layout_.Scalar(value);
    after_ = State::kPage;
    EndRecord();
  }
}

void WeftReader::BlockScalar(JsonScalar& value) {
  if (key_ == "inputs") return WrongKind("an object of ports", KindName(value));
  if (key_ != "id" && key_ != "block" && key_ != "attrs") {
    recorder_.Scalar(value);
    after_ = State::kBlock;
    return EndRecord();
  }
  has_id_ |= key_ == "id";
  has_type_ |= key_ == "block";
  if (value.kind != JsonScalar::Kind::kString) return WrongKind(key_ == "attrs" ? "a string or an object" : "a string", KindName(value));
  if (key_ == "id") {
    block().id = std::move(*value.text);
    id_ = block().id;
    if (!IsIdentifier(id_)) CheckId(report_, id_, walk_.pointer(), false);
  } else if (key_ == "block") {
    block().type = std::move(*value.text);
    if (Status status = CheckName("a block type", block().type); !status.ok()) Error(std::move(status));
  } else {
    block().attrs = std::move(*value.text);
    block().has_attrs = true;
  }
}

void WeftReader::InputScalar(JsonScalar& value) {
  if (value.kind != JsonScalar::Kind::kString) {
    return WrongKind("a wire \"ID.port\", a literal {...} or a list of them", KindName(value));
  }
  Result<Wire> wire = ParseWire(*value.text);
  if (wire.ok()) AddItem(std::move(*wire));
  else Error(std::move(wire).status());
}

void WeftReader::Scalar(JsonScalar& value) {
  switch (state_) {
    case State::kRoot: return WrongKind("a page, which is an object", KindName(value));
    case State::kPage: return PageScalar(value);
    case State::kBlocks: return WrongKind("a block, which is an object", KindName(value));
    case State::kBlock: return BlockScalar(value);
    case State::kInputs:
    case State::kInputList: return InputScalar(value);
    case State::kLiteral: return literal_.Scalar(value);
    case State::kRecord: return recorder_.Scalar(value);
    case State::kSettings:
      recorder_.Scalar(value);
      if (Status status = settings_.Scalar(value); !status.ok()) Error(std::move(status));
      return;
    case State::kLayout: recorder_.Scalar(value); return layout_.Scalar(value);
    case State::kSkip: return;
  }
}

void WeftReader::Key(std::string& key) {
  switch (state_) {
    case State::kLiteral: return literal_.Key(key);
    case State::kRecord: return recorder_.Key(key);
    case State::kSettings: settings_.Key(key); return recorder_.Key(key);
    case State::kLayout: layout_.Key(key); return recorder_.Key(key);
    case State::kInputs:
      port_ = key;
      block().inputs.emplace_back();
      if (Status status = CheckName("a port", key); !status.ok()) Error(std::move(status));
      block().inputs.back().port = std::move(key);
      return;
    default: key_ = std::move(key);
  }
}

void WeftReader::BeginRecord(State state, State after, bool object) {
  state_ = state;
  after_ = after;
  depth_ = 1;
  recorder_.Start(object);
}

void WeftReader::EndRecord() {
  if (!recorder_.complete()) return;
  std::string text = recorder_.Take();
  if (after_ == State::kBlock) {
    if (state_ == State::kSettings) {
      block().attrs_object = std::move(text);
      block().attrs = settings_.Take();
      block().has_attrs = true;
    } else {
      AppendMember(block().extra, key_, text);
    }
  } else if (key_ == "layout") {
    page_.has_layout = true;
    if (layout_.regular()) {
      page_.layout = layout_.Take();
    } else {
      report_.Warning(InvalidArgument("the layout is not {\"ID\": [x, y], ...} throughout; it is kept, but not used"), walk_.pointer());
      page_.layout_text = std::move(text);
    }
  } else {
    AppendMember(page_.extra, key_, text, ",\n  ");
  }
  state_ = after_;
}

void WeftReader::StartPageMember(bool object) {
  if (key_ == "blocks") {
    has_blocks_ = true;
    if (!object) {
      state_ = State::kBlocks;
      return;
    }
  } else if (key_ == "layout") {
    BeginRecord(State::kLayout, State::kPage, object);
    return layout_.Start(object);
  } else if (key_ != "weft" && key_ != "page") {
    return BeginRecord(State::kRecord, State::kPage, object);
  }
  has_version_ |= key_ == "weft";
  WrongKind(key_ == "blocks" ? "a list of blocks" : key_ == "weft" ? "the number of the page format, 1" : "a string", Name(object));
  Skip(State::kPage);
}

void WeftReader::StartBlock(bool object) {
  if (!object) {
    WrongKind("a block, which is an object", "an array");
    return Skip(State::kBlocks);
  }
  report_.EndBlock("");  // diagnostics from between blocks
  state_ = State::kBlock;
  has_id_ = has_type_ = false;
  PageBlock& added = page_.blocks.emplace_back();
  if (page_.blocks.size() - 1 != walk_.index()) added.pointer = walk_.pointer();
}

void WeftReader::StartBlockMember(bool object) {
  if (key_ == "inputs" && object) {
    state_ = State::kInputs;
    block().has_inputs = true;
    block().inputs.reserve(2);
  } else if (key_ == "attrs" && object) {
    BeginRecord(State::kSettings, State::kBlock, object);
    if (Status status = settings_.Start(object); !status.ok()) Error(std::move(status));
  } else if (key_ == "id" || key_ == "block" || key_ == "attrs" || key_ == "inputs") {
    has_id_ |= key_ == "id";
    has_type_ |= key_ == "block";
    WrongKind(key_ == "inputs" ? "an object of ports" : key_ == "attrs" ? "a string or an object" : "a string", Name(object));
    Skip(State::kBlock);
  } else {
    BeginRecord(State::kRecord, State::kBlock, object);
  }
}

void WeftReader::StartInput(bool object) {
  if (object) {
    after_ = state_;
    state_ = State::kLiteral;
    return literal_.Begin(port_);
  }
  if (state_ == State::kInputs) {
    block().inputs.back().list = true;
    state_ = State::kInputList;
    return;
  }
  WrongKind("a wire \"ID.port\" or a literal {...}", "a list in a list");
  Skip(State::kInputList);
}

void WeftReader::Start(bool object) {
  switch (state_) {
    case State::kRoot:
      object_ = object;
      if (object) {
        state_ = State::kPage;
        return;
      }
      WrongKind("a page, which is an object", "an array");
      return walk_.Stop();
    case State::kPage: return StartPageMember(object);
    case State::kBlocks: return StartBlock(object);
    case State::kBlock: return StartBlockMember(object);
    case State::kInputs:
    case State::kInputList: return StartInput(object);
    case State::kLiteral: return literal_.Start(object);
    case State::kSettings:
      ++depth_;
      recorder_.Start(object);
      if (Status status = settings_.Start(object); !status.ok()) Error(std::move(status));
      return;
    case State::kLayout: layout_.Start(object); [[fallthrough]];
    case State::kRecord: recorder_.Start(object); [[fallthrough]];
    case State::kSkip: ++depth_;
  }
}

void WeftReader::EndBlock() {
  if (!has_id_) Error(InvalidArgument("a block needs an \"id\""));
  if (!has_type_) Error(InvalidArgument("a block needs the key \"block\" with its type").WithHint("for example \"block\": \"MatMul\""));
  report_.EndBlock(id_);
  ids_.Add(page_);
  id_.clear();
  state_ = State::kBlocks;
}

void WeftReader::End(bool object) {
  switch (state_) {
    case State::kRoot: return;
    case State::kPage: state_ = State::kRoot; return;
    case State::kBlocks: state_ = State::kPage; return;
    case State::kBlock: return EndBlock();
    case State::kInputs:
      port_.clear();
      state_ = State::kBlock;
      return;
    case State::kInputList: state_ = State::kInputs; return;
    case State::kLiteral:
      literal_.End(object);
      if (literal_.active()) return;
      block().inputs.back().faulty |= literal_.faulty();
      AddItem(literal_.Take());
      state_ = after_;
      return;
    case State::kSettings: settings_.End(); break;
    case State::kLayout: layout_.End(); break;
    case State::kRecord: break;
    case State::kSkip:
      if (--depth_ == 0) state_ = after_;
      return;
  }
  recorder_.End(object);
  if (--depth_ == 0) EndRecord();
}

}  // namespace

void ReadWeftPage(std::string_view text, const ReadOptions& options, ReadPageResult& result) {
  result.page.format = Page::Format::kWeft;
  WeftReader(options, result).Read(text);
}

}  // namespace weft::page
