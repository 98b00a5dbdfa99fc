// Messages between the processes of a job, by MPI. Compiled against each MPI that is installed, into a library of its own.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "weft/host/message_module.h"

namespace {

// The state of the one job that a process is part of, as MPI itself has it. Used by one thread at a time.
struct Job {
  MPI_Comm all = MPI_COMM_NULL;
  std::vector<MPI_Request> requests;  // by number
  std::vector<int> expected;          // by number: bytes to come, or -1 where they go
  std::vector<int> unused;            // numbers of those that are done
  std::string error, name;
  bool began = false;  // MPI by this library, which then ends it
};
Job job;

int Check(int code) {
  if (code == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  job.error = MPI_Error_string(code, text, &length) == MPI_SUCCESS ? std::string(text, static_cast<size_t>(length)) : "an unknown error";
  return -1;
}

void NoteName() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  job.name.assign(text, static_cast<size_t>(length));
  job.name.resize(std::min(job.name.size(), job.name.find_first_of(",\n")));
}

// Where the host has begun MPI itself (mpi4py, say), its calls and those of this library come at the same time.
int BeginThreads() {
  int there = 0, provided = 0;
  if (Check(MPI_Initialized(&there)) != 0) return -1;
  job.began = there == 0;
  if (Check(job.began ? MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) : MPI_Query_thread(&provided)) != 0) return -1;
  if (provided >= (job.began ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE)) return 0;
  job.error = job.began ? "this MPI takes calls of one thread only" : "the program has begun MPI without MPI_THREAD_MULTIPLE";
  return -1;
}

int Begin(int* rank, int* size) {
  if (BeginThreads() != 0) return -1;
  if (Check(MPI_Comm_dup(MPI_COMM_WORLD, &job.all)) != 0) return -1;
  MPI_Comm_set_errhandler(job.all, MPI_ERRORS_RETURN);
  NoteName();
  if (Check(MPI_Comm_rank(job.all, rank)) != 0) return -1;
  return Check(MPI_Comm_size(job.all, size));
}

const char* Name() { return job.name.c_str(); }

int NewRequest() {
  if (job.unused.empty()) {
    job.requests.push_back(MPI_REQUEST_NULL);
    job.expected.push_back(-1);
    return static_cast<int>(job.requests.size()) - 1;
  }
  const int number = job.unused.back();
  job.unused.pop_back();
  return number;
}

int Began(int number, int code) {
  if (Check(code) == 0) return number;
  job.unused.push_back(number);
  return -1;
}

int Send(int to, int tag, const void* data, size_t bytes) {
  const int number = NewRequest();
  job.expected[static_cast<size_t>(number)] = -1;
  return Began(number, MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, job.all, &job.requests[static_cast<size_t>(number)]));
}

int Receive(int from, int tag, void* data, size_t bytes) {
  const int number = NewRequest();
  job.expected[static_cast<size_t>(number)] = static_cast<int>(bytes);
  return Began(number, MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, job.all, &job.requests[static_cast<size_t>(number)]));
}

int Test(int request) {
  int done = 0, bytes = 0;
  MPI_Status status;
  if (Check(MPI_Test(&job.requests[static_cast<size_t>(request)], &done, &status)) != 0) return -1;
  if (done == 0) return 0;
  job.unused.push_back(request);
  const int expected = job.expected[static_cast<size_t>(request)];
  if (expected < 0) return 1;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == expected) return 1;
  job.error = "a message has " + std::to_string(bytes) + " bytes, and " + std::to_string(expected) + " were to come";
  return -1;
}

int Arrived(int tag, int* from, size_t* bytes) {
  int found = 0, count = 0;
  MPI_Status status;
  if (Check(MPI_Iprobe(MPI_ANY_SOURCE, tag, job.all, &found, &status)) != 0) return -1;
  if (found == 0) return 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *bytes = static_cast<size_t>(count);
  return 1;
}

const char* Error() { return job.error.c_str(); }

void Abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  _Exit(status);
}

void End() {
  MPI_Comm_free(&job.all);
  if (job.began) MPI_Finalize();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const WeftMessages* weft_messages(void) {
  static constexpr WeftMessages messages = {WEFT_MESSAGES_VERSION, Begin, Name, Send, Receive, Test, Arrived, Error, Abort, End};
  return &messages;
}
