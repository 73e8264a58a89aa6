// SPDX-License-Identifier: Apache-2.0
//
// The inner parts of pages.h: what the kernel's texts mean, and a touch that cannot kill.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hal/memory_limit.h"
#include "hal/node_policy.h"
#include "hal/page_map.h"
#include "hal/page_wish.h"
#include "hal/smaps.h"

namespace halyard::hal {
namespace {

constexpr uint64_t kMib = UINT64_C(1) << 20;

std::vector<SmapsArea> Parse(std::string text, uint64_t begin, uint64_t end) {
  std::FILE* file = fmemopen(text.data(), text.size(), "r");
  EXPECT_NE(file, nullptr);
  std::vector<SmapsArea> areas = ReadSmaps(file, begin, end);
  std::fclose(file);
  return areas;
}

constexpr char kText[] =
    "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon\n"
    "Size:                328 kB\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                 328 kB\n"
    "AnonHugePages:         0 kB\n"
    "VmFlags: rd ex mr mw me dw\n"
    "7f0000000000-7f0000800000 rw-p 00000000 00:00 0\n"
    "Size:               8192 kB\n"
    "KernelPageSize:        4 kB\n"
    "Rss:                6144 kB\n"
    "AnonHugePages:      4096 kB\n"
    "ShmemPmdMapped:        0 kB\n"
    "A field of the future: 77 kB\n"
    "VmFlags: rd wr mr mw me ac sd hg\n"
    "7f0000800000-7f0000c00000 rw-p 00000000 00:0f 9   /anon_hugepage (deleted)\n"
    "Size:               4096 kB\n"
    "KernelPageSize:     2048 kB\n"
    "Rss:                   0 kB\n"
    "Shared_Hugetlb:        0 kB\n"
    "Private_Hugetlb:    4096 kB\n"
    "VmFlags: rd wr mr mw me de ht\n";

TEST(ReadSmaps, FindsTheAreasThatOverlap) {
  const std::vector<SmapsArea> areas = Parse(kText, 0x7f0000700000, 0x7f0000900000);
  ASSERT_EQ(areas.size(), 2u);
  EXPECT_EQ(areas[0].begin, 0x7f0000000000u);
  EXPECT_EQ(areas[0].end, 0x7f0000800000u);
  EXPECT_EQ(areas[0].page_bytes, 4'096u);
  EXPECT_EQ(areas[0].present_bytes, 6 * kMib);
  EXPECT_EQ(areas[0].transparent_bytes, 4 * kMib);
  EXPECT_TRUE(areas[0].huge_advised);
  EXPECT_EQ(areas[1].page_bytes, 2 * kMib);
  EXPECT_EQ(areas[1].present_bytes, 4 * kMib);
  EXPECT_EQ(areas[1].transparent_bytes, 0u);
  EXPECT_FALSE(areas[1].huge_advised);
}

TEST(ReadSmaps, EndsAreExclusive) {
  EXPECT_EQ(Parse(kText, 0x452000, 0x7f0000000000).size(), 0u);
  EXPECT_EQ(Parse(kText, 0x451fff, 0x452000).size(), 1u);
}

TEST(ReadSmaps, TextThatIsNoneGivesNothing) {
  EXPECT_TRUE(Parse("\n", 0, UINT64_MAX).empty());
  EXPECT_TRUE(Parse("Rss: 4 kB\nKernelPageSize: x kB\n-\n", 0, UINT64_MAX).empty());
}

uint64_t Fillable(const std::string& image) {
  const auto view = ParseSystemImage(image);
  EXPECT_TRUE(view.ok()) << view.status();
  return view.ok() ? FillableBytes(**view) : 0;
}

constexpr char kMachine[] =
    "@machine invented\n"
    "@arch x86_64\n"
    "@page_bytes 4096\n"
    "proc/meminfo <<END\n"
    "MemTotal:       16777216 kB\n"
    "MemAvailable:    8388608 kB\n"
    "SwapFree:        1048576 kB\n"
    "END\n";

constexpr char kGroupsV2[] =
    "proc/self/mountinfo = 30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
    "proc/self/cgroup = 0::/a/b\n"
    "sys/fs/cgroup/a/b/memory.max = max\n"
    "sys/fs/cgroup/a/b/memory.current = 1000\n"
    "sys/fs/cgroup/a/memory.max = 104857600\n"
    "sys/fs/cgroup/a/memory.current = 62914560\n"
    "sys/fs/cgroup/a/memory.stat <<END\n"
    "anon 1048576\n"
    "file 31457280\n"
    "shmem 10485760\n"
    "END\n";

constexpr char kGroupsV1[] =
    "proc/self/mountinfo = 30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "proc/self/cgroup = 4:memory:/job\n"
    "sys/fs/cgroup/memory/memory.limit_in_bytes = 9223372036854771712\n"
    "sys/fs/cgroup/memory/memory.usage_in_bytes = 5\n"
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes = 10485760\n"
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes = 20971520\n";

TEST(FillableBytes, OfTheMachineCountsSwap) { EXPECT_EQ(Fillable(kMachine), 9'216 * kMib); }

TEST(FillableBytes, ATighterGroupAboveOursCounts) {
  // 100 MiB, of which 60 are used, of which 20 are files that can be dropped.
  EXPECT_EQ(Fillable(absl::StrCat(kMachine, kGroupsV2)), 60 * kMib);
}

TEST(FillableBytes, AGroupOverItsLimitHasNothingLeft) {
  EXPECT_EQ(Fillable(absl::StrCat(kMachine, kGroupsV1)), 0u);
}

TEST(FillableBytes, AMachineThatTellsNothingHasNoKnownLimit) {
  EXPECT_EQ(Fillable("@machine bare\n@arch x86_64\n@page_bytes 4096\n"), UINT64_MAX);
}

TEST(TouchPages, BringsAllPagesInAndChangesNothing) {
  Region region;
  ASSERT_EQ(MapBase(10 * BasePageBytes(), BasePageBytes(), &region), 0);
  EXPECT_EQ(TouchPages(region, BasePageBytes()), 0);
  const char* bytes = static_cast<const char*>(region.ptr);
  for (size_t i = 0; i < region.bytes; ++i) ASSERT_EQ(bytes[i], 0);
  EXPECT_EQ(Unmap(region), 0);
}

TEST(ReadPresentPages, PassesOverWhatIsNotThereOrNotReadable) {
  const size_t page = static_cast<size_t>(BasePageBytes());
  Region region;
  ASSERT_EQ(MapBase(5 * page, page, &region), 0);
  auto* const bytes = static_cast<char*>(region.ptr);
  bytes[0] = bytes[2 * page] = bytes[4 * page] = 7;
  ASSERT_EQ(mprotect(bytes + 2 * page, page, PROT_NONE), 0);
  const size_t read = ReadPresentPages(bytes + 1, 5 * page - 1, page);
  if (read == 0) GTEST_SKIP() << "the system does not tell which pages are there, or reads none";
  EXPECT_EQ(read, 2u);
  const auto present = PagesPresent({bytes + page, bytes + 3 * page});
  ASSERT_TRUE(present.has_value());
  EXPECT_EQ(*present, std::vector<bool>({false, false}));
  EXPECT_EQ(Unmap(region), 0);
}

// Huge pages that nobody reserved: a touch of ours would be SIGBUS, this is an error.
TEST(TouchPages, APageThatIsNotThereIsAnErrorNotASignal) {
  constexpr size_t kBytes = 2 * kMib;
  constexpr int kSize = 21 << 26;  // log2 of 2 MiB, where mmap expects it
  // The address space is taken without pages, which is what AllocatePages never does.
  void* ptr = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE | kSize, -1, 0);
  if (ptr == MAP_FAILED) GTEST_SKIP() << "no huge pages of 2 MiB in this system";
  std::FILE* pool = std::fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
  ASSERT_NE(pool, nullptr);
  int free = -1;
  ASSERT_EQ(std::fscanf(pool, "%d", &free), 1);
  std::fclose(pool);
  const Region region = {ptr, kBytes, ptr, kBytes};
  if (free == 0) {
    EXPECT_NE(TouchPages(region, kBytes), 0);
    EXPECT_NE(Populate(region, kBytes), 0);
  }
  EXPECT_EQ(Unmap(region), 0);
  if (free != 0) GTEST_SKIP() << "the pool is not empty";
}

}  // namespace
}  // namespace halyard::hal
