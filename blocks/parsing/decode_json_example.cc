// DecodeJSONExample: JSON of tensorflow.Example as its serialised message.
#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>

#include "blocks/parsing/json_lexer.h"
#include "blocks/parsing/number.h"
#include "blocks/protobuf/wire.h"
#include "blocks/string/base64.h"
#include "blocks/string/elements.h"
#include "blocks/string/utf8.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> json_examples{"json_examples", "DT_STRING", "of any shape: tensorflow.Example messages as JSON, by protobuf's mapping"};
constexpr Out<0> binary_examples{"binary_examples", "DT_STRING", "the shape of json_examples: the messages"};

/// Translates one text; values are written in the order in which they come.
class Translator {
 public:
  Translator(std::string_view text, kernels::StopCheck& stop) : lexer_(text, stop), stop_(stop) {}

  /// Appends the message; false at a fault, or where the run is to end.
  bool Translate(std::string& out) {
    const auto field = [&](std::string_view key) {
      if (key != "features") return Unknown(key);
      return TakeMessage(1, out, [&](std::string& features) { return TakeFeatures(features); });
    };
    return lexer_.VisitObject(field) && (lexer_.at_end() || lexer_.Fail("nothing after the message"));
  }
  const std::string& fault() const { return lexer_.fault(); }

 private:
  enum class List : uint8_t { kBytes = 1, kFloat = 2, kInt64 = 3 };  // fields of Feature

  bool Unknown(std::string_view key) {
    return lexer_.Fail(Cat("a field that tensorflow.Example has, not '", key.substr(0, 60), "'"));
  }
  /// take(message), written as a field; a null is left out.
  bool TakeMessage(uint32_t number, std::string& out, const auto& take) {
    if (lexer_.Peek() == json::Kind::kNull) return lexer_.SkipNull();
    std::string message;
    if (!take(message)) return false;
    protobuf::PutBytesField(out, number, message);
    stop_(static_cast<int64_t>(message.size() / 16));
    return true;
  }

  bool TakeFeatures(std::string& out) {
    return lexer_.VisitObject([&](std::string_view key) { return key == "feature" ? TakeMap(out) : Unknown(key); });
  }
  bool TakeMap(std::string& out) {
    if (lexer_.Peek() == json::Kind::kNull) return lexer_.SkipNull();
    std::unordered_set<std::string> seen;
    return lexer_.VisitObject([&](std::string_view key) {
      if (!seen.emplace(key).second) return lexer_.Fail("keys that differ");
      std::string entry;
      protobuf::PutBytesField(entry, 1, key);
      if (!TakeMessage(2, entry, [&](std::string& feature) { return TakeFeature(feature); })) return false;
      protobuf::PutBytesField(out, 1, entry);
      return true;
    });
  }
  bool TakeFeature(std::string& out) {
    bool has_list = false;
    return lexer_.VisitObject([&](std::string_view key) {
      List list = List::kBytes;
      if (key == "bytesList" || key == "bytes_list") list = List::kBytes;
      else if (key == "floatList" || key == "float_list") list = List::kFloat;
      else if (key == "int64List" || key == "int64_list") list = List::kInt64;
      else return Unknown(key);
      if (lexer_.Peek() == json::Kind::kNull) return lexer_.SkipNull();
      if (has_list) return lexer_.Fail("one list in a feature");
      has_list = true;
      return TakeMessage(static_cast<uint32_t>(list), out, [&](std::string& message) { return TakeList(list, message); });
    });
  }
  bool TakeList(List list, std::string& out) {
    return lexer_.VisitObject([&](std::string_view key) {
      if (key != "value") return Unknown(key);
      if (lexer_.Peek() == json::Kind::kNull) return lexer_.SkipNull();
      return lexer_.Peek() == json::Kind::kArray ? TakeArray(list, out) : TakeValue(list, out);
    });
  }
  /// An array inside of an array is part of it; a null is the default value.
  bool TakeArray(List list, std::string& out) {
    return lexer_.VisitArray([&] {
      switch (lexer_.Peek()) {
        case json::Kind::kArray: return TakeArray(list, out);
        case json::Kind::kNull: return lexer_.SkipNull() && PutDefault(list, out);
        default: return TakeValue(list, out);
      }
    });
  }

  bool TakeValue(List list, std::string& out) {
    switch (list) {
      case List::kBytes: return TakeBytes(out);
      case List::kFloat: return TakeFloat(out);
      default: return TakeInt(out);
    }
  }
  bool PutDefault(List list, std::string& out) {
    if (list == List::kBytes) protobuf::PutBytesField(out, 1, {});
    else if (list == List::kFloat) PutFloat(out, 0);
    else protobuf::PutVarintField(out, 1, 0);
    return true;
  }
  static void PutFloat(std::string& out, float value) {
    protobuf::PutVarint(out, 1 << 3 | static_cast<uint32_t>(protobuf::WireType::kFixed32));
    protobuf::PutFixed(out, value);
  }

