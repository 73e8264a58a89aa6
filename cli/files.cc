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

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  if (file) contents << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", strerror(errno)));
  return contents.str();
}

absl::Status WriteFile(const std::string& path, const std::string& contents) {
  const std::string temporary = absl::StrCat(path, ".part", getpid());
  std::error_code error;
  errno = 0;
  {
    std::ofstream file(temporary, std::ios::binary);
    if (file) file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    if (file) file.flush();
    if (!file) {
      const int reason = errno;
      std::filesystem::remove(temporary, error);
      return absl::PermissionDeniedError(absl::StrCat("cannot write ", path, ": ",
                                                      strerror(reason != 0 ? reason : EIO),
                                                      ". Choose a folder that you may write to"));
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(temporary, error);
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path, ": ", reason));
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
