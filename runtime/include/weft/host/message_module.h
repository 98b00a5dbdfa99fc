/* What a library of messages between the processes of a job exports (runtime/mpi). Plain C, and nothing of MPI: one such library is built
   against each MPI that there is, and the engine opens the one that fits the launcher. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_MESSAGES_VERSION = 1 };

/* One thread at a time calls them; begin and end are called on one thread. Those that return int give 0 where they succeed, unless they say otherwise. */
typedef struct WeftMessages {
  uint32_t version; /* WEFT_MESSAGES_VERSION */

  /* Joins the job: waits until all its processes have. Called once. */
  int (*begin)(int* rank, int* size);
  /* "Open MPI v4.1.4"; "" before begin. */
  const char* (*name)(void);

  /* Begin to send or receive; the memory belongs to the library until test says that it is done. Messages of one tag between two processes
     are received in the order in which they were sent. They give a request, or a negative number. */
  int (*send)(int to, int tag, const void* data, size_t bytes);
  int (*receive)(int from, int tag, void* data, size_t bytes);
  /* 1: done, the request is no more; 0: not yet; negative: failed. */
  int (*test)(int request);
  /* Whether a message of this tag has arrived that nobody receives: 1, and from whom and how long; 0; negative: failed. */
  int (*arrived)(int tag, int* from, size_t* bytes);
  /* What the last call that failed says. Valid until the next call. */
  const char* (*error)(void);

  /* Ends all processes of the job. Does not return. */
  void (*abort)(int status);
  /* Leaves the job, when all have got what they wait for. Called once. */
  void (*end)(void);
} WeftMessages;

/* The only symbol that such a library exports. */
const WeftMessages* weft_messages(void);

#ifdef __cplusplus
}
#endif