  bool TakeBytes(std::string& out) {
    std::string text;
    if (!lexer_.TakeString(text)) return false;
    const std::string_view letters = WithoutPadding(text);
    const size_t size = Base64Size(letters);
    if (size == SIZE_MAX) return lexer_.Fail("base64 text");
    protobuf::PutBytesHead(out, 1, size);
    out.resize(out.size() + size);
    return DecodeBase64Text(letters, Base64Letters::kAny, out.data() + out.size() - size, stop_) || lexer_.Fail("base64 text");
  }
  /// The text of a number, or of a string that stands for one.
  bool TakeNumberText(std::string& text) {
    if (lexer_.Peek() == json::Kind::kString) return lexer_.TakeString(text);
    std::string_view number;
    if (!lexer_.TakeNumber(number)) return false;
    text = number;
    return true;
  }
  bool TakeDouble(const std::string& text, double& number) {
    return ParseNumber(text, number) || lexer_.Fail("a number");
  }
  bool TakeInt(std::string& out) {
    std::string text;
    if (!TakeNumberText(text)) return false;
    if (text.find_first_of(" \t\n\v\f\r") != std::string::npos) return lexer_.Fail("a number");
    int64_t value = 0;
    if (!ParseNumber(text, value)) {
      constexpr double kExact = 9007199254740992.0;  // beyond it not every integer is a double
      double number = 0;
      if (!TakeDouble(text, number)) return false;
      if (!(std::fabs(number) <= kExact) || number != std::trunc(number)) return lexer_.Fail("an integer of 64 bits");
      value = static_cast<int64_t>(number);
    }
    protobuf::PutVarintField(out, 1, static_cast<uint64_t>(value));
    return true;
  }
  bool TakeFloat(std::string& out) {
    const bool quoted = lexer_.Peek() == json::Kind::kString;
    std::string text;
    double number = 0;
    if (!TakeNumberText(text) || !TakeDouble(text, number)) return false;
    const float value = ToFloat(number);
    if ((!quoted && !std::isfinite(number)) || (std::isfinite(number) && !std::isfinite(value))) return lexer_.Fail("a number that a float can hold");
    PutFloat(out, value);
    return true;
  }
  /// Denormal numbers are 0, as in all arithmetic, whatever the processor is set to, and whether it looks for them before it rounds or after.
  static float ToFloat(double number) {
    constexpr double kLeast = std::numeric_limits<float>::min(), kRoundedToIt = kLeast - 0x1p-151;
    if (!(std::fabs(number) < kLeast)) return static_cast<float>(number);
    return static_cast<float>(std::copysign(std::fabs(number) < kRoundedToIt ? 0 : kLeast, number));
  }

  json::Lexer lexer_;
  kernels::StopCheck& stop_;
};

Status Plan(PlanContext& ctx) {
  ctx.set(binary_examples, ctx.shape(json_examples));
  return {};
}

/// Whether a text is UTF-8; true where the run is to end.
bool IsUtf8(std::string_view text, kernels::StopCheck& stop) {
  constexpr size_t kPiece = size_t{1} << 17;
  while (!text.empty()) {
    const size_t size = WholeCharacters(text, kPiece);
    if (size == 0 || !IsValidUtf8(text.substr(0, size))) return false;
    text.remove_prefix(size);
    if (stop(kPiece)) return true;
  }
  return true;
}

Status Decode(RunContext& ctx, int64_t i, kernels::StopCheck& stop) {
  const std::string_view text = ctx.in<String>(json_examples)[static_cast<size_t>(i)];
  // What the message and its parts take at most while they are made.
  constexpr size_t kSmall = size_t{1} << 16, kTimes = 12;
  MemoryCharge charge(ctx.budget());
  if (text.size() > kSmall) WEFT_RETURN_IF_ERROR(charge.Hold(static_cast<int64_t>(kTimes * text.size())));
  if (!IsUtf8(text, stop)) return ctx.Error(json_examples, "needs JSON in UTF-8, found a string that is not in example ", i);
  std::string message;
  Translator translator(text, stop);
  const bool good = translator.Translate(message);
  if (stop(0)) return {};
  if (!good) return ctx.Error(json_examples, translator.fault(), " of example ", i);
  WEFT_ASSIGN_OR_RETURN(ctx.out<String>(binary_examples)[static_cast<size_t>(i)], MakeString(message, ctx.budget(), stop));
  return {};
}

constexpr auto Run = [](const NoParameters&, RunContext& ctx) -> Status {
  const auto count = static_cast<int64_t>(ctx.in<String>(json_examples).size());
  return ForElements(ctx.workers(), count, [&](int64_t i, kernels::StopCheck& stop) { return Decode(ctx, i, stop); }, 16);
};

}  // namespace

BlockDef DecodeJSONExample() {
  return Block("DecodeJSONExample", "JSON of tensorflow.Example as its serialised messages, which ParseExample reads.")
      .Details("Integers may be strings, bytes are base64 text, NaN and Infinity are strings. A null is as if it were not there.")
      .Ports(json_examples, binary_examples)
      .NotDifferentiable()
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
