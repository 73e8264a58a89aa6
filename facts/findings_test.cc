// SPDX-License-Identifier: Apache-2.0
//
// Findings about machines that are written here, file by file.
#include "facts/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "facts/test_sheet.h"
#include "hal/test_image.h"

namespace halyard::facts {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kFourCpus =
    "sys/devices/system/cpu/online = 0-3\n"
    "sys/devices/system/cpu/cpu{0-3}/topology/core_id = {}\n"
    "sys/devices/system/cpu/cpu{0-3}/topology/thread_siblings_list = {}\n"
    "sys/devices/system/cpu/cpu{0-3}/topology/physical_package_id = 0\n"
    "@isa asimd,asimddp\n";
constexpr absl::string_view kTwoNodes =
    "sys/devices/system/node/online = 0-1\n"
    "sys/devices/system/node/node0/cpulist = 0-1\n"
    "sys/devices/system/node/node1/cpulist = 2-3\n"
    "sys/devices/system/node/node0/meminfo = Node 0 MemTotal: 8388608 kB\n";
constexpr absl::string_view kGroup =
    "proc/self/mountinfo = 30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    "proc/self/cgroup = 0::/job\n";

/// What is found on the image of four CPUs and `lines`.
class Found {
 public:
  explicit Found(absl::string_view lines, const ChipSheet* sheet = nullptr, bool files = true) {
    const auto view = hal::TestImage(absl::StrCat(kFourCpus, lines), "aarch64");
    const hal::Topology topology = hal::ReadTopology(*view, false);
    const hal::Topology whole = hal::ReadTopology(*view, true);
    Machine machine;
    machine.view = files ? view.get() : nullptr;
    machine.topology = &topology;
    machine.whole = &whole;
    machine.sheet = sheet;
    machine.marks = ReadChipMarks(*view, topology);
    findings_ = LookAtAll(machine);
  }

  /// The only finding of an id; one without a title if there is none.
  Finding operator[](absl::string_view id) const {
    Finding found;
    for (const Finding& finding : findings_) {
      if (finding.id != id) continue;
      EXPECT_EQ(found.id, "") << "twice " << id;
      found = finding;
    }
    return found;
  }

