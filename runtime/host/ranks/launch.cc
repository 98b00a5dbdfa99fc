// How this process was started.
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "weft/host/rank_link.h"

namespace weft {
namespace {

std::optional<int> NumberOf(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), number).ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<Launch> Started(const char* rank, const char* size, const char* library, const char* name) {
  const std::optional<int> number = NumberOf(rank), count = NumberOf(size);
  if (!number || !count || *count < 1 || *number < 0 || *number >= *count) return std::nullopt;
  const int on_host = NumberOf("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(NumberOf("MPI_LOCALNRANKS").value_or(1));
  return Launch{library, name, *number, *count, on_host};
}

}  // namespace

std::optional<Launch> FindLaunch() {
  // (Slurm's own launcher sets PMIX_RANK with its plugin for Open MPI, PMI_RANK with those that MPICH takes.)
  if (auto open = Started("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "libweft_mpi.so", "Open MPI")) return open;
  if (auto slurm = Started("PMIX_RANK", "SLURM_NTASKS", "libweft_mpi.so", "Open MPI")) return slurm;
  return Started("PMI_RANK", "PMI_SIZE", "libweft_mpi_mpich.so", "MPICH");
}

}  // namespace weft
