// SPDX-License-Identifier: Apache-2.0
//
// The Linux port on the core's own services, compared with what the system says.
#include "ports/linux/linux.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hal/bind.h"
#include "hal/host_services.h"
#include "hal/pages.h"
#include "hal/topology.h"
#include "halyard/hal_port.h"
#include "ports/linux/nodes.h"

extern "C" const hy_hal_api* halyard_hal_get_linux(uint32_t, uint32_t, const hy_host_services*,
                                                   uint32_t*);

namespace halyard::linux_port {
namespace {

constexpr uint32_t kAbsentNode = 4000;

const hy_hal_api& Api() { return *halyard_hal_get_linux(1, 0, hal::HostServices(), nullptr); }

hy_alloc_desc AllocOf(uint64_t bytes) {
  hy_alloc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.memory_class = HY_ID_NONE;
  desc.bytes = bytes;
  desc.flags = HY_ALLOC_PREFAULT | HY_ALLOC_ZERO;
  return desc;
}

template <typename T>
hy_array ArrayOf(std::vector<T>& records) {
  const auto count = static_cast<uint32_t>(records.size());
  return {records.data(), count, count, sizeof(T), 0};
}

hy_op Op(uint32_t kind, uint64_t bytes) {
  hy_op op = {};
  op.struct_size = sizeof op;
  op.kind = kind;
  op.bytes = bytes;
  return op;
}

class LinuxPort : public ::testing::Test {
 protected:
  void SetUp() override {
    hy_open_desc desc = {};
    desc.struct_size = sizeof desc;
    ASSERT_EQ(Api().open(&Api(), &desc, &device_), HY_OK);
  }
  void TearDown() override {
    for (hy_buffer* buffer : buffers_) EXPECT_EQ(hy_buffer_release(&Api(), buffer), HY_OK);
    EXPECT_EQ(hy_device_release(&Api(), device_), HY_OK);
    EXPECT_EQ(hal::CurrentHostMemoryUse().allocations, 0u);
  }

  hy_status Allocate(const hy_alloc_desc& desc, hy_buffer** out,
                     hy_placement* placement = nullptr) {
    const hy_status status = Api().alloc(device_, &desc, out, placement);
    if (status == HY_OK) buffers_.push_back(*out);
    return status;
  }

  hy_buffer* NewBuffer(uint64_t bytes) {
    hy_buffer* buffer = nullptr;
    EXPECT_EQ(Allocate(AllocOf(bytes), &buffer), HY_OK);
    return buffer;
  }

  hy_status MapStatus(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access,
                      void** out_ptr) {
    hy_map_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.offset = offset;
    desc.bytes = bytes;
    desc.access = access;
    return Api().map(buffer, &desc, out_ptr);
  }

  uint8_t* Map(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access = HY_MAP_READ) {
    void* ptr = nullptr;
    EXPECT_EQ(MapStatus(buffer, offset, bytes, access, &ptr), HY_OK);
    return static_cast<uint8_t*>(ptr);
  }

  uint64_t DeviceU64(uint32_t key) {
    uint64_t value = 0;
    EXPECT_EQ(hy_query_u64(&Api(), HY_KIND_DEVICE, device_, key, &value), HY_OK) << key;
    return value;
  }

  hy_status Submit(std::vector<hy_op> ops) {
    hy_submission submission = {};
    submission.struct_size = sizeof submission;
    submission.ops = ArrayOf(ops);
    return Api().submit(device_, nullptr, &submission);
  }

