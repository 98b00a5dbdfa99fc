// Weft's own JSON -> Page.
#include <algorithm>
#include <limits>

#include "runtime/page/formats.h"
#include "runtime/base/call_limit.h"
#include "runtime/page/literal_reader.h"
#include "runtime/page/settings.h"
#include "runtime/page/unread.h"

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
    if (page_has_.newer) return;
    if (complete && page_has_.object) {
      if (!page_has_.blocks && ReadsAsOther()) return;
      if (!page_has_.version) Error(InvalidArgument("a page needs the key \"weft\" with the number of its format").WithHint("add \"weft\": 1"));
      if (!page_has_.blocks) Error(InvalidArgument("a page needs the key \"blocks\" with a list of blocks"));
    }
    if (!page_has_.name) page_.name = PageStem(options_.name);
    ids_.ReportRepeated(report_, page_);
    if (has_unread_) FillUnread(text, page_);
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

  /// A value that is kept as text: an unknown member, an attribute object or the layout. The latter two are interpreted as well.
  struct Record {
    JsonRecorder text;
    SettingsReader settings;
    LayoutReader layout;
  };
  /// What has been read of the page.
  struct PageKeys {
    bool object = false;  // it is an object
    bool version = false, name = false, blocks = false;
    bool newer = false;  // its version is newer than this reader
  };
  /// What has been read of the current block.
  struct BlockKeys {
    bool id = false, type = false;
  };

  PageBlock& block() { return page_.blocks.back(); }
  void Error(Status status);
  void WarnOfKey();
  bool ReadsAsOther();
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
  bool IsBlockKey() const { return key_ == "id" || key_ == "block" || key_ == "attrs" || key_ == "inputs"; }
  std::string_view NeededOfBlock() const { return key_ == "inputs" ? "an object of ports" : key_ == "attrs" ? "a string or an object" : "a string"; }
  void EndBlock();
  void AddItem(InputItem item) { block().inputs.back().items.push_back(std::move(item)); }
  /// `dtype`: what is known of it.
  void AddUnread(std::optional<DType> dtype = std::nullopt) {
    Literal unread;
    unread.form = Literal::Form::kUnread;
    unread.dtype = dtype;
    AddItem(std::move(unread));
    has_unread_ = true;
  }
  void Skip(State after) {
    state_ = State::kSkip;
    after_ = after;
    depth_ = 1;
  }

  const ReadOptions& options_;
  Page& page_;
  Report report_;
  JsonWalk walk_;
  LiteralReader literal_;
  Record record_;
  State state_ = State::kRoot;
  State after_ = State::kRoot;  // the state after the current record, literal or skipped value
  int depth_ = 0;               // open objects and arrays of the value that is recorded or skipped
  std::string key_;
  std::string id_;    // of the current block, for diagnostics
  std::string port_;  // of the current input, for diagnostics
  UniqueIds ids_;
  bool has_unread_ = false;  // some items are of the form kUnread, and lack their text
  PageKeys page_has_;
  BlockKeys block_has_;
};

void WeftReader::Error(Status status) {
  report_.Error(std::move(status), walk_.pointer(), port_);
  if (state_ == State::kBlock || state_ == State::kSettings) block().faulty = true;
  if ((state_ == State::kInputs || state_ == State::kInputList) && !block().inputs.empty()) block().inputs.back().faulty = true;
}

/// Keys of blocks that are not known are kept, for other programs: but one that is mistyped changes what the page computes.
void WeftReader::WarnOfKey() {
  constexpr size_t kLongest = 12, kShortest = 4;
  if (key_.size() < kShortest || key_.size() > kLongest) return;
  const std::string meant = DidYouMean(key_, std::array<std::string_view, 3>{"block", "attrs", "inputs"});
  if (meant.empty()) return;
  report_.Warning(InvalidArgument("the key '", key_, "' means nothing here; it is kept").WithHint(meant), walk_.pointer());
}

/// Tells of files that other commands read.
bool WeftReader::ReadsAsOther() {
  const auto has = [&](std::string_view key) { return page_.extra.find(Cat("\"", key, "\"")) != std::string::npos; };
  const bool grid = has("sweep"), cases = has("cases");
  if (grid) Error(InvalidArgument("needs a page, found the grid of a sweep").WithHint("weft sweep runs it"));
  else if (cases) Error(InvalidArgument("needs a page, found test cases of blocks").WithHint("weft test runs them"));
  return grid || cases;
}

void WeftReader::Version(const JsonScalar& value) {
  page_has_.version = true;
  if (value.kind != JsonScalar::Kind::kUnsigned || value.unsigned_value == 0) {
    return WrongKind("the number of the page format, 1", value.is_number() ? "another number" : KindName(value));
  }
  if (value.unsigned_value <= static_cast<uint64_t>(Page::kVersion)) return;
  page_has_.newer = true;
  Error(Unsupported("the page has format ", value.unsigned_value, "; this version of Weft reads formats up to ", Page::kVersion)
            .WithHint("use a newer version of Weft"));
  walk_.Stop();
}

void WeftReader::PageScalar(JsonScalar& value) {
  if (key_ == "weft") return Version(value);
  if (key_ == "page") {
    page_has_.name = value.kind == JsonScalar::Kind::kString;
    if (!page_has_.name) return WrongKind("a string", KindName(value));
    page_.name = std::move(*value.text);
    if (page_.name.find('\0') != std::string::npos) Error(InvalidArgument("the name of a page needs to be without NUL characters"));
  } else if (key_ == "blocks") {
    page_has_.blocks = true;
    WrongKind("a list of blocks", KindName(value));
  } else {
    record_.text.Scalar(value);
    if (key_ == "layout") record_.layout.Scalar(value);
    after_ = State::kPage;
    EndRecord();
  }
}

