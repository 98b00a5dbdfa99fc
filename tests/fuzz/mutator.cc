#include "tests/fuzz/mutator.h"

#include <charconv>
#include <fstream>

#include "tests/fuzz/finding.h"

namespace weft::fuzz {
namespace {

// What breaks readers of text and of numbers.
constexpr std::string_view kWords[] = {"0", "-1", "1e400", "9223372036854775808", "18446744073709551616", "2147483648", "nan", "[1000000][1000000]", "\\u0000", "\\ud800",
                                       "\xff", "\xf0\x9f\x98\x80", "[[[[[[[[", "{\"a\":{\"a\":", "null", "\n", ";", ",", "\"", "{", "}", "=", "true"};
// And of binary numbers.
constexpr uint64_t kNumbers[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t{0}};

size_t Below(size_t n, std::mt19937& random) { return n == 0 ? 0 : random() % n; }

/// Another number in the place of one in the text.
void ChangeNumber(std::string& text, std::mt19937& random) {
  const size_t from = text.find_first_of("0123456789", Below(text.size(), random));
  if (from == std::string::npos) return;
  const size_t end = std::min(text.find_first_not_of("0123456789", from), text.size());
  static constexpr std::string_view kTexts[] = {"0", "1", "2", "3", "7", "-1", "64", "255", "65536", "1048576", "2147483647", "4294967296", "1099511627776", "9223372036854775807"};
  text.replace(from, end - from, kTexts[Below(std::size(kTexts), random)]);
}

/// Bytes that stand for a number, low byte first.
void WriteNumber(std::string& text, std::mt19937& random) {
  const uint64_t number = kNumbers[Below(std::size(kNumbers), random)];
  const size_t width = size_t{1} << Below(4, random), at = Below(text.size(), random);
  for (size_t i = 0; i < width && at + i < text.size(); ++i) text[at + i] = static_cast<char>(number >> (8 * i));
}

std::string Unescaped(std::string_view quoted, const std::string& line) {
  std::string value;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      value += quoted[i];
      continue;
    }
    Require(++i < quoted.size(), "a dictionary has the line ", line);
    if (quoted[i] != 'x') {
      value += quoted[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = quoted.substr(i + 1, 2);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    Require(error == std::errc() && stop == digits.data() + 2, "a dictionary has the line ", line);
    value += static_cast<char>(byte);
    i += 2;
  }
  return value;
}

}  // namespace

Dictionary ReadDictionary(const std::filesystem::path& path) {
  Dictionary words;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t open = line.find('"'), close = line.rfind('"');
    Require(open != close, "a dictionary has the line ", line);
    words.push_back(Unescaped(std::string_view(line).substr(open + 1, close - open - 1), line));
  }
  return words;
}

std::string Mutator::Piece(std::string_view text, std::mt19937& random) const {
  const std::string_view from = inputs_.empty() || random() % 2 == 0 ? text : std::string_view(inputs_[Below(inputs_.size(), random)]);
  return std::string(from.substr(Below(from.size(), random), 1 + Below(random() % 4 == 0 ? 400 : 30, random)));
}

void Mutator::Change(std::string& text, std::mt19937& random) const {
  const size_t at = Below(text.size() + 1, random);
  const bool inside = at < text.size();
  switch (random() % 12) {
    case 0: if (inside) text[at] = static_cast<char>(random()); break;
    case 1: if (inside) text[at] = static_cast<char>(text[at] ^ (1 << Below(8, random))); break;
    case 2: text.insert(at, 1, static_cast<char>(random())); break;
    case 3: text.erase(at, 1 + Below(8, random)); break;
    case 4: if (random() % 4 == 0) text.resize(at); break;
    case 5: text.insert(at, kWords[Below(std::size(kWords), random)]); break;
    case 6:
    case 7: if (!words_.empty()) text.insert(at, words_[Below(words_.size(), random)]); break;
    case 8: text.insert(at, Piece(text, random)); break;
    case 9: {
      const std::string piece = Piece(text, random);
      text.replace(at, piece.size(), piece);
      break;
    }
    case 10: ChangeNumber(text, random); break;
    default: WriteNumber(text, random);
  }
}

std::string Mutator::Changed(std::string text, std::mt19937& random) const {
  for (size_t i = 1 + Below(random() % 3 == 0 ? 6 : 2, random); i > 0; --i) Change(text, random);
  if (text.size() > kMostBytes) text.resize(kMostBytes);
  return text;
}

}  // namespace weft::fuzz
