// SPDX-License-Identifier: Apache-2.0
//
// A forked process with a pipe for its answers and a file for what it prints.
#ifndef HALYARD_CONFORMANCE_CHILD_PROCESS_H_
#define HALYARD_CONFORMANCE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace halyard::conformance {

/// One forked process, its result pipe and its captured output.
class Child {
 public:
  Child() = default;
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Forks; `run(fd)` is called in the child with the write end of the pipe and does not return.
  absl::Status Start(absl::FunctionRef<void(int pipe_fd, int output_fd)> run);

  /// The next line that the child wrote; nothing when the child has ended or the deadline passed.
  std::optional<std::string> ReadLine(uint64_t deadline_ns, bool* out_timed_out);

  /// Kills the process group and collects the process. Returns its wait status.
  int Kill();
  /// Waits for the end; kills after the deadline.
  int Wait(uint64_t deadline_ns, bool* out_timed_out);

  std::string OutputTail() const;

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  int output_ = -1;
  std::string pending_;
};

/// In the child: writes a line to the pipe; ends the process if the parent is gone.
void WriteLine(int fd, std::string line);

/// Size of the captured output, and its tail from a place on.
off_t OutputSize(int fd);
std::string ReadOutput(int fd, off_t from);

/// "the process died of SIGSEGV (Segmentation fault)".
std::string DescribeEnd(int wait_status);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_CHILD_PROCESS_H_
