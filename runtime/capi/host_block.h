// Host blocks: blocks whose plan, run and gradient are C functions of the host.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/capi/guard.h"
#include "weft/block/def.h"
#include "weft/block/registry.h"

namespace weft::capi {

/// The functions of a host's block and their `user` argument. Owned by the block's declaration and by every plan of the block; calls
/// `release` with the last of them.
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
  /// The block was added to a runtime: the destructor calls `release`.
  void SetAdded() { added_ = true; }

 private:
  const weft_block block_;  // only functions and `user` are used: the texts are the host's and may be gone
  const Registry& registry_;
  bool added_ = false;
};

/// The parameters that PlanHost makes for RunHost and ProduceHost. Owns the host's parameters.
struct HostPlan {
  std::shared_ptr<HostBlock> block;
  void* parameters = nullptr;
  std::vector<DType> inputs, outputs;
  // For ProduceHost only: by output, the shape where it is known, else what is known of it; and the scratch memory to allocate.
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

/// The largest number of input ports, and of output ports.
inline constexpr int kMostHostPorts = 32;

Result<PlannedBlock> PlanHost(const std::shared_ptr<HostBlock>& block, PlanContext& ctx);
Status RunHost(const void* parameters, RunContext& ctx);
Status ProduceHost(const void* parameters, ProduceContext& ctx);
Status GradientHost(const HostBlock& block, const BlockDef& def, GradientBuilder& builder);

}  // namespace weft::capi
