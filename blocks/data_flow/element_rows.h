// Elements of queues as rows of tensors: many go in and come out as one tensor for each component.
#pragma once

#include <span>
#include <vector>

#include "blocks/data_flow/queue.h"

namespace weft::blocks {

/// Cuts tensors along their first axis: element r has row r of each. All have the same number of rows. cancelled where the run of `workers`
/// is to end; resource_exhausted where the elements do not fit in what is left of the budget.
Result<std::vector<QueueElement>> CutRows(std::span<const Tensor> components, const std::shared_ptr<MemoryBudget>& budget,
                                          const Workers& workers);

/// The components of an element as kernels need them, aligned: small rows share a buffer.
Result<QueueElement> AsOwnTensors(const QueueElement& element, const std::shared_ptr<MemoryBudget>& budget);

/// The inverse of CutRows, for elements of a queue whose components can be joined (QueueSpec::joinable): a tensor for each component. Where
/// elements are padded, the row of each is as large as the largest needs.
Result<std::vector<Tensor>> JoinElements(std::span<const QueueElement> elements, const QueueSpec& spec,
                                         const std::shared_ptr<MemoryBudget>& budget, Workers& workers);

}  // namespace weft::blocks
