#include "weft/page/page.h"

#include <charconv>

namespace weft {

std::string ToString(const Wire& wire) {
  return wire.index < 0 ? Cat(wire.block, ".", wire.port) : Cat(wire.block, ".", wire.port, "[", wire.index, "]");
}

Result<Wire> ParseWire(std::string_view text) {
  const auto refuse = [&] {
    return InvalidArgument("'", text, "' is not a wire").WithHint("a wire is written ID.port, or ID.port[2] for an element of a list port");
  };
  const size_t dot = text.find('.');
  if (dot == text.npos || dot == 0) return refuse();
  Wire wire;
  wire.block = text.substr(0, dot);
  std::string_view port = text.substr(dot + 1);
  if (port.ends_with(']')) {
    const size_t bracket = port.find('[');
    if (bracket == port.npos) return refuse();
    const char* end = port.data() + port.size() - 1;
    const auto [stop, error] = std::from_chars(port.data() + bracket + 1, end, wire.index);
    if (error == std::errc::result_out_of_range) return OutOfRange("'", text, "' has an index beyond every list");
    if (error != std::errc() || stop != end || wire.index < 0) return refuse();
    port = port.substr(0, bracket);
  }
  if (port.empty()) return refuse();
  for (const char c : port) {
    if (c == '.' || c == '[' || c == ']' || (c >= 0 && c <= ' ') || c == 0x7F) return refuse();
  }
  for (const char c : wire.block) {
    if ((c >= 0 && c < ' ') || c == 0x7F) return refuse();
  }
  wire.port = port;
  return wire;
}

namespace {
constexpr size_t kFaultBytes = 512;
}  // namespace

int64_t BytesOf(const PageInput& input) {
  constexpr size_t kNamesBytes = 16;  // of a wire: what is not stored in place
  size_t bytes = sizeof input + input.port.size() + input.items.size() * (sizeof(InputItem) + kNamesBytes);
  for (const InputItem& item : input.items) {
    if (const Literal* literal = LiteralOf(item)) bytes += sizeof *literal + literal->text.size() + literal->file.size() + literal->extra.size();
  }
  if (input.faults != nullptr) bytes += input.faults->size() * kFaultBytes;
  return static_cast<int64_t>(bytes);
}

int64_t BytesOf(const PageBlock& block) {
  auto bytes = static_cast<int64_t>(sizeof block + block.id.size() + block.type.size() + block.attrs.size() + block.attrs_object.size() +
                                    block.extra.size());
  for (const PageInput& input : block.inputs) bytes += BytesOf(input);
  if (block.faults != nullptr) {
    bytes += static_cast<int64_t>(block.faults->errors.size() * kFaultBytes);
    for (const auto& [key, text] : block.faults->unread) bytes += static_cast<int64_t>(text.size());
  }
  return bytes;
}

int Page::Find(std::string_view id) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

std::string BlockPointer(const Page& page, size_t block) {
  const std::string& imported = page.blocks[block].pointer;
  return imported.empty() ? Cat("/blocks/", block) : imported;
}

}  // namespace weft
