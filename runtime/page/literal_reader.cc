#include "runtime/page/literal_reader.h"

#include <array>
#include <cmath>
#include <limits>

namespace weft::page {
namespace {

constexpr int kFaultsShown = 3;

Number ToNumber(const JsonScalar& value) {
  Number number;
  if (value.kind == JsonScalar::Kind::kInteger && value.integer == 0) {
    number.real = -0.0;
  } else if (value.kind == JsonScalar::Kind::kInteger) {
    number.kind = Number::Kind::kNegative;
    number.negative = value.integer;
  } else if (value.kind == JsonScalar::Kind::kUnsigned) {
    number.kind = Number::Kind::kUnsigned;
    number.natural = value.unsigned_value;
  } else {
    number.real = value.real;
    number.text = *value.text;
  }
  return number;
}

std::optional<Number> SpecialNumber(std::string_view text) {
  Number number;
  if (text == "nan") number.real = std::numeric_limits<double>::quiet_NaN();
  else if (text == "inf") number.real = std::numeric_limits<double>::infinity();
  else if (text == "-inf") number.real = -std::numeric_limits<double>::infinity();
  else return std::nullopt;
  return number;
}

std::vector<std::string_view> DTypeNames() {
  std::vector<std::string_view> names;
  for (int i = 1; i < kDTypeCount; ++i) names.push_back(DTypeName(static_cast<DType>(i)));
  return names;
}

// Reads a recorded array with a ValuesReader.
class ReplaySink : public JsonSink {
 public:
  explicit ReplaySink(ValuesReader& values) : values_(values) {}
  void Scalar(JsonScalar& value) override { values_.Scalar(value); }
  void Start(bool object) override {
    if (depth_++ > 0) values_.Start(object);
  }
  void Key(std::string& key) override { values_.Key(key); }
  void End(bool object) override {
    if (--depth_ > 0) values_.End(object);
  }
  void Fault(Status) override {}

 private:
  ValuesReader& values_;
  int depth_ = 0;
};

}  // namespace

void ValuesReader::Fault(Status status) {
  if (++faults_ <= kFaultsShown) report_(std::move(status));
}

void ValuesReader::ComplexPart(const JsonScalar& value) {
  const int part = part_count_++;
  if (part >= 2) return;
  if (value.is_number()) {
    parts_[part] = ToNumber(value);
    part_text_[part] = parts_[part].text;
    parts_[part].text = part_text_[part];
  } else if (const auto special = value.kind == JsonScalar::Kind::kString ? SpecialNumber(*value.text) : std::nullopt) {
    parts_[part] = *special;
  } else {
    Fault(InvalidArgument("needs a number as a part of a complex one, found ", KindName(value)));
    ignored_ = true;
  }
}

void ValuesReader::Scalar(JsonScalar& value) {
  if (ignored_) return;
  if (depth_ > 0 && !object_) return ComplexPart(value);
  Status status;
  if (depth_ > 0) {
    if (value.kind != JsonScalar::Kind::kString) return Fault(InvalidArgument("needs base64 text, found ", KindName(value)));
    Result<std::string> bytes = DecodeBase64(*value.text);
    status = bytes.ok() ? store_.AddString(std::move(*bytes)) : std::move(bytes).status();
  } else if (value.is_number()) {
    status = store_.AddNumber(ToNumber(value));
  } else if (value.kind == JsonScalar::Kind::kBool) {
    status = store_.AddBool(value.boolean);
  } else if (value.kind == JsonScalar::Kind::kNull) {
    status = InvalidArgument("needs an element of ", store_.dtype(), ", found null");
  } else if (store_.dtype() == DType::kString) {
    status = store_.AddString(std::move(*value.text));
  } else if (const auto special = SpecialNumber(*value.text); special && store_.dtype() != DType::kBool) {
    status = store_.AddNumber(*special);
  } else {
    status = store_.AddString(std::move(*value.text));
  }
  if (!status.ok()) Fault(std::move(status));
}

void ValuesReader::Start(bool object) {
  if (depth_++ > 0) {
    if (!ignored_) Fault(InvalidArgument("needs a single value, found ", object ? "an object" : "an array"));
    ignored_ = true;
    return;
  }
  object_ = object;
  part_count_ = 0;
  base64_seen_ = false;
  ignored_ = object ? store_.dtype() != DType::kString : !IsComplex(store_.dtype());
  if (!ignored_) return;
  if (object) Fault(InvalidArgument("needs an element of ", store_.dtype(), ", found an object"));
  else
    Fault(InvalidArgument("needs an element of ", store_.dtype(), ", found an array")
              .WithHint("values are one flat list, in row-major order"));
}

void ValuesReader::Key(std::string& key) {
  if (ignored_) return;
  ignored_ = key != "base64";
  base64_seen_ |= !ignored_;
  if (ignored_) Fault(InvalidArgument("a string is written as text or as {\"base64\": \"...\"}, found the key '", key, "'"));
}

void ValuesReader::End(bool object) {
  if (--depth_ > 0) return;
  const bool ignored = ignored_;
  ignored_ = false;
  if (ignored) return;
  if (object) {
    if (!base64_seen_) Fault(InvalidArgument("needs the key \"base64\", found an empty object"));
    return;
  }
  if (part_count_ != 2) return Fault(InvalidArgument("needs [real, imaginary], found a list of ", part_count_));
  if (Status status = store_.AddComplex(parts_[0], parts_[1]); !status.ok()) Fault(std::move(status));
}

void LiteralReader::Begin(std::string_view port) {
  port_ = port;
  literal_ = {};
  state_ = State::kMembers;
  forms_ = {};
  faulty_ = false;
  depth_ = 0;
  values_text_.clear();
}

void LiteralReader::WrongKind(std::string_view needed, std::string_view found) {
  Error(InvalidArgument("'", key_, "' needs ", needed, ", found ", found));
  faulty_ = true;
}

void LiteralReader::Key(std::string& key) {
  if (state_ == State::kValues) return values_.Key(key);
  if (state_ == State::kRecord) return recorder_.Key(key);
  if (state_ != State::kMembers) return;
  static constexpr std::array<std::string_view, 6> kMembers = {"dtype", "shape", "values", "text", "file", "offset"};
  size_t i = 0;
  while (i < kMembers.size() && kMembers[i] != key) ++i;
  member_ = static_cast<Member>(i);
  key_ = std::move(key);
}

void LiteralReader::SetDType(const std::string& name) {
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) {
    Error(InvalidArgument("'", name, "' is not an element type").WithHint(DidYouMean(name, DTypeNames())));
    faulty_ = true;
  } else if (*dtype == DType::kResource) {
    Error(Unsupported("a value of DT_RESOURCE cannot be written on a page").WithHint("wire the block that makes the handle"));
    faulty_ = true;
  } else {
    literal_.dtype = dtype;
  }
}

