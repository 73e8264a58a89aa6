// SPDX-License-Identifier: Apache-2.0
#include "hal/bind.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu_list.h"
#include "gtest/gtest.h"

namespace halyard::hal {
namespace {

using Ids = std::vector<uint32_t>;

// The kernel's own text about this thread, as a second witness.
Ids MaskInProc() {
  std::ifstream file("/proc/thread-self/status");
  const std::string key = "Cpus_allowed_list:";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const size_t at = line.find_first_not_of(" \t", key.size());
    const absl::StatusOr<Ids> ids = ParseCpuList(at == std::string::npos ? "" : line.substr(at));
    return ids.ok() ? *ids : Ids{};
  }
  return {};
}

Ids Allowed() {
  const absl::StatusOr<Ids> mask = ThisThreadMask();
  EXPECT_TRUE(mask.ok()) << mask.status();
  return mask.ok() ? *mask : Ids{0};
}

absl::Status Bind(uint32_t pu, uint32_t mode, WorkerReport* report) {
  return CallWithReport([&](hy_worker_report* raw) { return BindThisThread(pu, mode, raw); },
                        report);
}

// Each case works on a thread of its own, since a mask is a property of a thread.
template <typename Fn>
void OnThread(Fn fn) {
  std::thread thread(fn);
  thread.join();
}

TEST(ThisThreadMask, IsWhatTheSystemSays) {
  const Ids allowed = Allowed();
  EXPECT_FALSE(allowed.empty());
  EXPECT_TRUE(std::is_sorted(allowed.begin(), allowed.end()));
  EXPECT_EQ(allowed, MaskInProc());
}

TEST(BindThisThread, EnterBindsAndReadsBack) {
  for (const uint32_t pu : Allowed()) {
    OnThread([pu] {
      WorkerReport report;
      report.index = 5;
      ASSERT_TRUE(Bind(pu, HY_BIND_ENTER, &report).ok());
      EXPECT_EQ(report.mask, Ids{pu});
      EXPECT_EQ(report.mask, MaskInProc());
      EXPECT_EQ(report.last_pu, pu);
      EXPECT_EQ(report.index, 5u);
      EXPECT_EQ(report.bind_status, HY_OK);
      EXPECT_EQ(report.flags, HY_WORKER_BOUND | HY_WORKER_MASK_KNOWN | HY_WORKER_PU_KNOWN);
      EXPECT_EQ(report.isa, LiveIsa());
    });
  }
}

TEST(BindThisThread, LeaveRestoresTheFirstMask) {
  OnThread([] {
    const Ids before = Allowed();
    WorkerReport report;
    ASSERT_TRUE(Bind(before.front(), HY_BIND_ENTER, &report).ok());
    ASSERT_TRUE(Bind(before.back(), HY_BIND_ENTER, &report).ok());
    EXPECT_EQ(MaskInProc(), Ids{before.back()});
    ASSERT_TRUE(Bind(before.back(), HY_BIND_LEAVE, &report).ok());
    EXPECT_EQ(report.mask, before);
    EXPECT_EQ(MaskInProc(), before);
    EXPECT_EQ(Bind(before.back(), HY_BIND_LEAVE, &report).code(),
              absl::StatusCode::kInvalidArgument);
  });
}

TEST(BindThisThread, AUnitThatIsNotThereIsNotFoundAndChangesNothing) {
  for (const uint32_t pu : {8'191u, 40'000u, 65'535u, 65'536u, HY_ID_NONE}) {
    OnThread([pu] {
      const Ids before = Allowed();
      WorkerReport report;
      report.requested_pu = pu;
      EXPECT_EQ(Bind(pu, HY_BIND_ENTER, &report).code(), absl::StatusCode::kNotFound) << pu;
      EXPECT_EQ(report.bind_status, HY_NOT_FOUND);
      EXPECT_EQ(report.flags & HY_WORKER_BOUND, 0u);
      EXPECT_EQ(report.mask, before);
      EXPECT_EQ(MaskInProc(), before);
    });
  }
}

TEST(BindThisThread, RefusesWrongArguments) {
  hy_worker_report raw = {};
  raw.struct_size = sizeof raw;
  EXPECT_EQ(BindThisThread(0, 0, &raw), HY_INVALID_ARGUMENT);
  EXPECT_EQ(BindThisThread(0, 3, &raw), HY_INVALID_ARGUMENT);
  EXPECT_EQ(BindThisThread(0, HY_BIND_ENTER, nullptr), HY_INVALID_ARGUMENT);
  raw.struct_size = 0;
  EXPECT_EQ(BindThisThread(0, HY_BIND_ENTER, &raw), HY_INVALID_ARGUMENT);
}

TEST(BindThisThread, AnUnknownTailThatIsNotZeroIsRefusedAndNothingIsBound) {
  OnThread([] {
    const Ids before = Allowed();
    alignas(8) unsigned char bytes[sizeof(hy_worker_report) + 8] = {};
    const uint32_t size = sizeof bytes;
    std::memcpy(bytes, &size, sizeof size);
    bytes[sizeof bytes - 1] = 1;
    hy_worker_report* raw = reinterpret_cast<hy_worker_report*>(bytes);
    EXPECT_EQ(BindThisThread(before.front(), HY_BIND_ENTER, raw), HY_UNIMPLEMENTED);
    EXPECT_EQ(Allowed(), before);
  });
}

TEST(ExportReport, FillsTheMaskBufferAsFarAsItGoes) {
  WorkerReport report;
  report.mask = {1, 64, 200};
  uint64_t words[2] = {9, 9};
  hy_worker_report raw = {};
  raw.struct_size = sizeof raw;
  raw.mask = words;
  raw.mask_capacity = 1;
  ExportReport(report, &raw);
  EXPECT_EQ(raw.mask_words, 4u);
  EXPECT_EQ(raw.mask_capacity, 1u);
  EXPECT_EQ(words[0], 2u);
  EXPECT_EQ(words[1], 9u);
  raw.mask = nullptr;
  raw.mask_capacity = 100;
  ExportReport(report, &raw);
  EXPECT_EQ(raw.mask_words, 4u);
}

TEST(ExportReport, WritesNoFurtherThanTheCallersStruct) {
  struct {
    hy_worker_report raw;
    unsigned char after[8];
  } wide;
  std::memset(&wide, 0x5a, sizeof wide);
  wide.raw.struct_size = offsetof(hy_worker_report, isa);
  wide.raw.mask = nullptr;
  WorkerReport report;
  report.isa = {1, 2};
  report.last_pu = 3;
  ExportReport(report, &wide.raw);
  EXPECT_EQ(wide.raw.last_pu, 3u);
  EXPECT_EQ(wide.raw.isa[0], UINT64_C(0x5a5a5a5a5a5a5a5a));
}

TEST(CallWithReport, GrowsTheMaskUntilItFits) {
  constexpr uint32_t kWords = 300;
  int calls = 0;
  WorkerReport report;
  const absl::Status status = CallWithReport(
      [&](hy_worker_report* raw) {
        ++calls;
        raw->mask_words = kWords;
        if (raw->mask_capacity >= kWords) raw->mask[kWords - 1] = 1;
        return HY_OK;
      },
      &report);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(report.mask, Ids{64 * (kWords - 1)});
}

TEST(CallWithReport, EndsWithAVerbThatAlwaysWantsMore) {
  WorkerReport report;
  const absl::Status status = CallWithReport(
      [](hy_worker_report* raw) {
        raw->mask_words = UINT32_MAX;
        return HY_OK;
      },
      &report);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(report.mask.empty());
}

}  // namespace
}  // namespace halyard::hal
