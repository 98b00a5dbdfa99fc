// A library of messages whose functions a test gives: RankLink opens it as it opens that of an MPI.
#include "weft/host/message_module.h"

namespace {
const WeftMessages* given = nullptr;
}

extern "C" __attribute__((visibility("default"))) void give_messages(const WeftMessages* messages) { given = messages; }
extern "C" __attribute__((visibility("default"))) const WeftMessages* weft_messages(void) { return given; }
