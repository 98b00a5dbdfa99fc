// What the blocks that save tensors under names have in common: their ports of any number, and the parts of tensors that they are given.
#pragma once

#include <vector>

#include "blocks/data_flow/state_block.h"

#include "blocks/io/checkpoint/parts.h"
#include "blocks/limits.h"

namespace weft::blocks {

/// The types of the tensors to save; invalid_argument where there are none, or not a name for each.
Result<DTypes> PlanSaved(const PlanContext& ctx, const auto& names, const auto& data) {
  const int count = ctx.count(data);
  if (count == 0) return ctx.Error(data, "needs at least one tensor, found none");
  if (ctx.shape(names).count() != count) {
    return ctx.Error(names, "needs a name for each of the ", count, " tensors, found the shape ", ctx.shape(names));
  }
  return DTypesOf(ctx, data);
}

/// invalid_argument unless there is a specification of a part for each of `count` tensors.
Status CheckSpecs(const PlanContext& ctx, const auto& specs, int64_t count) {
  if (ctx.shape(specs) == Shape{count}) return {};
  return ctx.Error(specs, "needs a specification for each of the ", count, " tensors (empty for the whole), found the shape ", ctx.shape(specs));
}

/// The tensors under their names. They are views: valid while the block runs, and only read.
std::vector<checkpoint::NamedTensor> SavedTensors(const ProduceContext& ctx, const DTypes& dtypes, const auto& names, const auto& data) {
  std::vector<checkpoint::NamedTensor> tensors;
  const auto texts = ctx.template in<String>(names);
  for (int k = 0; k < ctx.count(data); ++k) {
    void* elements = const_cast<std::byte*>(ctx.template in<std::byte>(data, k).data());
    tensors.push_back({std::string(texts[k]), Tensor::View(dtypes[k], ctx.shape(data, k), elements, nullptr)});
  }
  return tensors;
}

/// Adds which part of a whole each tensor is. invalid_argument where a specification is none, or of another shape than the tensor.
Status AddParts(const ProduceContext& ctx, const auto& specs, std::vector<checkpoint::NamedTensor>& tensors) {
  const auto texts = ctx.template in<String>(specs);
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (texts[k].empty()) continue;
    WEFT_ASSIGN_OR_RETURN(checkpoint::PartSpec part, AtPort(specs, checkpoint::ParsePartSpec(texts[k])));
    const Shape shape = checkpoint::BoxOf(part.slice, part.whole)->shape();
    if (shape != tensors[k].tensor.shape()) {
      return ctx.Error(specs, "needs the shape ", tensors[k].tensor.shape(), " of tensor '", tensors[k].name, "', found '", texts[k],
                       "', which is of shape ", shape);
    }
    tensors[k].part = std::move(part);
  }
  return {};
}

/// The part of a checkpoint's tensor that a specification asks for; empty: all. invalid_argument for none, or another tensor's shape.
inline Result<checkpoint::TensorSlice> PartOf(std::string_view spec, std::string_view name, const Shape& whole) {
  if (spec.empty()) return checkpoint::TensorSlice::Whole(whole.rank());
  WEFT_ASSIGN_OR_RETURN(checkpoint::PartSpec part, checkpoint::ParsePartSpec(spec));
  if (part.whole != whole) return InvalidArgument("needs the shape ", whole, " of tensor '", name, "', found '", spec, "'");
  return std::move(part.slice);
}

}  // namespace weft::blocks