void LiteralReader::ShapeDim(const JsonScalar& value) {
  if (value.kind == JsonScalar::Kind::kUnsigned && value.unsigned_value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    dims_.push_back(static_cast<int64_t>(value.unsigned_value));
    return;
  }
  faulty_ = true;
  bool whole = value.kind == JsonScalar::Kind::kFloat && value.text->find_first_not_of("0123456789") == std::string::npos;
  if (value.kind == JsonScalar::Kind::kUnsigned) Error(OutOfRange("needs a size below 2^63, found ", value.unsigned_value));
  else if (whole) Error(OutOfRange("needs a size below 2^63, found ", *value.text));
  else if (value.kind == JsonScalar::Kind::kInteger) Error(InvalidArgument("needs a size of 0 or more, found ", value.integer));
  else if (value.kind == JsonScalar::Kind::kFloat) Error(InvalidArgument("needs a whole number as a size, found ", *value.text));
  else Error(InvalidArgument("needs a number as a size, found ", KindName(value)));
}

void LiteralReader::Scalar(JsonScalar& value) {
  const bool string = value.kind == JsonScalar::Kind::kString;
  switch (state_) {
    case State::kValues: return values_.Scalar(value);
    case State::kShape: return ShapeDim(value);
    case State::kRecord: return recorder_.Scalar(value);
    case State::kDone:
    case State::kSkip: return;
    case State::kMembers: break;
  }
  switch (member_) {
    case Member::kDType:
      if (!string) return WrongKind("a string such as \"DT_FLOAT\"", KindName(value));
      return SetDType(*value.text);
    case Member::kShape: return WrongKind("a list of sizes such as [2, 3]", KindName(value));
    case Member::kValues: forms_.values = true; return WrongKind("a list of values", KindName(value));
    case Member::kText:
      forms_.text = true;
      if (!string) return WrongKind("a string", KindName(value));
      literal_.text = std::move(*value.text);
      return;
    case Member::kFile:
      forms_.file = true;
      if (!string) return WrongKind("a string", KindName(value));
      literal_.file = std::move(*value.text);
      return;
    case Member::kOffset:
      if (value.kind != JsonScalar::Kind::kUnsigned || value.unsigned_value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return WrongKind("a whole number of bytes, 0 or more",
                         value.kind == JsonScalar::Kind::kInteger ? "a negative number" : KindName(value));
      }
      literal_.offset = static_cast<int64_t>(value.unsigned_value);
      return;
    case Member::kOther: recorder_.Scalar(value); return EndRecord();
  }
}

