/* Times MPI_Allreduce of floats, as weft_rank_bench times the sum in the order of the tree: allreduce BATCHES BYTES...
   With a buffer for the result and without one (MPI_IN_PLACE): the faster counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BATCHES = 1000 };

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

/* The best and the median of some batches, each as long as the slowest rank takes, in milliseconds a call. */
static void time_calls(const float* mine, float* sum, long count, int batches, double* best, double* median) {
  double times[MOST_BATCHES];
  long bytes = count * (long)sizeof(float), calls = (16L << 20) / (bytes > 0 ? bytes : 1);
  calls = calls < 1 ? 1 : calls > 200 ? 200 : calls;
  for (int batch = -1; batch < batches; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long i = 0; i < calls; ++i) MPI_Allreduce(mine == NULL ? MPI_IN_PLACE : mine, sum, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    double own = (MPI_Wtime() - start) * 1e3 / (double)calls, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (batch >= 0) times[batch] = slowest;
  }
  qsort(times, (size_t)batches, sizeof *times, compare);
  *best = times[0];
  *median = times[batches / 2];
}

int main(int argc, char** argv) {
  int rank, ranks, batches = argc > 2 ? atoi(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (batches < 1 || batches > MOST_BATCHES) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 2; i < argc; ++i) {
    long bytes = atol(argv[i]), count = bytes / (long)sizeof(float);
    float *mine = malloc((size_t)bytes), *sum = malloc((size_t)bytes);
    double best, median, best_in_place, median_in_place;
    if (mine == NULL || sum == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (long j = 0; j < count; ++j) mine[j] = (float)(rank + 1);
    time_calls(mine, sum, count, batches, &best, &median);
    for (long j = 0; j < count; ++j) {
      if (sum[j] != (float)(ranks * (ranks + 1) / 2)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* Sums of sums grow beyond all numbers; zeros do not. */
    memset(sum, 0, (size_t)bytes);
    time_calls(NULL, sum, count, batches, &best_in_place, &median_in_place);
    if (best_in_place < best) best = best_in_place, median = median_in_place;
    if (rank == 0) printf("{\"reduction\": \"allreduce\", \"ranks\": %d, \"bytes\": %ld, \"ms\": %.6f, \"median_ms\": %.6f}\n", ranks, bytes, best, median), fflush(stdout);
    free(mine);
    free(sum);
  }
  MPI_Finalize();
  return 0;
}
