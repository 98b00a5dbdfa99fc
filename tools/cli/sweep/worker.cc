#include "tools/cli/sweep/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <iostream>

namespace weft::cli {

Descriptor TakeStandardOutput() {
  std::cout.flush();
  Descriptor output(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return output;
}

Status Work(PointRunner& runner, const SweepId& id) {
  // Who asks for points is gone: what it has not got, nobody waits for.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  Journal output = Journal::Pipe(TakeStandardOutput());
  WEFT_RETURN_IF_ERROR(output.Append(id.Line()));
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(const std::vector<PointRange> ranges, ReadPoints(line, id.points));
    for (const PointRange& range : ranges) {
      for (int64_t point = range.first; point <= range.last; ++point) WEFT_RETURN_IF_ERROR(output.Append(runner.Run(point)));
    }
  }
  return {};
}

}  // namespace weft::cli