void LiteralReader::Start(bool object) {
  const int depth = depth_++;
  if (state_ == State::kValues) return values_.Start(object);
  if (state_ == State::kRecord) return recorder_.Start(object);
  if (state_ == State::kShape) {
    Error(InvalidArgument("needs a number as a size, found ", object ? "an object" : "an array"));
    faulty_ = true;
    return;
  }
  if (state_ == State::kSkip || depth > 0) return;
  state_ = State::kSkip;
  if (member_ == Member::kOther) {
    state_ = State::kRecord;
    recorder_.Start(object);
  } else if (member_ == Member::kShape && !object) {
    state_ = State::kShape;
    dims_.clear();
  } else if (member_ == Member::kValues && !object) {
    forms_.values = true;
    if (literal_.dtype) {
      state_ = State::kValues;
      values_ = ValuesReader(*literal_.dtype, [this](Status status) { Error(std::move(status)); });
    } else {
      state_ = State::kRecord;
      recorder_.Start(object);
    }
  } else {
    forms_.values |= member_ == Member::kValues;
    forms_.text |= member_ == Member::kText;
    forms_.file |= member_ == Member::kFile;
    const bool list = member_ == Member::kShape || member_ == Member::kValues;
    WrongKind(list ? "a list" : member_ == Member::kOffset ? "a number" : "a string", object ? "an object" : "an array");
  }
}

void LiteralReader::EndRecord() {
  if (!recorder_.complete()) return;
  if (member_ == Member::kValues) values_text_ = recorder_.Take();
  else AppendMember(literal_.extra, key_, recorder_.Take());
  state_ = State::kMembers;
}

void LiteralReader::End(bool object) {
  if (depth_ == 0) return Finish();
  --depth_;
  if (state_ == State::kRecord) {
    recorder_.End(object);
    return EndRecord();
  }
  if (depth_ > 0) {
    if (state_ == State::kValues) values_.End(object);
    return;
  }
  if (state_ == State::kShape && !faulty_) {
    Result<Shape> shape = Shape::Make(dims_);
    faulty_ = !shape.ok();
    if (shape.ok()) literal_.shape = std::move(*shape);
    else Error(std::move(shape).status());
  }
  state_ = State::kMembers;
}

void LiteralReader::ReplayValues() {
  JsonWalk* replay = nullptr;
  values_ = ValuesReader(*literal_.dtype, [&](Status status) { report_.Error(std::move(status), replay->pointer(), port_); });
  ReplaySink sink(values_);
  JsonWalk walk(sink, walk_.pointer() + "/values");
  replay = &walk;
  walk.Run(values_text_);
}

void LiteralReader::Finish() {
  state_ = State::kDone;
  const int forms = forms_.values + forms_.text + forms_.file;
  literal_.form = forms_.file ? Literal::Form::kFile : forms_.text ? Literal::Form::kText : Literal::Form::kValues;
  if (forms != 1) {
    return Error(InvalidArgument("a literal needs one of \"values\", \"text\" and \"file\", found ", forms == 0 ? "none" : "several")
                     .WithHint("a tensor is {\"dtype\": \"DT_FLOAT\", \"shape\": [2], \"values\": [1, 2]}"));
  }
  if (forms_.text) return;
  if (faulty_) return;
  if (!literal_.dtype) return Error(InvalidArgument("a literal needs a \"dtype\"").WithHint("for example \"dtype\": \"DT_FLOAT\""));
  if (!literal_.shape) return Error(InvalidArgument("a literal needs a \"shape\"").WithHint("a scalar has \"shape\": []"));
  forms_.file ? FinishFile() : FinishValues();
}

void LiteralReader::ErrorAt(std::string_view member, Status status) {
  faulty_ = true;
  report_.Error(std::move(status), Cat(walk_.pointer(), member), port_);
}

void LiteralReader::FinishValues() {
  if (!values_text_.empty()) ReplayValues();
  faulty_ = values_.faulty();
  if (faulty_) return;
  Result<Tensor> tensor = values_.store().Take(*literal_.shape);
  if (tensor.ok()) literal_.tensor = std::move(*tensor);
  else ErrorAt("/values", std::move(tensor).status());
}

void LiteralReader::FinishFile() {
  Result<Tensor> tensor = ReadBinary(options_, literal_.file, literal_.offset, *literal_.dtype, *literal_.shape);
  if (tensor.ok()) literal_.tensor = std::move(*tensor);
  else ErrorAt("/file", std::move(tensor).status());
}

}  // namespace weft::page
