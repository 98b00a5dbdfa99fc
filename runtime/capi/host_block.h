// Blocks of the host: C functions behind the declarations of the block layer.
#pragma once

#include <memory>
#include <vector>

#include "runtime/capi/guard.h"
#include "weft/block/def.h"

namespace weft::capi {

/// What a host brought: its functions, and the `user` that it gets back. Kept by the block's declaration and by plans of it.
class HostBlock {
 public:
  explicit HostBlock(const weft_block& block) : block_(block) {}
  ~HostBlock() {
    if (added_ && block_.release != nullptr) block_.release(block_.user);
  }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  const weft_block& functions() const { return block_; }
  /// From now on `release` is called at the end.
  void SetAdded() { added_ = true; }

 private:
  const weft_block block_;  // only its functions and `user`: the texts it points to are the host's
  bool added_ = false;
};

/// What PlanHost leaves for RunHost: the host's parameters, and the types of the values.
struct HostPlan {
  std::shared_ptr<HostBlock> block;
  void* parameters = nullptr;
  std::vector<DType> inputs, outputs;
  size_t input_ports = 0, output_ports = 0;

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

}  // namespace weft::capi
