// The tables of checked gradients, by the files that hold them.
#pragma once

#include <vector>

#include "tests/kit/gradient_rows.h"

namespace weft::kit {

std::vector<GradientRow> MathGradients();
std::vector<GradientRow> ElementwiseGradients();
std::vector<GradientRow> ArrayGradients();
std::vector<GradientRow> MoveGradients();
std::vector<GradientRow> IndexingGradients();
std::vector<GradientRow> NetworkGradients();
std::vector<GradientRow> ConvolutionGradients();
std::vector<GradientRow> PoolingGradients();
std::vector<GradientRow> NormGradients();
std::vector<GradientRow> ReductionGradients();
std::vector<GradientRow> SpecialGradients();
std::vector<GradientRow> ImageGradients();
std::vector<GradientRow> SparseGradients();
std::vector<GradientRow> TensorArrayGradients();

}  // namespace weft::kit
