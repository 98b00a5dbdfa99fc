// Blocks of the host: C functions behind the declarations of the block layer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/capi/guard.h"
#include "weft/block/def.h"
#include "weft/block/registry.h"

namespace weft::capi {

/// What a host brought: its functions, and the `user` that it gets back. Kept by the block's declaration and by plans of it.
class HostBlock {
 public:
  /// `registry` is the one that the block is added to.
  HostBlock(const weft_block& block, const Registry& registry) : block_(block), registry_(registry) {}
  ~HostBlock() {
    if (added_ && block_.release != nullptr) block_.release(block_.user);
  }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  const weft_block& functions() const { return block_; }
  const Registry& registry() const { return registry_; }
  /// From now on `release` is called at the end.
  void SetAdded() { added_ = true; }

 private:
  const weft_block block_;  // only its functions and `user`: the texts it points to are the host's
  const Registry& registry_;
  bool added_ = false;
};

/// What PlanHost leaves for RunHost: the host's parameters, and the types of the values.
struct HostPlan {
  std::shared_ptr<HostBlock> block;
  void* parameters = nullptr;
  std::vector<DType> inputs, outputs;
  // Where the run tells shapes: those that are known, by output, what is known of the others, and the scratch to bring along.
  std::vector<std::optional<Shape>> shapes;
  std::vector<PartialShape> partial;
  std::vector<uint32_t> out_first;  // the first output value of each port
  size_t input_ports = 0;
  int64_t scratch_bytes = 0;

  explicit HostPlan(std::shared_ptr<HostBlock> of) : block(std::move(of)) {}
  ~HostPlan() {
    const weft_block& functions = block->functions();
    if (parameters != nullptr && functions.free_parameters != nullptr) functions.free_parameters(functions.user, parameters);
  }
  HostPlan(const HostPlan&) = delete;
  HostPlan& operator=(const HostPlan&) = delete;
};

/// The most ports on a side.
inline constexpr int kMostHostPorts = 32;

Result<PlannedBlock> PlanHost(const std::shared_ptr<HostBlock>& block, PlanContext& ctx);
Status RunHost(const void* parameters, RunContext& ctx);
Status ProduceHost(const void* parameters, ProduceContext& ctx);
Status GradientHost(const HostBlock& block, const BlockDef& def, GradientBuilder& builder);

}  // namespace weft::capi
