// How much memory edits take.
#include "weft/page/edit.h"

namespace weft {
namespace {

template <class... Texts>
int64_t Length(const Texts&... texts) {
  return static_cast<int64_t>((texts.size() + ...));
}

int64_t More(const AddBlock& edit) { return BytesOf(edit.block); }
int64_t More(const RemoveBlock& edit) { return Length(edit.block); }
int64_t More(const Connect& edit) {
  PageInput one;
  one.items = {edit.item};
  return BytesOf(one) + Length(edit.to.block, edit.to.port);
}
int64_t More(const Disconnect& edit) { return Length(edit.to.block, edit.to.port); }
int64_t More(const SetInput& edit) { return (edit.value ? BytesOf(*edit.value) : 0) + Length(edit.to.block, edit.to.port); }
int64_t More(const SetAttr& edit) { return Length(edit.block, edit.attr, edit.json, edit.text); }
int64_t More(const SetAttrs& edit) { return Length(edit.block, edit.attrs, edit.attrs_object); }
int64_t More(const RenameBlock& edit) { return Length(edit.block, edit.to); }
int64_t More(const MoveBlock& edit) { return Length(edit.block); }
int64_t More(const SetKey& edit) { return Length(edit.block, edit.key, edit.json); }

}  // namespace

int64_t BytesOf(std::span<const Edit> edits) {
  auto bytes = static_cast<int64_t>(edits.size() * sizeof(Edit));
  for (const Edit& edit : edits) bytes += std::visit([](const auto& one) { return More(one); }, edit);
  return bytes;
}

}  // namespace weft
