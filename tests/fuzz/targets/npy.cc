// .npy files: read, and written again as results.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "tools/cli/results_io.h"

namespace weft::fuzz {

void NpyFile(std::string_view bytes) {
  const std::filesystem::path path = ScratchFile("x.npy", bytes);
  const Result<Tensor> tensor = cli::ReadNpy(path.string(), nullptr);
  if (!tensor.ok()) return CheckStatus(tensor.status());
  const int64_t size = tensor->count() * static_cast<int64_t>(ElementSize(tensor->dtype()));
  Require(size <= static_cast<int64_t>(bytes.size()), "a file of ", bytes.size(), " bytes gives a value of ", size);
  const cli::NamedTensors results = {{"x.output", *tensor}, {"x.again", *tensor}};
  (void)cli::ResultsJson(results);
  CheckStatus(cli::SaveResults((ScratchFolder() / "x.npz").string(), results));
}

}  // namespace weft::fuzz
