// EncodeBase64 and DecodeBase64: bytes as text of the web-safe alphabet (RFC 4648, section 5), and back.
#include "blocks/string/base64.h"

#include <array>
#include <cstring>

#include "blocks/string/elements.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "DT_STRING", "of any shape"};
constexpr Out<0> output{"output", "DT_STRING", "the shape of input"};
constexpr Attr<bool> pad{"pad", "false", "end the text with '=' so that its length is a multiple of 4"};

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNone = 64;

/// The number that each byte stands for; kNone where it is none of the alphabet.
using LetterTable = std::array<uint8_t, 256>;
constexpr LetterTable MakeTable(Base64Letters letters) {
  LetterTable numbers{};
  numbers.fill(kNone);
  for (uint8_t i = 0; i < 64; ++i) numbers[static_cast<unsigned char>(kAlphabet[i])] = i;
  if (letters == Base64Letters::kAny) {
    numbers['+'] = 62;
    numbers['/'] = 63;
  }
  return numbers;
}
constexpr LetterTable kWebSafe = MakeTable(Base64Letters::kWebSafe), kAny = MakeTable(Base64Letters::kAny);

constexpr size_t kGroups = size_t{1} << 16;  // between two looks whether the run is to end

// ---- EncodeBase64 ---------------------------------------------------------------------------------------------------------

/// Three bytes, the last ones of which may be missing (0), as four letters.
void EncodeGroup(const unsigned char* from, char* to) {
  const uint32_t bits = uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
  for (int k = 0; k < 4; ++k) to[k] = kAlphabet[bits >> (18 - 6 * k) & 63];
}

Result<String> Encoded(std::string_view bytes, bool pads, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  const size_t groups = bytes.size() / 3, rest = bytes.size() % 3;
  const size_t letters = groups * 4 + (rest == 0 ? 0 : pads ? 4 : rest + 1);
  WEFT_ASSIGN_OR_RETURN(String text, String::Uninitialized(letters, budget));
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  char* to = text.mutable_data();
  for (size_t g = 0; g < groups; ++g) {
    if (g % kGroups == kGroups - 1 && stop(kGroups)) return text;
    EncodeGroup(from + 3 * g, to + 4 * g);
  }
  if (rest > 0) {
    unsigned char last[3] = {};
    char end[4];
    std::memcpy(last, from + 3 * groups, rest);
    EncodeGroup(last, end);
    std::memset(end + rest + 1, '=', 3 - rest);
    std::memcpy(to + 4 * groups, end, letters - 4 * groups);
  }
  return text;
}

Result<bool> PlanEncode(PlanContext& ctx) {
  ctx.set(output, ctx.shape(input));
  return ctx.attr(pad);
}

constexpr auto RunEncode = [](const bool& pads, RunContext& ctx) -> Status {
  const auto from = ctx.in<String>(input);
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) {
    return Encoded(from[static_cast<size_t>(i)], pads, ctx.budget(), stop);
  });
};

// ---- DecodeBase64 ---------------------------------------------------------------------------------------------------------

/// Up to four letters as up to three bytes; false where one of them is none of the alphabet.
bool DecodeGroup(const LetterTable& numbers, const char* letters, size_t count, char* to, size_t bytes) {
  uint32_t bits = 0, wrong = 0;
  for (size_t k = 0; k < 4; ++k) {
    const uint8_t number = k < count ? numbers[static_cast<unsigned char>(letters[k])] : 0;
    wrong |= number & kNone;
    bits = bits << 6 | number;
  }
  for (size_t k = 0; k < bytes; ++k) to[k] = static_cast<char>(bits >> (16 - 8 * k));
  return wrong == 0;
}

Result<String> Decoded(std::string_view text, const std::shared_ptr<MemoryBudget>& budget, kernels::StopCheck& stop) {
  text = WithoutPadding(text);
  const size_t size = Base64Size(text);
  if (size == SIZE_MAX) return InvalidArgument("needs base64 text, whose length is not 1 modulo 4, found ", text.size(), " letters");
  WEFT_ASSIGN_OR_RETURN(String bytes, String::Uninitialized(size, budget));
  if (!DecodeBase64Text(text, Base64Letters::kWebSafe, bytes.mutable_data(), stop)) {
    return InvalidArgument("needs base64 text of the letters A-Z a-z 0-9 - _, with '=' at its end alone, found another");
  }
  return bytes;
}

Status PlanDecode(PlanContext& ctx) {
  ctx.set(output, ctx.shape(input));
  return {};
}

constexpr auto RunDecode = [](const NoParameters&, RunContext& ctx) -> Status {
  const auto from = ctx.in<String>(input);
  return ForStrings(ctx, ctx.out<String>(output), [&](int64_t i, kernels::StopCheck& stop) -> Result<String> {
    auto bytes = Decoded(from[static_cast<size_t>(i)], ctx.budget(), stop);
    if (!bytes.ok()) return std::move(bytes).status().WithPort(input.name).Append(Cat(", in string ", i));
    return bytes;
  });
};

}  // namespace

std::string_view WithoutPadding(std::string_view text) {
  if (text.size() % 4 != 0) return text;
  return text.substr(0, text.size() - (text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0));
}

size_t Base64Size(std::string_view text) {
  const size_t rest = text.size() % 4;
  return rest == 1 ? SIZE_MAX : text.size() / 4 * 3 + (rest == 0 ? 0 : rest - 1);
}

bool DecodeBase64Text(std::string_view text, Base64Letters letters, char* to, kernels::StopCheck& stop) {
  const LetterTable& numbers = letters == Base64Letters::kAny ? kAny : kWebSafe;
  const size_t groups = text.size() / 4, rest = text.size() % 4;
  for (size_t g = 0; g < groups; ++g) {
    if (g % kGroups == kGroups - 1 && stop(kGroups)) return true;
    if (!DecodeGroup(numbers, text.data() + 4 * g, 4, to + 3 * g, 3)) return false;
  }
  return DecodeGroup(numbers, text.data() + 4 * groups, rest, to + 3 * groups, rest == 0 ? 0 : rest - 1);
}

BlockDef EncodeBase64() {
  return Block("EncodeBase64", "The bytes of strings as text of the web-safe base64 alphabet.")
      .Details("The alphabet ends with '-' and '_'.")
      .Ports(input, output)
      .Attrs(pad)
      .NotDifferentiable()
      .Kernel(PlanEncode, RunEncode);
}

BlockDef DecodeBase64() {
  return Block("DecodeBase64", "The bytes that strings of web-safe base64 text stand for.")
      .Details("With or without '=' at the end; bits that make no whole byte are dropped. Letters of the common alphabet, '+' and '/', are "
               "refused.")
      .Ports(input, output)
      .NotDifferentiable()
      .Kernel(PlanDecode, RunDecode);
}

}  // namespace weft::blocks
