// SPDX-License-Identifier: Apache-2.0
//
// Source   proc(5) for the two files, Linux Documentation/admin-guide/cgroup-v1/cgroups.rst and
//          cgroup-v2.rst for what they mean.
#include "hal/cgroup.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"

namespace halyard::hal {
namespace {

// Longer paths the kernel does not have; images from anywhere may.
constexpr size_t kMaxPathBytes = 4096;

struct Mount {
  int version = 0;
  std::string root;   // part of the hierarchy that is mounted
  std::string point;  // where, without leading slash
  std::vector<std::string> options;
};

struct Membership {
  int version = 1;
  std::vector<std::string> controllers;  // empty for v2
  std::string path;
};

// "\040" and its like stand for characters that would break the line into other fields.
std::string Unescape(absl::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const absl::string_view digits = text.substr(i + 1, 3);
    const bool octal = text[i] == '\\' && digits.size() == 3 &&
                       std::all_of(digits.begin(), digits.end(),
                                   [](char digit) { return digit >= '0' && digit <= '7'; });
    if (!octal) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(
        static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0')));
    i += 3;
  }
  return plain;
}

std::vector<Mount> ReadMounts(const SystemView& view) {
  std::vector<Mount> mounts;
  const std::string text = view.Read("proc/self/mountinfo").value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> left = absl::StrSplit(halves.first, ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves.second, ' ');
    if (left.size() < 6 || right.size() < 3) continue;
    Mount mount;
    mount.version = right[0] == "cgroup2" ? 2 : right[0] == "cgroup" ? 1 : 0;
    if (mount.version == 0) continue;
    mount.root = Unescape(left[3]);
    mount.point = std::string(absl::StripPrefix(Unescape(left[4]), "/"));
    mount.options = absl::StrSplit(right[2], ',');
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<Membership> ReadMemberships(const SystemView& view) {
  std::vector<Membership> memberships;
  const std::string text = view.Read("proc/self/cgroup").value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || fields[2].size() > kMaxPathBytes) continue;
    Membership membership;
    if (fields[0] == "0" && fields[1].empty()) membership.version = 2;
    membership.controllers = absl::StrSplit(fields[1], ',', absl::SkipEmpty());
    membership.path = std::string(fields[2]);
    memberships.push_back(std::move(membership));
  }
  return memberships;
}

bool Contains(const std::vector<std::string>& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Belongs(const Mount& mount, const Membership& membership, absl::string_view controller) {
  if (mount.version != membership.version) return false;
  if (mount.version == 2) return true;
  return Contains(mount.options, controller) && Contains(membership.controllers, controller);
}

// In a container the path may be that of the host while only the container's own group is mounted.
std::vector<std::string> VisibleFolders(const Mount& mount, absl::string_view path) {
  if (mount.root != "/") {
    const bool inside = path == mount.root || absl::StartsWith(path, mount.root + "/");
    path = inside ? path.substr(mount.root.size()) : absl::string_view();
  }
  std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  // A group outside the cgroup namespace: of it, nothing but the mount can be seen.
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) parts.clear();
  std::vector<std::string> folders;
  for (;;) {
    std::vector<absl::string_view> whole = {mount.point};
    whole.insert(whole.end(), parts.begin(), parts.end());
    folders.push_back(absl::StrJoin(whole, "/"));
    if (parts.empty()) return folders;
    parts.pop_back();
  }
}

}  // namespace

std::vector<CgroupPath> FindCgroups(const SystemView& view, absl::string_view controller) {
  std::vector<CgroupPath> found;
  const std::vector<Mount> mounts = ReadMounts(view);
  for (const Membership& membership : ReadMemberships(view)) {
    for (const Mount& mount : mounts) {
      if (!Belongs(mount, membership, controller)) continue;
      found.push_back({mount.version, VisibleFolders(mount, membership.path)});
    }
  }
  return found;
}

std::optional<std::vector<uint32_t>> ReadCpuset(const SystemView& view) {
  // The first name is v2's and, on v1, says what an inherited or hot-unplugged set comes to. A
  // mount with "noprefix", as Android has, drops the controller's name.
  constexpr absl::string_view kNames[] = {"cpuset.cpus.effective", "cpuset.effective_cpus",
                                          "cpuset.cpus", "effective_cpus", "cpus"};
  for (const CgroupPath& group : FindCgroups(view, "cpuset")) {
    for (const std::string& folder : group.folders) {
      for (absl::string_view name : kNames) {
        const std::optional<std::string> text = view.Read(absl::StrCat(folder, "/", name));
        if (!text.has_value()) continue;
        const absl::StatusOr<std::vector<uint32_t>> units = ParseCpuList(*text);
        if (units.ok() && !units->empty()) return *units;
      }
    }
  }
  return std::nullopt;
}

}  // namespace halyard::hal