  bool has(absl::string_view id) const { return !(*this)[id].id.empty(); }
  Severity severity(absl::string_view id) const { return (*this)[id].severity; }
  const std::vector<Finding>& all() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

TEST(Findings, GovernorThatFollowsTheLoad) {
  const absl::string_view file = "sys/devices/system/cpu/cpu{0-3}/cpufreq/scaling_governor = ";
  const Found powersave(absl::StrCat(file, "powersave\n"));
  EXPECT_EQ(powersave.severity("clock.governor"), Severity::kWarning);
  EXPECT_THAT(powersave["clock.governor"].title, HasSubstr("powersave on CPUs 0-3"));
  EXPECT_THAT(powersave["clock.governor"].remedy, HasSubstr("performance"));
  const Found performance(absl::StrCat(file, "performance\n"));
  EXPECT_EQ(performance.severity("clock.governor"), Severity::kInfo);
  EXPECT_EQ(performance["clock.governor"].remedy, "");
  EXPECT_THAT(Found("")["clock.governor"].title, HasSubstr("does not show"));
}

TEST(Findings, ClockThatIsHeldDown) {
  const absl::string_view most =
      "sys/devices/system/cpu/cpu{0-3}/cpufreq/cpuinfo_max_freq = 3000\n";
  const absl::string_view limit = "sys/devices/system/cpu/cpu{2-3}/cpufreq/scaling_max_freq = ";
  EXPECT_THAT(Found(absl::StrCat(most, limit, "2000\n"))["clock.capped"].title,
              HasSubstr("CPUs 2-3 may not"));
  EXPECT_FALSE(Found(absl::StrCat(most, limit, "3000\n")).has("clock.capped"));
  EXPECT_TRUE(Found("sys/devices/system/cpu/cpufreq/boost = 0\n").has("clock.boost"));
  EXPECT_FALSE(Found("sys/devices/system/cpu/cpufreq/boost = 1\n").has("clock.boost"));
  EXPECT_TRUE(Found("sys/devices/system/cpu/intel_pstate/no_turbo = 1\n").has("clock.boost"));
}

TEST(Findings, Quota) {
  const Found half(absl::StrCat(kGroup, "sys/fs/cgroup/job/cpu.max = 50000 100000\n"));
  EXPECT_EQ(half.severity("threads.quota"), Severity::kWarning);
  EXPECT_THAT(half["threads.quota"].title, HasSubstr("0.50 CPUs of 4"));
  const Found two(absl::StrCat(kGroup, "sys/fs/cgroup/job/cpu.max = 200000 100000\n"));
  EXPECT_EQ(two.severity("threads.quota"), Severity::kInfo);
  EXPECT_TRUE(two.has("threads.quota"));
  EXPECT_FALSE(
      Found(absl::StrCat(kGroup, "sys/fs/cgroup/job/cpu.max = max 100000\n")).has("threads.quota"));
}

TEST(Findings, CpusThatMayNotBeUsed) {
  const Found found("proc/self/status = Cpus_allowed_list:\t1-2\n");
  EXPECT_THAT(found["threads.affinity"].title, HasSubstr("2 CPUs of 4"));
  EXPECT_FALSE(Found("").has("threads.affinity"));
}

TEST(Findings, TransparentHugePages) {
  const absl::string_view file = "sys/kernel/mm/transparent_hugepage/enabled = ";
  const Found never(absl::StrCat(file, "always madvise [never]\n"));
  EXPECT_EQ(never.severity("memory.thp"), Severity::kWarning);
  EXPECT_THAT(never["memory.thp"].remedy, HasSubstr("madvise"));
  EXPECT_EQ(Found(absl::StrCat(file, "always [madvise] never\n")).severity("memory.thp"),
            Severity::kInfo);
  EXPECT_FALSE(Found("").has("memory.thp"));
}

TEST(Findings, NumaBalancing) {
  const absl::string_view on = "proc/sys/kernel/numa_balancing = 1\n";
  EXPECT_EQ(Found(absl::StrCat(kTwoNodes, on)).severity("memory.numa_balancing"),
            Severity::kWarning);
  EXPECT_FALSE(Found(on).has("memory.numa_balancing")) << "one node: nothing can be moved";
  EXPECT_FALSE(Found(absl::StrCat(kTwoNodes, "proc/sys/kernel/numa_balancing = 0\n"))
                   .has("memory.numa_balancing"));
}

TEST(Findings, NodesWithoutMemoryAndFullNodes) {
  const Found empty(kTwoNodes);
  EXPECT_EQ(empty.severity("memory.node_empty"), Severity::kWarning);
  EXPECT_THAT(empty["memory.node_empty"].title, HasSubstr("node 1 has CPUs and no memory"));
  const auto node1 = [](absl::string_view free, absl::string_view cached) {
    return absl::StrCat(kTwoNodes, "sys/devices/system/node/node0/meminfo <<END\n",
                        "Node 0 MemTotal: 8388608 kB\nNode 0 MemFree: 8000000 kB\nEND\n",
                        "sys/devices/system/node/node1/meminfo <<END\n",
                        "Node 1 MemTotal: 8388608 kB\nNode 1 MemFree: ", free,
                        " kB\nNode 1 FilePages: ", cached, " kB\nEND\n");
  };
  const Found full(node1("131072", "1024"));
  EXPECT_FALSE(full.has("memory.node_empty"));
  EXPECT_THAT(full["memory.node_full"].title, HasSubstr("node 1 has 128 MiB free of 8 GiB"));
  EXPECT_THAT(full["memory.node_full"].remedy, HasSubstr("end what holds"));
  EXPECT_THAT(Found(node1("131072", "4194304"))["memory.node_full"].remedy,
              HasSubstr("drop_caches"));
  EXPECT_FALSE(Found(node1("4194304", "1024")).has("memory.node_full"));
}

std::string Meminfo(absl::string_view more) {
  return absl::StrCat("proc/meminfo <<END\nMemTotal: 8388608 kB\nMemFree: 1000 kB\n", more,
                      "\nEND\n");
}

TEST(Findings, LittleMemory) {
  const Found little(Meminfo("MemAvailable: 131072 kB"));
  EXPECT_EQ(little.severity("memory.available"), Severity::kWarning);
  EXPECT_THAT(little["memory.available"].title, HasSubstr("128 MiB of 8 GiB"));
  EXPECT_EQ(Found(Meminfo("MemAvailable: 4194304 kB")).severity("memory.available"),
            Severity::kInfo);
  EXPECT_FALSE(Found("").has("memory.available"));
}

TEST(Findings, MemoryOfTheGroup) {
  const std::string machine = absl::StrCat(Meminfo("MemAvailable: 4194304 kB"), kGroup);
  EXPECT_FALSE(
      Found(absl::StrCat(machine, "sys/fs/cgroup/job/memory.max = max\n")).has("memory.cgroup"));
  const std::string limit = absl::StrCat(machine, "sys/fs/cgroup/job/memory.max = 1073741824\n");
  const Found roomy(absl::StrCat(limit, "sys/fs/cgroup/job/memory.current = 104857600\n"));
  EXPECT_EQ(roomy.severity("memory.cgroup"), Severity::kInfo);
  EXPECT_THAT(roomy["memory.cgroup"].title, HasSubstr("allows 1 GiB of memory; 924 MiB"));
  const std::string used = absl::StrCat(limit, "sys/fs/cgroup/job/memory.current = 1064304640\n");
  EXPECT_EQ(Found(used).severity("memory.cgroup"), Severity::kWarning);
  // Caches of files go when memory is wanted.
  EXPECT_EQ(Found(absl::StrCat(used, "sys/fs/cgroup/job/memory.stat = file 900000000\n"))
                .severity("memory.cgroup"),
            Severity::kInfo);
}

TEST(Findings, SwapOvercommitAndAddresses) {
  const Found swapped(Meminfo("SwapTotal: 4194304 kB\nSwapFree: 2097152 kB"));
  EXPECT_EQ(swapped.severity("memory.swap"), Severity::kWarning);
  EXPECT_FALSE(Found(Meminfo("SwapTotal: 4194304 kB\nSwapFree: 4194304 kB")).has("memory.swap"));
  const std::string commit = Meminfo("CommitLimit: 4194304 kB\nCommitted_AS: 2097152 kB");
  EXPECT_THAT(
      Found(absl::StrCat(commit, "proc/sys/vm/overcommit_memory = 2\n"))["memory.overcommit"].title,
      HasSubstr("2 GiB are left"));
  EXPECT_FALSE(
      Found(absl::StrCat(commit, "proc/sys/vm/overcommit_memory = 0\n")).has("memory.overcommit"));
  const auto limits = [](absl::string_view soft) {
    return absl::StrCat("proc/self/limits <<END\nLimit  Soft Limit  Hard Limit  Units\n",
                        "Max address space         ", soft, "            unlimited   bytes\nEND\n");
  };
  EXPECT_EQ(Found(limits("4294967296")).severity("memory.address_space"), Severity::kWarning);
  EXPECT_FALSE(Found(limits("unlimited")).has("memory.address_space"));
}

TEST(Findings, UnevenIsa) {
  const Found found("@isa[2-3] asimd\n");
  EXPECT_THAT(found["isa.uneven"].title, HasSubstr("only some CPUs have asimddp"));
  EXPECT_FALSE(Found("").has("isa.uneven"));
  EXPECT_FALSE(found.has("isa.build")) << "an image is not what this build runs on";
}

TEST(Findings, WordsAgainstTheSheet) {
  ChipSheet sheet = TestSheet();
  EXPECT_EQ(Found("", &sheet).severity("isa.sheet"), Severity::kInfo);
  sheet.isa.push_back("i8mm");
  EXPECT_EQ(Found("", &sheet).severity("isa.sheet"), Severity::kWarning);
  EXPECT_THAT(Found("", &sheet)["isa.sheet"].title, HasSubstr("lacks i8mm"));
  sheet.isa_absent.push_back({"asimddp", "Said to be there."});
  EXPECT_EQ(Found("", &sheet).severity("isa.sheet_absent"), Severity::kWarning);
  sheet.kind = SheetKind::kGeneric;
  EXPECT_EQ(Found("", &sheet).severity("isa.sheet_absent"), Severity::kInfo);
}

TEST(Findings, CoresAgainstTheSheet) {
  ChipSheet sheet = TestSheet();
  EXPECT_THAT(Found("", &sheet)["sheet.cores"].title, HasSubstr("4 cores, as "));
  sheet.core_classes[0].count = 8;
  EXPECT_EQ(Found("", &sheet).severity("sheet.cores"), Severity::kInfo);
  EXPECT_THAT(Found("", &sheet)["sheet.cores"].title, HasSubstr("4 cores, of 8"));
  sheet.core_classes[0].count = 2;
  EXPECT_EQ(Found("", &sheet).severity("sheet.cores"), Severity::kWarning);
  sheet.core_classes[0].count.reset();
  EXPECT_FALSE(Found("", &sheet).has("sheet.cores"));
  EXPECT_FALSE(Found("", &sheet).has("sheet.smt"));
  sheet.core_classes[0].smt = 2;
  EXPECT_EQ(Found("", &sheet).severity("sheet.smt"), Severity::kInfo);
}

TEST(Findings, CachesAgainstTheSheet) {
  const absl::string_view l2 =
      "sys/devices/system/cpu/cpu{0-3}/cache/index2/level = 2\n"
      "sys/devices/system/cpu/cpu{0-3}/cache/index2/type = Unified\n"
      "sys/devices/system/cpu/cpu{0-3}/cache/index2/size = 1024K\n"
      "sys/devices/system/cpu/cpu{0-3}/cache/index2/coherency_line_size = 64\n"
      "sys/devices/system/cpu/cpu{0-3}/cache/index2/shared_cpu_list = {}\n";
  ChipSheet sheet = TestSheet();
  sheet.caches.push_back({2, HY_CACHE_UNIFIED, 1024, 64, "core", ""});
  EXPECT_THAT(Found(l2, &sheet)["sheet.cache"].title, HasSubstr("are those of the sheet"));
  sheet.caches[0].kib = 512;
  EXPECT_THAT(Found(l2, &sheet)["sheet.cache"].title, HasSubstr("L2 is 1 MiB, 512 KiB"));
  sheet.caches[0].line_bytes = 256;
  EXPECT_EQ(Found(l2, &sheet).severity("sheet.cache_line"), Severity::kWarning);
  EXPECT_FALSE(Found("", &sheet).has("sheet.cache")) << "no caches are shown";
}

TEST(Findings, PagesAndNodesAgainstTheSheet) {
  ChipSheet sheet = TestSheet();
  EXPECT_FALSE(Found("", &sheet).has("sheet.pages"));
  EXPECT_THAT(Found("@page_bytes 65536\n", &sheet)["sheet.pages"].title, HasSubstr("64 KiB"));
  EXPECT_FALSE(Found("", &sheet).has("sheet.nodes"));
  EXPECT_THAT(Found(kTwoNodes, &sheet)["sheet.nodes"].title, HasSubstr("2 memory nodes"));
  sheet.nodes_per_socket = {1, 2};
  EXPECT_FALSE(Found(kTwoNodes, &sheet).has("sheet.nodes"));
  sheet.nodes_per_socket = {};
  EXPECT_FALSE(Found(kTwoNodes, &sheet).has("sheet.nodes"));
}

TEST(Findings, OfADeviceThatSimulatesAMachineComeFromItsTopologyAlone) {
  const std::string lines =
      absl::StrCat(kTwoNodes, "sys/kernel/mm/transparent_hugepage/enabled = [never]\n",
                   "sys/devices/system/cpu/cpu{0-3}/cpufreq/scaling_governor = powersave\n",
                   "proc/sys/kernel/numa_balancing = 1\n", Meminfo("MemAvailable: 1 kB"));
  const Found found(lines, nullptr, false);
  EXPECT_TRUE(found.has("memory.node_empty"));
  for (const Finding& finding : found.all()) {
    for (const char* const of_files : {"clock", "memory.thp", "memory.numa", "memory.avail"}) {
      EXPECT_FALSE(absl::StartsWith(finding.id, of_files)) << finding.id;
    }
  }
  EXPECT_GE(Found(lines).all().size(), found.all().size() + 4);
}

TEST(Findings, EveryWarningSaysWhatToDo) {
  const Found found(absl::StrCat(kTwoNodes, kGroup, Meminfo("MemAvailable: 1 kB"),
                                 "sys/fs/cgroup/job/cpu.max = 50000 100000\n",
                                 "sys/kernel/mm/transparent_hugepage/enabled = [never]\n"));
  int warnings = 0;
  for (const Finding& finding : found.all()) {
    if (finding.severity == Severity::kInfo) continue;
    ++warnings;
    EXPECT_NE(finding.remedy, "") << finding.id;
  }
  EXPECT_GE(warnings, 4);
}

}  // namespace
}  // namespace halyard::facts
