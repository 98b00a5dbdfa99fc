/* A host in C99 that trains a page on the processes of a launcher of MPI: the batch in shards, and the same bits on any number of them.
 *
 *     mpirun -n 2 train PAGE SHARDS STEPS DEADLINE_MS OUT VARIABLES [OUTPUT FILE ROWS COLUMNS]...
 *
 * An '@' in PAGE and OUT is the rank. Each OUTPUT is fed the floats of FILE, the whole batch. After the last step the results and the VARIABLES (their
 * ids, with commas between) are written to the folder OUT, a file of bytes each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

static weft_runtime* runtime = NULL;
static weft_diagnostics* problems = NULL;

/* A failure of this rank alone ends the job, so that others do not wait for it. */
static void end_alone(const char* why) {
  weft_runtime_abort_job(runtime, why, NULL);
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static void check(weft_status status) {
  const char* text = "";
  if (status == WEFT_OK) return;
  weft_diagnostics_text(problems, &text);
  end_alone(text);
}

static void put_rank(char* out, size_t size, const char* name, int rank) {
  const char* at = strchr(name, '@');
  if (at == NULL) snprintf(out, size, "%s", name);
  else snprintf(out, size, "%.*s%d%s", (int)(at - name), name, rank, at + 1);
}

static void feed(weft_sharded* run, char** arguments) {
  weft_buffer buffer = WEFT_BUFFER_INIT;
  int64_t shape[2];
  FILE* file = fopen(arguments[1], "rb");
  shape[0] = atol(arguments[2]);
  shape[1] = atol(arguments[3]);
  buffer.dtype = WEFT_FLOAT;
  buffer.rank = 2;
  buffer.shape = shape;
  buffer.bytes = shape[0] * shape[1] * (int64_t)sizeof(float);
  buffer.data = malloc((size_t)buffer.bytes);
  if (file == NULL || fread(buffer.data, 1, (size_t)buffer.bytes, file) != (size_t)buffer.bytes) end_alone("found no data");
  fclose(file);
  check(weft_sharded_feed(run, arguments[0], &buffer, &problems));
  free(buffer.data);
}

static void write_view(const char* folder, const char* name, weft_view* view) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  char path[4096];
  FILE* file;
  weft_view_get_info(view, &info);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "wb");
  if (file == NULL || fwrite(info.data, 1, (size_t)info.bytes, file) != (size_t)info.bytes) end_alone("cannot write what it has computed");
  fclose(file);
  weft_view_release(view);
}

static void write_all(weft_page* page, weft_sharded* run, const char* folder, char* variables) {
  weft_strings* names = NULL;
  weft_view* view = NULL;
  const char* name = NULL;
  char* id;
  size_t count = 0, i;
  check(weft_sharded_results(run, &names, &problems));
  weft_strings_count(names, &count);
  for (i = 0; i < count; ++i) {
    weft_strings_get(names, i, &name, NULL);
    check(weft_sharded_view(run, name, &view, &problems));
    write_view(folder, name, view);
  }
  weft_strings_release(names);
  for (id = strtok(variables, ","); id != NULL; id = strtok(NULL, ",")) {
    check(weft_page_get_variable(page, id, &view, &problems));
    write_view(folder, id, view);
  }
}

int main(int count, char** arguments) {
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  weft_job_info job = WEFT_JOB_INFO_INIT;
  weft_sharded_options sharding = WEFT_SHARDED_OPTIONS_INIT;
  weft_page* page = NULL;
  weft_sharded* run = NULL;
  char path[4096];
  long steps, i;
  if (count < 7) return 2;
  options.messages = "auto";
  options.job_deadline_ns = atol(arguments[4]) * 1000000;
  check(weft_runtime_open(&options, &runtime, &problems));
  check(weft_runtime_get_job(runtime, &job, &problems));
  put_rank(path, sizeof path, arguments[1], job.rank);
  check(weft_page_load_file(runtime, path, NULL, &page, &problems));
  sharding.shards = atoi(arguments[2]);
  sharding.settings = arguments[3];
  if (weft_sharded_open(page, &sharding, &run, &problems) != WEFT_OK) { /* on all ranks alike: one speaks for all */
    const char* text = "";
    weft_diagnostics_text(problems, &text);
    if (job.rank == 0) fputs(text, stderr);
    weft_page_close(page);
    weft_runtime_close(runtime);
    return 1;
  }
  for (i = 7; i + 3 < count; i += 4) feed(run, arguments + i);
  steps = atol(arguments[3]);
  for (i = 1; i <= steps; ++i) check(weft_sharded_step(run, i == steps, &problems));
  put_rank(path, sizeof path, arguments[5], job.rank);
  write_all(page, run, path, arguments[6]);
  printf("rank %d of %d, by %s\n", job.rank, job.ranks, job.library);
  weft_sharded_close(run);
  weft_page_close(page);
  weft_runtime_close(runtime); /* leaves the job together with the others */
  return 0;
}
