// SPDX-License-Identifier: Apache-2.0
//
// HAL-IMP: buffers of the caller's memory.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

// Pages of the caller, as an import gets them: from a file or another library's allocator.
class HostPages {
 public:
  explicit HostPages(size_t bytes) : bytes_(bytes) {
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) data_ = static_cast<uint8_t*>(pages);
  }
  ~HostPages() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  uint8_t* data() const { return data_; }
  void MakeReadOnly() const { mprotect(data_, bytes_, PROT_READ); }

 private:
  size_t bytes_;
  uint8_t* data_ = nullptr;
};

constexpr size_t kPagesBytes = 65536;

bool ClaimsImport(HalContext& context) { return (context.device().caps() & HY_CAP_IMPORT) != 0; }

}  // namespace

HY_DUTY("HAL-IMP-01", TheBufferAndTheMemoryAreOne) {
  const HostPages pages(kPagesBytes);
  ASSERT_NE(pages.data(), nullptr);
  const Bytes before = SeededBytes(context.seed(), kPagesBytes);
  std::copy(before.begin(), before.end(), pages.data());
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer,
                          context.device().ImportHost(pages.data(), kPagesBytes, false));
  EXPECT_EQ(buffer.size_bytes(), kPagesBytes);
  HY_ASSERT_OK_AND_ASSIGN(const Bytes imported, ReadByCopy(context, buffer, 0, kPagesBytes));
  EXPECT_EQ(FirstDifference(imported, before), "") << "the contents at the time of the import";
  if (!buffer.shares_host_memory()) {
    EXPECT_FALSE(ClaimsImport(context)) << "HY_CAP_IMPORT is set, yet the core had to copy";
    GTEST_SKIP() << "the port does not share the caller's memory: the core copies and says so";
  }
  const Bytes by_device = SeededBytes(context.seed() + 1, 1000);
  HY_ASSERT_OK(WriteByCopy(context, buffer, 777, by_device));
  EXPECT_EQ(FirstDifference(Bytes(pages.data() + 777, pages.data() + 1777), by_device), "")
      << "what the device wrote is not in the caller's memory";
  std::fill_n(pages.data() + 40'000, 500, uint8_t{0x5e});
  HY_ASSERT_OK_AND_ASSIGN(const Bytes seen, ReadByCopy(context, buffer, 40'000, 500));
  EXPECT_EQ(FirstDifference(seen, Bytes(500, 0x5e)), "")
      << "what the host wrote is not in the buffer";
}

HY_DUTY("HAL-IMP-02", ReleaseIsCalledOnceAfterTheLastUse) {
  const HostPages pages(kPagesBytes);
  std::atomic<int> calls{0};
  {
    HY_ASSERT_OK_AND_ASSIGN(
        hal::Buffer buffer,
        context.device().ImportHost(pages.data(), kPagesBytes, false, [&] { ++calls; }));
    HY_ASSERT_OK(WriteByCopy(context, buffer, 0, Bytes(100, 1)));
    if (buffer.shares_host_memory()) {
      EXPECT_EQ(calls, 0) << "on_release was called while the buffer is in use";
    }
  }
  const uint64_t deadline = DeadlineIn(context, 2);
  while (calls == 0 && MonotonicNs() < deadline) {
    timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  EXPECT_EQ(calls, 1) << "on_release is called exactly once";
}

HY_DUTY("HAL-IMP-02", PendingWorkKeepsTheMemory) {
  const HostPages pages(kPagesBytes);
  std::atomic<int> calls{0};
  HY_ASSERT_OK_AND_ASSIGN(hal::Queue queue, context.device().CreateQueue());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence gate, context.device().CreateFence());
  HY_ASSERT_OK_AND_ASSIGN(hal::Fence done, context.device().CreateFence());
  Bytes target(1000);
  bool shares = false;
  {
    std::fill_n(pages.data(), kPagesBytes, uint8_t{0x6a});
    HY_ASSERT_OK_AND_ASSIGN(
        hal::Buffer buffer,
        context.device().ImportHost(pages.data(), kPagesBytes, false, [&] { ++calls; }));
    shares = buffer.shares_host_memory();
    hal::Submission work;
    work.WaitFor(gate, 1).CopyToHost(buffer, 0, target.data(), target.size()).Signal(done, 1);
    HY_ASSERT_OK(queue.Submit(std::move(work)));
  }
  if (shares) {
    EXPECT_EQ(calls, 0) << "the memory was given back while submitted work still needs it";
  }
  HY_ASSERT_OK(gate.Signal(1));
  HY_ASSERT_OK(done.Wait(1, DeadlineIn(context, 5)));
  EXPECT_EQ(FirstDifference(target, Bytes(1000, 0x6a)), "");
}

HY_DUTY("HAL-IMP-02", AFailedImportDoesNotCallBack, .in_validate = false) {
  if (context.api().import_host == nullptr) GTEST_SKIP() << "the port leaves import to the core";
  int calls = 0;
  hy_import_desc desc = Sized<hy_import_desc>();
  desc.ptr = nullptr;
  desc.bytes = 4096;
  desc.context = &calls;
  desc.on_release = [](void* counter) { ++*static_cast<int*>(counter); };
  hy_buffer* buffer = nullptr;
  HY_EXPECT_REFUSED(context.api().import_host(context.raw_device(), &desc, &buffer),
                    HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  alignas(64) static uint8_t memory[4096];
  desc.ptr = memory;
  desc.bytes = 0;
  HY_EXPECT_REFUSED(context.api().import_host(context.raw_device(), &desc, &buffer),
                    HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  desc.bytes = 4096;
  desc.flags = UINT64_C(1) << 40;
  HY_EXPECT_REFUSED(context.api().import_host(context.raw_device(), &desc, &buffer),
                    HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(calls, 0) << "on_release of an import that failed";
}

HY_DUTY("HAL-IMP-03", OddSizesAndAddressesAreTakenCleanly) {
  const HostPages pages(kPagesBytes);
  const Bytes all = SeededBytes(context.seed(), kPagesBytes);
  std::copy(all.begin(), all.end(), pages.data());
  for (const size_t offset : {0u, 1u, 2u, 3u, 7u, 63u, 4095u}) {
    for (const size_t count : {1u, 3u, 4097u, 10'001u}) {
      const absl::StatusOr<hal::Buffer> buffer =
          context.device().ImportHost(pages.data() + offset, count, false);
      if (!buffer.ok()) {
        EXPECT_TRUE(absl::IsInvalidArgument(buffer.status())) << buffer.status();
        continue;
      }
      EXPECT_EQ(buffer->size_bytes(), count);
      HY_ASSERT_OK_AND_ASSIGN(const Bytes got, ReadByCopy(context, *buffer, 0, count));
      const Bytes expected(pages.data() + offset, pages.data() + offset + count);
      ASSERT_EQ(FirstDifference(got, expected), "") << count << " bytes at " << offset;
    }
  }
  EXPECT_EQ(FirstDifference(Bytes(pages.data(), pages.data() + kPagesBytes), all), "")
      << "an import changed the memory";
}

HY_DUTY("HAL-IMP-04", AReadOnlyImportIsNeverWritten) {
  const HostPages pages(kPagesBytes);
  const Bytes all = SeededBytes(context.seed(), kPagesBytes);
  std::copy(all.begin(), all.end(), pages.data());
  pages.MakeReadOnly();  // a write kills the child
  HY_ASSERT_OK_AND_ASSIGN(hal::Buffer buffer,
                          context.device().ImportHost(pages.data(), kPagesBytes, true));
  HY_ASSERT_OK_AND_ASSIGN(const Bytes mapped, ReadByMap(buffer, 0, kPagesBytes));
  EXPECT_EQ(FirstDifference(mapped, all), "");
  HY_ASSERT_OK_AND_ASSIGN(const Bytes copied, ReadByCopy(context, buffer, 0, kPagesBytes));
  EXPECT_EQ(FirstDifference(copied, all), "");
  const absl::Status written = buffer.Map(0, 100, HY_MAP_WRITE).status();
  EXPECT_TRUE(absl::IsPermissionDenied(written) || absl::IsInvalidArgument(written)) << written;
  EXPECT_FALSE(WriteByCopy(context, buffer, 0, Bytes(100, 0xff)).ok());
  hal::Submission fill;
  fill.Fill(buffer, 0, 100, 0, 1);
  EXPECT_FALSE(RunAndWait(context, std::move(fill)).ok());
}

HY_DUTY("HAL-IMP-04", ThePortRefusesToMapItForWriting, .in_validate = false) {
  if (context.api().import_host == nullptr) GTEST_SKIP() << "the port leaves import to the core";
  if (context.api().map == nullptr) GTEST_SKIP() << "the port leaves map to the core";
  const HostPages pages(kPagesBytes);
  hy_import_desc desc = Sized<hy_import_desc>();
  desc.ptr = pages.data();
  desc.bytes = kPagesBytes;
  desc.flags = HY_IMPORT_READ_ONLY;
  hy_buffer* buffer = nullptr;
  const hy_status status = context.api().import_host(context.raw_device(), &desc, &buffer);
  if (status == HY_UNIMPLEMENTED) GTEST_SKIP() << "the port leaves import to the core";
  ASSERT_EQ(status, HY_OK) << hy_status_name(status);
  hy_map_desc map = Sized<hy_map_desc>();
  map.bytes = 100;
  for (const uint64_t access :
       {HY_MAP_WRITE, HY_MAP_READ | HY_MAP_WRITE, HY_MAP_WRITE | HY_MAP_DISCARD}) {
    map.access = access;
    void* ptr = nullptr;
    HY_EXPECT_REFUSED(context.api().map(buffer, &map, &ptr), HY_PERMISSION_DENIED,
                      HY_INVALID_ARGUMENT);
  }
  HY_EXPECT_STATUS(context.api().release(HY_KIND_BUFFER, buffer), HY_OK);
}

DutyTable ImportDuties() {
  static constexpr DutyTest kTests[] = {
      TheBufferAndTheMemoryAreOne,         ReleaseIsCalledOnceAfterTheLastUse,
      PendingWorkKeepsTheMemory,           AFailedImportDoesNotCallBack,
      OddSizesAndAddressesAreTakenCleanly, AReadOnlyImportIsNeverWritten,
      ThePortRefusesToMapItForWriting};
  return kTests;
}

}  // namespace halyard::conformance
