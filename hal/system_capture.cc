// SPDX-License-Identifier: Apache-2.0
//
// Writes a machine as a text image: what the topology reader read, and a little more for people.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/cpu_list.h"
#include "hal/bind.h"
#include "hal/system_view.h"
#include "hal/topology.h"
#include "hal/topology_parts.h"

namespace halyard::hal {
namespace {

constexpr absl::string_view kOnline = "sys/devices/system/cpu/online";
constexpr absl::string_view kStatus = "proc/self/status";

// Of files that are long, or tell more about the user than about the machine, the lines that
// matter.
std::string KeepLines(absl::string_view text, absl::Span<const absl::string_view> words) {
  std::vector<absl::string_view> kept;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (std::any_of(words.begin(), words.end(),
                    [line](absl::string_view word) { return absl::StrContains(line, word); })) {
      kept.push_back(line);
    }
  }
  return absl::StrJoin(kept, "\n");
}

// Passes everything on and remembers it.
class Recorder final : public SystemView {
 public:
  explicit Recorder(const SystemView& view) : view_(view) {}

  std::optional<std::string> Read(absl::string_view path) const override {
    std::optional<std::string> text = view_.Read(path);
    if (path == kStatus) text = Status(text.value_or(""));
    if (!text.has_value()) return text;
    if (absl::EndsWith(path, "meminfo")) text = KeepLines(*text, {"MemTotal:", "MemFree:"});
    if (path == "proc/self/mountinfo") text = KeepLines(*text, {" - cgroup"});
    if (path == "proc/self/cgroup") text = KeepLines(*text, {"cpu", "0::"});
    files_[std::string(path)] = *text;
    return text;
  }

  std::vector<std::string> List(absl::string_view path) const override { return view_.List(path); }
  // The image is not: what only system calls tell must come to stand in its files.
  bool is_live() const override { return false; }
  std::string arch() const override { return view_.arch(); }
  uint64_t page_bytes() const override { return view_.page_bytes(); }
  IsaMask isa(uint32_t pu) const override { return view_.isa(pu); }
  uint32_t source() const override { return view_.source(); }

  std::map<std::string, std::string>& files() const { return files_; }

 private:
  std::string Status(absl::string_view text) const {
    std::vector<std::string> lines;
    absl::StatusOr<std::vector<uint32_t>> mask = absl::UnavailableError("not live");
    if (view_.is_live()) mask = ThisThreadMask();
    if (mask.ok()) lines.push_back(absl::StrCat("Cpus_allowed_list:\t", FormatCpuList(*mask)));
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      const bool cpus = absl::StartsWith(line, "Cpus_allowed_list:") && !mask.ok();
      if (cpus || absl::StartsWith(line, "Mems_allowed_list:")) lines.emplace_back(line);
    }
    return absl::StrJoin(lines, "\n");
  }

  const SystemView& view_;
  mutable std::map<std::string, std::string> files_;
};

// The reader takes from one unit of a core what holds for all; a reader of the image may not.
void RecordUnit(const SystemView& view, uint32_t unit) {
  const std::string folder = absl::StrCat("sys/devices/system/cpu/cpu", unit);
  for (absl::string_view name :
       {"physical_package_id", "core_id", "cluster_id", "die_id", "book_id", "drawer_id",
        "thread_siblings_list", "core_siblings_list", "package_cpus_list"}) {
    view.Read(absl::StrCat(folder, "/topology/", name));
  }
  view.Read(absl::StrCat(folder, "/cpufreq/scaling_governor"));
  const std::string caches = absl::StrCat(folder, "/cache");
  for (const std::string& index : view.List(caches)) {
    if (!absl::StartsWith(index, "index")) continue;
    for (absl::string_view name :
         {"level", "type", "size", "coherency_line_size", "shared_cpu_list"}) {
      view.Read(absl::StrCat(caches, "/", index, "/", name));
    }
  }
}

// Folders alone may have told which nodes there are; an image has no empty folders.
void RecordNodeNumbers(const Recorder& recorder, const Topology& topology) {
  if (ListNumbered(recorder, "sys/devices/system/node", "node").empty()) return;
  std::vector<uint32_t> nodes;
  for (const hy_node& node : topology.nodes) nodes.push_back(node.os_id);
  recorder.files()["sys/devices/system/node/online"] = FormatCpuList(nodes);
}

void RecordExtras(const SystemView& view) {
  for (absl::string_view path :
       {"sys/devices/system/cpu/possible", "sys/devices/system/cpu/present",
        "sys/devices/system/node/has_cpu", "sys/devices/system/node/has_memory",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "proc/sys/kernel/numa_balancing"}) {
    view.Read(path);
  }
}

// Files whose paths differ by the number of a unit or node only, and that say the same.
struct Group {
  std::string before;
  std::string after;
  std::string value;  // "{}" if each is its own number
  std::vector<uint32_t> numbers;
};

