// SPDX-License-Identifier: Apache-2.0
#include "conformance/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/monotonic_clock.h"

namespace halyard::conformance {
namespace {

constexpr size_t kOutputTailBytes = 600;

int OpenCapture() {
  const int fd = memfd_create("halyard-conformance-output", MFD_CLOEXEC);
  if (fd >= 0) return fd;
  std::FILE* const file = std::tmpfile();
  return file == nullptr ? -1 : dup(fileno(file));
}

void BecomeChild(int output_fd, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int null_fd = open("/dev/null", O_RDONLY);
  if (null_fd >= 0) dup2(null_fd, STDIN_FILENO);
  if (null_fd > STDERR_FILENO) close(null_fd);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
}

int MillisUntil(uint64_t deadline_ns) {
  const uint64_t now = MonotonicNs();
  if (now >= deadline_ns) return 0;
  return static_cast<int>(std::min<uint64_t>((deadline_ns - now) / 1'000'000 + 1, 3'600'000));
}

}  // namespace

Child::~Child() {
  Kill();
  if (pipe_ >= 0) close(pipe_);
  if (output_ >= 0) close(output_);
}

absl::Status Child::Start(absl::FunctionRef<void(int, int)> run) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  pipe_ = ends[0];
  output_ = OpenCapture();
  if (output_ < 0) {
    close(ends[1]);
    return absl::InternalError(absl::StrCat("no file for output: ", std::strerror(errno)));
  }
  // What is buffered would else be written by both.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    BecomeChild(output_, parent);
    SetLogSink({});  // the program's sink may print, which would be laid to the port
    run(ends[1], output_);
    _exit(0);
  }
  const int fork_errno = errno;
  close(ends[1]);
  if (pid_ < 0) return absl::InternalError(absl::StrCat("fork: ", std::strerror(fork_errno)));
  setpgid(pid_, pid_);
  return absl::OkStatus();
}

std::optional<std::string> Child::ReadLine(uint64_t deadline_ns, bool* out_timed_out) {
  *out_timed_out = false;
  for (;;) {
    const size_t newline = pending_.find('\n');
    if (newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    pollfd ready{pipe_, POLLIN, 0};
    const int count = poll(&ready, 1, MillisUntil(deadline_ns));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 && MonotonicNs() < deadline_ns) continue;  // the longest wait of poll is shorter
    if (count <= 0) {
      *out_timed_out = true;
      return std::nullopt;
    }
    char block[65536];
    const ssize_t bytes = read(pipe_, block, sizeof block);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return std::nullopt;
    pending_.append(block, static_cast<size_t>(bytes));
  }
}

int Child::Kill() {
  if (pid_ < 0) return 0;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status;
}

int Child::Wait(uint64_t deadline_ns, bool* out_timed_out) {
  *out_timed_out = false;
  for (useconds_t pause_us = 200; pid_ >= 0;
       pause_us = std::min<useconds_t>(pause_us * 2, 10'000)) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      // What the child left running in its group goes with it.
      kill(-pid_, SIGKILL);
      pid_ = -1;
      return status;
    }
    if (ended < 0 && errno != EINTR) break;
    if (MonotonicNs() >= deadline_ns) {
      *out_timed_out = true;
      return Kill();
    }
    usleep(pause_us);
  }
  return 0;
}

std::string ReadOutput(int fd, off_t from) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || info.st_size <= from) return "";
  from = std::max(from, info.st_size - static_cast<off_t>(kOutputTailBytes));
  std::string text(static_cast<size_t>(info.st_size - from), '\0');
  const ssize_t bytes = pread(fd, text.data(), text.size(), from);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return std::string(absl::StripAsciiWhitespace(text));
}

std::string Child::OutputTail() const { return ReadOutput(output_, 0); }

off_t OutputSize(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

void WriteLine(int fd, std::string line) {
  line += '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t bytes = write(fd, line.data() + done, line.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) _exit(1);
    done += static_cast<size_t>(bytes);
  }
}

std::string DescribeEnd(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const char* const name = sigabbrev_np(WTERMSIG(wait_status));
    return absl::StrCat("the process died of SIG", name == nullptr ? "?" : name, " (",
                        strsignal(WTERMSIG(wait_status)), ")");
  }
  return absl::StrCat("the process called exit(", WEXITSTATUS(wait_status), ")");
}

}  // namespace halyard::conformance
