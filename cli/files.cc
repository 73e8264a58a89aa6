// SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace halyard::cli {
namespace {

// `named` is the file that the message speaks of.
absl::Status WriteBytes(const std::string& path, const std::string& named,
                        const std::string& contents) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (file) file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (file) file.close();
  if (file) return absl::OkStatus();
  const int reason = errno != 0 ? errno : EIO;
  return absl::PermissionDeniedError(absl::StrCat("cannot write ", named, ": ", strerror(reason),
                                                  reason == ENOSPC
                                                      ? ". Make room, or name a file elsewhere"
                                                      : ". Choose a folder that you may write to"));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  if (file) contents << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", strerror(errno)));
  return contents.str();
}

absl::Status WriteFile(const std::string& path, const std::string& contents) {
  // A device, a pipe or standard output is written into: a rename would put a file in its place,
  // for root even in that of /dev/null.
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
      !std::filesystem::is_directory(there)) {
    return WriteBytes(path, path, contents);
  }
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : real.string();  // a link goes on pointing where it did
  const std::string temporary = absl::StrCat(target, ".part", getpid());
  const absl::Status written = WriteBytes(temporary, path, contents);
  if (!written.ok()) {
    std::filesystem::remove(temporary, error);
    return written;
  }
  std::filesystem::rename(temporary, target, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write ", path, ": ", reason, ". Name another file"));
  }
  return absl::OkStatus();
}

absl::Status MakeWritableDir(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return absl::PermissionDeniedError(absl::StrCat(
        "cannot make the folder ", path, ": ", error.message(), ". Name another one with --out"));
  }
  // access(2) says yes to root on a read-only mount's files; only a write tells.
  const std::string probe = path + "/.halyard-probe";
  const absl::Status status = WriteFile(probe, "");
  std::filesystem::remove(probe, error);
  if (!status.ok()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the folder ", path, " cannot be written to. Name another one with --out"));
  }
  return absl::OkStatus();
}

}  // namespace halyard::cli