void WeftReader::BlockScalar(JsonScalar& value) {
  block_has_.id |= key_ == "id";
  block_has_.type |= key_ == "block";
  const bool unknown = !IsBlockKey();
  if (unknown || key_ == "inputs" || value.kind != JsonScalar::Kind::kString) {
    if (unknown) WarnOfKey();
    else WrongKind(NeededOfBlock(), KindName(value));
    record_.text.Scalar(value);
    after_ = State::kBlock;
    return EndRecord();
  }
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
  const bool is_text = value.kind == JsonScalar::Kind::kString;
  if (!is_text) WrongKind("a wire \"ID.port\", a literal {...} or a list of them", KindName(value));
  Result<Wire> wire = is_text ? ParseWire(*value.text) : Wire();
  if (!wire.ok()) Error(wire.status());
  if (is_text && wire.ok()) AddItem(std::move(*wire));
  else AddUnread();
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
    case State::kRecord: return record_.text.Scalar(value);
    case State::kSettings:
      record_.text.Scalar(value);
      if (Status status = record_.settings.Scalar(value); !status.ok()) Error(std::move(status));
      return;
    case State::kLayout: record_.text.Scalar(value); return record_.layout.Scalar(value);
    case State::kSkip: return;
  }
}

void WeftReader::Key(std::string& key) {
  switch (state_) {
    case State::kLiteral: return literal_.Key(key);
    case State::kRecord: return record_.text.Key(key);
    case State::kSettings: record_.settings.Key(key); return record_.text.Key(key);
    case State::kLayout: record_.layout.Key(key); return record_.text.Key(key);
    case State::kInputs:
      port_ = key;
      block().inputs.emplace_back();
      if (Status status = CheckPort(key); !status.ok()) Error(std::move(status));
      block().inputs.back().port = std::move(key);
      return;
    default: key_ = std::move(key);
  }
}

void WeftReader::BeginRecord(State state, State after, bool object) {
  state_ = state;
  after_ = after;
  depth_ = 1;
  record_.text.Start(object);
}

void WeftReader::EndRecord() {
  if (!record_.text.complete()) return;
  std::string text = record_.text.Take();
  if (after_ == State::kBlock) {
    if (state_ == State::kSettings) {
      block().attrs_object = std::move(text);
      block().attrs = record_.settings.Take();
      block().has_attrs = true;
    } else if (IsBlockKey()) {
      CallLimit::Grow(static_cast<int64_t>(text.size()));
      KeepUnread(block(), key_, std::move(text));
    } else {
      AppendMember(block().extra, key_, text);
    }
  } else if (key_ == "layout") {
    page_.has_layout = true;
    if (record_.layout.regular()) {
      page_.layout = record_.layout.Take();
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
    page_has_.blocks = true;
    if (!object) {
      state_ = State::kBlocks;
      return;
    }
  } else if (key_ == "layout") {
    BeginRecord(State::kLayout, State::kPage, object);
    return record_.layout.Start(object);
  } else if (key_ != "weft" && key_ != "page") {
    return BeginRecord(State::kRecord, State::kPage, object);
  }
  page_has_.version |= key_ == "weft";
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
  block_has_ = {};
  CallLimit::Grow(sizeof(PageBlock));
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
    if (Status status = record_.settings.Start(object); !status.ok()) Error(std::move(status));
  } else if (IsBlockKey()) {
    block_has_.id |= key_ == "id";
    block_has_.type |= key_ == "block";
    WrongKind(NeededOfBlock(), Name(object));
    BeginRecord(State::kRecord, State::kBlock, object);
  } else {
    WarnOfKey();
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
  AddUnread();
  Skip(State::kInputList);
}

void WeftReader::Start(bool object) {
  switch (state_) {
    case State::kRoot:
      page_has_.object = object;
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
      record_.text.Start(object);
      if (Status status = record_.settings.Start(object); !status.ok()) Error(std::move(status));
      return;
    case State::kLayout: record_.layout.Start(object); [[fallthrough]];
    case State::kRecord: record_.text.Start(object); [[fallthrough]];
    case State::kSkip: ++depth_;
  }
}

void WeftReader::EndBlock() {
  if (!block_has_.id) Error(InvalidArgument("a block needs an \"id\""));
  if (!block_has_.type) Error(InvalidArgument("a block needs the key \"block\" with its type").WithHint("for example \"block\": \"MatMul\""));
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
      if (literal_.faulty()) AddUnread(literal_.Take().dtype);
      else AddItem(literal_.Take());
      state_ = after_;
      return;
    case State::kSettings: record_.settings.End(); break;
    case State::kLayout: record_.layout.End(); break;
    case State::kRecord: break;
    case State::kSkip:
      if (--depth_ == 0) state_ = after_;
      return;
  }
  record_.text.End(object);
  if (--depth_ == 0) EndRecord();
}

}  // namespace

void ReadWeftPage(std::string_view text, const ReadOptions& options, ReadPageResult& result) {
  result.page.format = Page::Format::kWeft;
  WeftReader(options, result).Read(text);
}

}  // namespace weft::page
