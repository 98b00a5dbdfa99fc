#include "blocks/collective/group.h"

namespace weft::blocks {

Result<std::vector<std::string>> Meet(Collectives& collectives, const GroupCall& call, const GroupPlan& plan) {
  if (call.size == 1) return std::vector<std::string>();
  if (call.size != collectives.size()) {
    Status status = InvalidArgument("needs a group of 1 or of all ", collectives.size(), " processes of the job, found ", call.size);
    return std::move(status).WithPort("group_size").WithHint("mpirun -n N starts N processes");
  }
  collectives.SetDeadline(CollectiveUser::kBlocks, plan.timeout);
  const std::string own = Cat(call.part, ", group ", call.key, ", instance ", call.instance);
  return GatherAll(collectives, CollectiveUser::kBlocks, own, Cat("for ", own));
}

Status CheckAlike(const Collectives& collectives, const std::vector<std::string>& all) {
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    return FailedPrecondition(RankName(collectives, r), " comes with ", all[r], ", rank 0 with ", all[0])
        .WithHint("all ranks need the same page");
  }
  return {};
}

}  // namespace weft::blocks
