// SPDX-License-Identifier: Apache-2.0

// 32-bit programs read folders whose entries have 64-bit offsets and numbers, most of all under
// emulation; without this, readdir and stat fail there.
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include "hal/system_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hal/cpuinfo.h"
#include "halyard/hal_types.h"

namespace halyard::hal {
namespace {

// Far above /proc/cpuinfo of the largest machine; a root given by hand may hold anything.
constexpr size_t kMaxFileBytes = size_t{16} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// With `one_read`, a read that does not fill the buffer is taken for the last: so it is in /sys,
// and a large machine has thousands of such files.
std::optional<std::string> ReadFile(const std::string& path, bool one_read) {
  // Not blocking: a pipe in a root given by hand must not hang its reader.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return std::nullopt;
  std::string text;
  char chunk[4096];
  while (text.size() < kMaxFileBytes) {
    const ssize_t got = read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(chunk, static_cast<size_t>(got));
    if (one_read && static_cast<size_t>(got) < sizeof chunk) break;
  }
  return text;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

class FolderView final : public SystemView {
 public:
  explicit FolderView(std::string root) : root_(std::move(root)) {}

  std::optional<std::string> Read(absl::string_view path) const override {
    std::optional<std::string> text =
        ReadFile(absl::StrCat(root_, "/", path), absl::StartsWith(path, "sys/"));
    if (text.has_value() && absl::EndsWith(*text, "\n")) text->pop_back();
    return text;
  }

  std::vector<std::string> List(absl::string_view path) const override {
    return ListFolder(absl::StrCat(root_, "/", path));
  }

  bool is_live() const override { return root_.empty(); }

  std::string arch() const override {
    if (!is_live()) {
      // Since Linux 6.1. Older trees do not say what they were copied from.
      return Read("proc/sys/kernel/arch").value_or(std::string(BuildArch()));
    }
    utsname name{};
    if (uname(&name) != 0) return std::string(BuildArch());
    return name.machine;
  }

  uint64_t page_bytes() const override {
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? static_cast<uint64_t>(bytes) : 4096;
  }

  IsaMask isa(uint32_t pu) const override {
    if (is_live()) return LiveIsa();
    std::call_once(cpuinfo_read_,
                   [this] { cpuinfo_ = ParseCpuinfo(arch(), Read("proc/cpuinfo").value_or("")); });
    return CpuinfoIsa(cpuinfo_, pu);
  }

  uint32_t source() const override { return HY_SOURCE_SYSFS; }

 private:
  const std::string root_;  // without trailing slash; "" is the real root
  mutable std::once_flag cpuinfo_read_;
  mutable std::vector<CpuinfoUnit> cpuinfo_;
};

}  // namespace

std::shared_ptr<const SystemView> RealSystem(absl::string_view root) {
  while (absl::ConsumeSuffix(&root, "/")) {
  }
  return std::make_shared<FolderView>(std::string(root));
}

absl::StatusOr<std::shared_ptr<const SystemView>> OpenSystemView(absl::string_view path) {
  const std::string name(path);
  struct stat info {};
  if (stat(name.c_str(), &info) != 0) {
    return absl::NotFoundError(absl::StrCat("no file or folder '", name, "'"));
  }
  if (S_ISDIR(info.st_mode)) return RealSystem(name);
  const std::optional<std::string> text = ReadFile(name, false);
  if (!text.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read '", name, "'"));
  }
  absl::StatusOr<std::shared_ptr<const SystemView>> image = ParseSystemImage(*text);
  if (image.ok()) return image;
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", image.status().message()));
}

}  // namespace halyard::hal