// Splits ".../cpu12/topology/core_id" around the 12. False if there is no such number.
bool SplitNumber(absl::string_view path, Group* group, uint32_t* number) {
  size_t start = 0;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    absl::string_view digits = part;
    const bool named = absl::ConsumePrefix(&digits, "cpu") || absl::ConsumePrefix(&digits, "node");
    if (named && absl::SimpleAtoi(digits, number) && absl::StrCat(*number) == digits) {
      const size_t at = start + part.size() - digits.size();
      group->before = std::string(path.substr(0, at));
      group->after = std::string(path.substr(at + digits.size()));
      return true;
    }
    start += part.size() + 1;
  }
  return false;
}

// One group if all members are their own number, else one for each value.
void FoldFamily(const Group& family, const std::map<uint32_t, std::string>& values,
                std::vector<Group>* groups) {
  const bool own_number =
      values.size() > 1 && std::all_of(values.begin(), values.end(), [](const auto& member) {
        return member.second == absl::StrCat(member.first);
      });
  std::map<std::string, size_t> known;
  for (const auto& [number, value] : values) {
    const std::string folded = own_number ? "{}" : value;
    const auto [place, added] = known.try_emplace(folded, groups->size());
    if (added) groups->push_back({family.before, family.after, folded, {}});
    (*groups)[place->second].numbers.push_back(number);
  }
}

std::vector<Group> FoldFiles(const std::map<std::string, std::string>& files) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, std::map<uint32_t, std::string>> families;
  for (const auto& [path, value] : files) {
    if (!IsImagePath(path)) continue;
    Group group;
    uint32_t number = 0;
    if (absl::StrContains(value, '{') || !SplitNumber(path, &group, &number)) {
      groups.push_back({path, "", value, {}});
    } else {
      families[{group.before, group.after}][number] = value;
    }
  }
  for (const auto& [place, values] : families) {
    FoldFamily({place.first, place.second, "", {}}, values, &groups);
  }
  return groups;
}

// A word that no line of the value is.
std::string EndWord(absl::string_view value) {
  const std::vector<absl::string_view> lines = absl::StrSplit(value, '\n');
  std::string word = "END";
  while (std::any_of(lines.begin(), lines.end(), [&word](absl::string_view line) {
    return absl::StripSuffix(line, "\r") == word;
  })) {
    absl::StrAppend(&word, "_");
  }
  return word;
}

void AppendFile(absl::string_view path, absl::string_view value, std::string* text) {
  const bool one_line =
      !absl::StrContains(value, '\n') && absl::StripAsciiWhitespace(value) == value;
  if (one_line) {
    absl::StrAppend(text, path, value.empty() ? " =" : " = ", value, "\n");
    return;
  }
  const std::string word = EndWord(value);
  absl::StrAppend(text, path, " <<", word, "\n", value, "\n", word, "\n");
}

void AppendGroup(const Group& group, std::string* text) {
  if (group.numbers.empty()) {
    AppendFile(group.before, group.value, text);
  } else if (group.numbers.size() == 1) {
    const std::string number = absl::StrCat(group.numbers[0]);
    AppendFile(absl::StrCat(group.before, number, group.after),
               group.value == "{}" ? number : group.value, text);
  } else {
    AppendFile(absl::StrCat(group.before, "{", FormatCpuList(group.numbers), "}", group.after),
               group.value, text);
  }
}

void AppendIsa(const SystemView& view, const Topology& topology, std::string* text) {
  std::map<IsaMask, std::vector<uint32_t>> units_of_isa;
  for (const hy_pu& pu : topology.pus) units_of_isa[view.isa(pu.os_id)].push_back(pu.os_id);
  const IsaMask first = view.isa(topology.pus.front().os_id);
  absl::StrAppend(text, "@isa ", absl::StrJoin(IsaNames(first), ","), "\n");
  for (const auto& [isa, units] : units_of_isa) {
    if (isa == first) continue;
    absl::StrAppend(text, "@isa[", FormatCpuList(units), "] ", absl::StrJoin(IsaNames(isa), ","),
                    "\n");
  }
}

std::string OneLine(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  return words.empty() ? "unnamed" : absl::StrJoin(words, " ");
}

}  // namespace

std::string CaptureSystemImage(const SystemView& view, absl::string_view machine) {
  const Recorder recorder(view);
  // Of the view itself, for what only system calls know; the second run is for its files.
  const Topology topology = ReadTopology(view, true);
  ReadTopology(recorder, true);
  if (topology.source == view.source()) {
    std::vector<uint32_t> online;
    for (const hy_pu& pu : topology.pus) {
      online.push_back(pu.os_id);
      RecordUnit(recorder, pu.os_id);
    }
    recorder.files()[std::string(kOnline)] = FormatCpuList(online);
  }
  RecordNodeNumbers(recorder, topology);
  RecordExtras(recorder);

  std::string text =
      absl::StrCat("# Captured with halyard info --capture.\n@machine ", OneLine(machine),
                   "\n@arch ", view.arch(), "\n@page_bytes ", view.page_bytes(), "\n");
  AppendIsa(view, topology, &text);
  text.push_back('\n');
  for (const Group& group : FoldFiles(recorder.files())) AppendGroup(group, &text);
  return text;
}

}  // namespace halyard::hal