  hy_device* device_ = nullptr;
  std::vector<hy_buffer*> buffers_;
};

TEST(LinuxEntry, NegotiatesAndAlwaysGivesOneTable) {
  uint32_t reason = 99;
  EXPECT_EQ(halyard_hal_get_linux(2, 0, hal::HostServices(), &reason), nullptr);
  EXPECT_EQ(reason, HY_REFUSED_MAJOR);
  EXPECT_EQ(halyard_hal_get_linux(1, 0, nullptr, &reason), nullptr);
  EXPECT_EQ(reason, HY_REFUSED_SERVICES);
  EXPECT_EQ(&Api(), &Api());
  EXPECT_EQ(hy_linux_api(hal::HostServices()), &Api()) << "what ports of chips start from";
}

TEST(LinuxEntry, ListsOneProcessor) {
  hy_device_info info = {};
  hy_array devices = {&info, 0, 1, sizeof info, 0};
  ASSERT_EQ(Api().enumerate(&Api(), &devices), HY_OK);
  EXPECT_EQ(devices.count, 1u);
  EXPECT_STREQ(info.id, "cpu");
  EXPECT_EQ(info.kind, static_cast<uint32_t>(HY_DEVICE_CPU_CLASS));
  EXPECT_NE(info.name[0], '\0');
}

TEST_F(LinuxPort, OpensAgainAndRefusesWhatItDoesNotKnow) {
  hy_device* other = nullptr;
  hy_open_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.id = "cpu";
  EXPECT_EQ(Api().open(&Api(), &desc, &other), HY_OK);
  EXPECT_EQ(hy_device_release(&Api(), other), HY_OK);
  desc.id = "gpu";
  EXPECT_EQ(Api().open(&Api(), &desc, &other), HY_NOT_FOUND);
  EXPECT_EQ(other, nullptr);
  hy_option option = {sizeof option, 0, "colour", "blue"};
  desc.id = nullptr;
  desc.options = {&option, 1, 1, sizeof option, 0};
  EXPECT_EQ(Api().open(&Api(), &desc, &other), HY_INVALID_ARGUMENT);
}

TEST_F(LinuxPort, AnswersFitTogether) {
  const uint64_t caps = DeviceU64(HY_QUERY_CAPS);
  EXPECT_NE(caps & HY_CAP_COHERENT, 0u);
  EXPECT_EQ(DeviceU64(HY_QUERY_SYNC_GRANULE), 1u);
  EXPECT_EQ(DeviceU64(HY_QUERY_QUEUE_TIER), static_cast<uint64_t>(HY_QUEUE_TIER_INLINE));
  EXPECT_EQ((caps & HY_CAP_NODE_POLICY) != 0, HasNodeCalls());
  EXPECT_GE(DeviceU64(HY_QUERY_MAX_ALLOC), UINT64_C(1) << 20);

  hy_query_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.kind = HY_KIND_DEVICE;
  desc.handle = device_;
  desc.key = HY_QUERY_PAGE_SIZES;
  uint64_t bytes = 0;
  ASSERT_EQ(Api().query(&desc, nullptr, &bytes), HY_OK);
  std::vector<uint64_t> sizes(static_cast<size_t>(bytes / 8));
  ASSERT_EQ(Api().query(&desc, sizes.data(), &bytes), HY_OK);
  EXPECT_EQ(sizes, hal::ListPageSizes());
  bytes = 7;
  EXPECT_EQ(Api().query(&desc, sizes.data(), &bytes), HY_OUT_OF_RANGE);
  EXPECT_EQ(bytes, 8 * sizes.size());
  desc.key = 9999;
  EXPECT_EQ(Api().query(&desc, sizes.data(), &bytes), HY_UNIMPLEMENTED);
}

TEST_F(LinuxPort, MapsAreTheMemoryItselfAtAnyOffset) {
  hy_buffer* buffer = NewBuffer(10'001);
  uint8_t* whole = Map(buffer, 0, 10'001, HY_MAP_READ | HY_MAP_WRITE);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(whole) % DeviceU64(HY_QUERY_MIN_ALIGNMENT), 0u);
  EXPECT_EQ(std::count(whole, whole + 10'001, 0), 10'001);
  uint64_t address = 0;
  ASSERT_EQ(hy_query_u64(&Api(), HY_KIND_BUFFER, buffer, HY_QUERY_DEVICE_ADDRESS, &address), HY_OK);
  EXPECT_EQ(address, reinterpret_cast<uintptr_t>(whole));
  for (const uint64_t offset : {UINT64_C(1), UINT64_C(63), UINT64_C(4'096), UINT64_C(10'000)}) {
    EXPECT_EQ(Map(buffer, offset, 1), whole + offset);
  }
  void* ptr = nullptr;
  EXPECT_EQ(MapStatus(buffer, 10'000, 2, HY_MAP_READ, &ptr), HY_OUT_OF_RANGE);
  EXPECT_EQ(MapStatus(buffer, 2, UINT64_MAX, HY_MAP_READ, &ptr), HY_OUT_OF_RANGE);
  EXPECT_EQ(MapStatus(buffer, 0, 0, HY_MAP_READ, &ptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(MapStatus(buffer, 0, 1, UINT64_C(1) << 50, &ptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(ptr, nullptr);
}

TEST_F(LinuxPort, PlacementIsWhatTheSystemSays) {
  std::vector<hy_node_bytes> nodes(64);
  hy_placement said = {};
  said.struct_size = sizeof said;
  said.nodes = ArrayOf(nodes);
  hy_buffer* buffer = nullptr;
  ASSERT_EQ(Allocate(AllocOf(1 << 20), &buffer, &said), HY_OK);
  const hal::Placement seen = hal::QueryPages(Map(buffer, 0, 1), 1 << 20);
  EXPECT_EQ(said.known, seen.known);
  EXPECT_EQ(said.resident_bytes, seen.resident_bytes);
  EXPECT_EQ(said.huge_bytes, seen.huge_bytes);
  ASSERT_EQ(said.nodes.count, seen.nodes.size());
  for (uint32_t i = 0; i < said.nodes.count; ++i) {
    EXPECT_EQ(nodes[i].node_id, seen.nodes[i].node_id);
    EXPECT_EQ(nodes[i].bytes, seen.nodes[i].bytes);
  }
}

TEST_F(LinuxPort, ANodeThatIsNotThereIsNotObtained) {
  std::vector<uint32_t> wanted = {kAbsentNode};
  hy_alloc_desc desc = AllocOf(1 << 20);
  desc.node_policy = HY_NODES_BIND;
  desc.nodes = ArrayOf(wanted);
  hy_buffer* buffer = nullptr;
  if (!HasNodeCalls()) {
    EXPECT_EQ(Allocate(desc, &buffer), HY_UNIMPLEMENTED);
    GTEST_SKIP() << "the kernel answers no NUMA calls";
  }
  hy_placement placement = {};
  placement.struct_size = sizeof placement;
  ASSERT_EQ(Allocate(desc, &buffer, &placement), HY_OK);
  EXPECT_EQ(placement.reasons, HY_REASON_NODE_ABSENT | HY_REASON_FELL_BACK);
  desc.node_strength = HY_REQUIRE;
  EXPECT_EQ(Allocate(desc, &buffer), HY_NOT_FOUND);
  EXPECT_EQ(buffer, nullptr);
}

TEST_F(LinuxPort, ImportsShareAnyMemoryUntilTheirEnd) {
  std::vector<uint8_t> memory(5'000);
  int released = 0;
  hy_import_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.ptr = memory.data() + 13;
  desc.bytes = 4'567;
  desc.on_release = [](void* count) { ++*static_cast<int*>(count); };
  desc.context = &released;
  hy_buffer* buffer = nullptr;
  ASSERT_EQ(Api().import_host(device_, &desc, &buffer), HY_OK);
  EXPECT_EQ(Map(buffer, 7, 1, HY_MAP_WRITE), memory.data() + 20);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(hy_buffer_release(&Api(), buffer), HY_OK);
  EXPECT_EQ(released, 1);
  desc.bytes = 0;
  EXPECT_EQ(Api().import_host(device_, &desc, &buffer), HY_INVALID_ARGUMENT);
  desc.bytes = UINT64_MAX;
  EXPECT_EQ(Api().import_host(device_, &desc, &buffer), HY_INVALID_ARGUMENT);
  EXPECT_EQ(released, 1);
}

TEST_F(LinuxPort, AMappedFileIsImportedReadOnly) {
  char path[] = "/tmp/halyard_linux_test_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  unlink(path);
  std::string content(9'000, 'x');
  ASSERT_EQ(write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  void* mapped = mmap(nullptr, content.size(), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  hy_import_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.ptr = static_cast<char*>(mapped) + 101;
  desc.bytes = 8'000;
  desc.flags = HY_IMPORT_READ_ONLY;
  hy_buffer* buffer = nullptr;
  ASSERT_EQ(Api().import_host(device_, &desc, &buffer), HY_OK);
  EXPECT_EQ(Map(buffer, 7'999, 1)[0], 'x');
  void* ptr = nullptr;
  EXPECT_EQ(MapStatus(buffer, 0, 1, HY_MAP_WRITE, &ptr), HY_PERMISSION_DENIED);
  hy_op fill = Op(HY_OP_FILL, 8);
  fill.dst = buffer;
  fill.pattern_bytes = 1;
  EXPECT_EQ(Submit({fill}), HY_INVALID_ARGUMENT) << "it is never written to";
  EXPECT_EQ(hy_buffer_release(&Api(), buffer), HY_OK);
  munmap(mapped, content.size());
}

TEST_F(LinuxPort, OperationsRunInTheirOrderBeforeSubmitReturns) {
  hy_buffer* a = NewBuffer(1'000);
  hy_buffer* b = NewBuffer(1'000);
  std::vector<uint8_t> in(100);
  std::iota(in.begin(), in.end(), uint8_t{1});
  std::vector<uint8_t> out(100);
  hy_op to_device = Op(HY_OP_COPY, 100);
  to_device.src_host = in.data();
  to_device.dst = a;
  to_device.dst_offset = 3;
  hy_op within = Op(HY_OP_COPY, 100);
  within.src = a;
  within.src_offset = 3;
  within.dst = b;
  within.dst_offset = 500;
  hy_op call = Op(HY_OP_HOST_CALL, 0);
  call.call = [](void* byte) -> hy_status {
    return *static_cast<uint8_t*>(byte) == 100 ? HY_OK : HY_INTERNAL;
  };
  call.context = Map(b, 599, 1);
  hy_op to_host = Op(HY_OP_COPY, 100);
  to_host.src = b;
  to_host.src_offset = 500;
  to_host.dst_host = out.data();
  ASSERT_EQ(Submit({to_device, within, call, Op(HY_OP_BARRIER, 0), to_host}), HY_OK);
  EXPECT_EQ(out, in);
  within.bytes = 501;
  to_device.dst = b;
  EXPECT_EQ(Submit({to_device, within}), HY_OUT_OF_RANGE);
  EXPECT_EQ(*Map(b, 3, 1), 0) << "a refused submission has done nothing";
}

TEST_F(LinuxPort, FillsRepeatTheirPatternOverExactlyTheRange) {
  constexpr uint64_t kBytes = 100'003;
  hy_buffer* buffer = NewBuffer(kBytes);
  const uint8_t* bytes = Map(buffer, 0, kBytes);
  const uint32_t pattern = 0x04030201;
  const uint16_t half = 0x0201;
  uint8_t units[5][4] = {{}, {0x01}, {}, {}, {}};  // by the bytes of the pattern
  std::memcpy(units[2], &half, sizeof half);
  std::memcpy(units[4], &pattern, sizeof pattern);
  for (const uint32_t size : {1u, 2u, 4u}) {
    for (const uint64_t length : {UINT64_C(1), UINT64_C(3), UINT64_C(6), kBytes - 10}) {
      hy_op clear = Op(HY_OP_FILL, kBytes);
      clear.dst = buffer;
      clear.pattern = 0xee;
      clear.pattern_bytes = 1;
      hy_op fill = Op(HY_OP_FILL, length);
      fill.dst = buffer;
      fill.dst_offset = 5;
      fill.pattern = pattern;
      fill.pattern_bytes = size;
      ASSERT_EQ(Submit({clear, fill}), HY_OK);
      EXPECT_EQ(std::count(bytes, bytes + 5, 0xee), 5);
      EXPECT_EQ(bytes[5 + length], 0xee);
      for (uint64_t i = 0; i < length; ++i) ASSERT_EQ(bytes[5 + i], units[size][i % size]) << i;
    }
  }
}

TEST_F(LinuxPort, BindsTheWorkerAndReadsItBack) {
  std::thread thread([this] {
    const std::vector<uint32_t> before = *hal::ThisThreadMask();
    uint64_t words[16] = {};
    hy_worker_report report = {};
    report.struct_size = sizeof report;
    report.mask = words;
    report.mask_capacity = 16;
    ASSERT_EQ(Api().worker_bind(device_, before.back(), HY_BIND_ENTER, &report), HY_OK);
    EXPECT_EQ(*hal::ThisThreadMask(), std::vector<uint32_t>{before.back()});
    EXPECT_NE(report.flags & HY_WORKER_BOUND, 0u);
    EXPECT_EQ(Api().worker_bind(device_, before.back(), HY_BIND_LEAVE, &report), HY_OK);
    EXPECT_EQ(*hal::ThisThreadMask(), before);
    EXPECT_EQ(Api().worker_bind(device_, 60'000, HY_BIND_ENTER, &report), HY_NOT_FOUND);
    EXPECT_EQ(*hal::ThisThreadMask(), before);
  });
  thread.join();
}

TEST_F(LinuxPort, TopologyNamesTheAllowedUnitsAndNodes) {
  const absl::StatusOr<hal::Topology> topology =
      hal::ImportTopology(false, [this](hy_topology* raw) { return Api().topology(device_, raw); });
  ASSERT_TRUE(topology.ok()) << topology.status();
  std::vector<uint32_t> units;
  for (const hy_pu& pu : topology->pus) units.push_back(pu.os_id);
  EXPECT_EQ(units, *hal::ThisThreadMask());
  for (const hy_node& node : topology->nodes) {
    if (!HasNodeCalls()) break;
    EXPECT_EQ((node.flags & HY_NODE_ALLOWED) != 0, IsNodeAllowed(node.os_id)) << node.os_id;
  }
  EXPECT_EQ(Api().topology(device_, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(Api().topology(nullptr, nullptr), HY_INVALID_ARGUMENT);
}

TEST_F(LinuxPort, WhenHostMemoryRunsOutNothingIsLeft) {
  const hal::HostMemoryUse before = hal::CurrentHostMemoryUse();
  for (uint64_t nth = 1; nth <= 10; ++nth) {
    hal::FailHostAllocation(nth);
    hy_buffer* buffer = nullptr;
    const hy_alloc_desc desc = AllocOf(100);
    const hy_status status = Api().alloc(device_, &desc, &buffer, nullptr);
    hal::FailHostAllocation(0);
    if (status == HY_OK) {
      EXPECT_GT(nth, 2u) << "an object and its pages are two allocations";
      EXPECT_EQ(hy_buffer_release(&Api(), buffer), HY_OK);
      return;
    }
    EXPECT_EQ(status, HY_RESOURCE_EXHAUSTED);
    EXPECT_EQ(buffer, nullptr);
    EXPECT_EQ(hal::CurrentHostMemoryUse().allocations, before.allocations);
  }
  FAIL() << "alloc fails however late the failure";
}

TEST_F(LinuxPort, TimeNeverGoesBack) {
  uint64_t last = 0;
  for (int i = 0; i < 1'000; ++i) {
    hy_timestamp now = {};
    now.struct_size = sizeof now;
    ASSERT_EQ(Api().timestamp(device_, &now), HY_OK);
    ASSERT_GE(now.ticks, last);
    last = now.ticks;
  }
  EXPECT_EQ(Api().timestamp(device_, nullptr), HY_INVALID_ARGUMENT);
}

TEST_F(LinuxPort, ReleaseTakesNullAndRefusesWrongKinds) {
  hy_buffer* buffer = NewBuffer(1);
  EXPECT_EQ(Api().release(HY_KIND_BUFFER, nullptr), HY_OK);
  EXPECT_EQ(Api().release(99, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(Api().release(HY_KIND_DEVICE, buffer), HY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace halyard::linux_port
