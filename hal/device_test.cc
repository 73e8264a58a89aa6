// SPDX-License-Identifier: Apache-2.0
#include "hal/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/fake_port.h"

namespace halyard::hal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

std::shared_ptr<FakePort> MakePort(FakePort::Shape shape = {}) {
  return std::make_shared<FakePort>(shape);
}

TEST(DeviceTest, OpensTheFirstDeviceOrTheNamedOne) {
  const auto port = MakePort();
  EXPECT_STREQ(OpenFake(port).info().id, "fake0");
  absl::StatusOr<Device> named = Device::Open(port, "fake1", {{"latency_ns", "5"}});
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_STREQ(named->info().id, "fake1");
  EXPECT_THAT(port->options, ElementsAre(Pair("latency_ns", "5")));
}

TEST(DeviceTest, SaysWhichDevicesThereAre) {
  const auto port = MakePort();
  const absl::Status status = Device::Open(port, "fake7").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("fake0, fake1"));
  port->ids.clear();
  EXPECT_TRUE(absl::IsNotFound(Device::Open(port).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Device::Open(nullptr).status()));
}

TEST(DeviceTest, FailureToOpenLeavesNothingBehind) {
  const auto port = MakePort();
  port->Inject("open", HY_UNAVAILABLE);
  const absl::Status status = Device::Open(port).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("injected"));
  port->Inject("query", HY_INTERNAL);
  EXPECT_TRUE(absl::IsInternal(Device::Open(port).status()));
  EXPECT_EQ(port->live_objects, 0);
}

TEST(DeviceTest, APortThatCannotMoveBytesIsRefused) {
  auto port = MakePort({.maps = false, .submits = false});
  EXPECT_TRUE(absl::IsInternal(Device::Open(port).status()));
  port = MakePort({.maps = false, .is_async = true});
  port->table().fence_wait = nullptr;  // then nobody can tell when a copy is done
  EXPECT_TRUE(absl::IsInternal(Device::Open(port).status()));
  EXPECT_EQ(port->live_objects, 0);
}

TEST(DeviceTest, AnswersQueriesAndTheirDefaults) {
  const auto port = MakePort();
  port->caps = HY_CAP_REOPEN;
  const Device device = OpenFake(port);
  EXPECT_EQ(device.caps(), HY_CAP_REOPEN);
  EXPECT_EQ(device.memory_classes().front().id, 7u);
  EXPECT_EQ(device.min_alignment(), 64u);
  EXPECT_EQ(device.max_alloc_bytes(), uint64_t{1} << 30);
  EXPECT_EQ(device.queue_tier(), static_cast<uint32_t>(HY_QUEUE_TIER_INLINE));
  EXPECT_EQ(device.vendor(), "Fake & Sons");
  EXPECT_EQ(device.driver(), "");
  EXPECT_THAT(device.page_sizes(), IsEmpty());
  EXPECT_EQ(device.sync_granule_bytes(), 64u);  // unknown and not coherent: of the least alignment
  EXPECT_EQ(*device.QueryU64(HY_QUERY_MAX_ALLOC), uint64_t{1} << 30);
  EXPECT_TRUE(absl::IsUnimplemented(device.QueryU64(HY_QUERY_NATIVE_HANDLE).status()));
  EXPECT_EQ(device.port().name(), "fake");
  EXPECT_NE(device.handle(), nullptr);
}

TEST(DeviceTest, NamesTheVerbsThatTheCoreServes) {
  const Device full = OpenFake(MakePort({.is_async = true, .imports = true}));
  EXPECT_THAT(full.defaulted_verbs(),
              ElementsAre("topology", "team_create", "team_run", "team_readback", "worker_bind"));
  const auto port = MakePort({.is_async = true});
  port->table().fence_signal = nullptr;  // then the other two are of no use either
  const Device half = OpenFake(port);
  EXPECT_THAT(half.defaulted_verbs(), Contains("fence_create"));
  EXPECT_THAT(half.defaulted_verbs(), Contains("submit"));
  EXPECT_THAT(half.defaulted_verbs(), Not(Contains("map")));
}

TEST(DeviceTest, MessagesNameTheVerbTheDeviceAndTheReason) {
  const auto port = MakePort();
  const Device device = OpenFake(port);
  port->Inject("timestamp", HY_RESOURCE_EXHAUSTED);
  const absl::Status status = device.Now().status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  for (const char* part : {"timestamp", "fake0", "injected", "try again"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

TEST(DeviceTest, ReadsTheClock) {
  const Device device = OpenFake(MakePort());
  absl::StatusOr<Timestamp> first = device.Now();
  absl::StatusOr<Timestamp> second = device.Now();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GT(first->hz, 0u);
  EXPECT_GE(second->ticks, first->ticks);
}

TEST(DeviceTest, ReadsTheMachineWhereThePortTellsNothing) {
  const auto port = MakePort();
  const Device device = OpenFake(port);
  absl::StatusOr<Topology> topology = device.ReadTopology();
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_FALSE(topology->pus.empty());
}

TEST(DeviceTest, ALostDeviceStaysLost) {
  const auto port = MakePort();
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, 64);
  absl::StatusOr<Fence> fence = device.CreateFence(1);
  absl::StatusOr<Queue> queue = device.CreateQueue();
  ASSERT_TRUE(fence.ok() && queue.ok());
  port->Inject("timestamp", HY_DATA_LOSS);
  EXPECT_TRUE(absl::IsDataLoss(device.Now().status()));
  const absl::Status later = device.Now().status();
  EXPECT_TRUE(absl::IsDataLoss(later));
  EXPECT_THAT(std::string(later.message()), HasSubstr("open it again"));
  AllocRequest request;
  request.bytes = 1;
  uint64_t word = 0;
  EXPECT_TRUE(absl::IsDataLoss(device.Allocate(request).status()));
  EXPECT_TRUE(absl::IsDataLoss(device.ImportHost(&word, 8, false).status()));
  EXPECT_TRUE(absl::IsDataLoss(device.CreateFence().status()));
  EXPECT_TRUE(absl::IsDataLoss(device.CreateQueue().status()));
  EXPECT_TRUE(absl::IsDataLoss(device.CreateTeam({}).status()));
  EXPECT_TRUE(absl::IsDataLoss(device.ReadTopology().status()));
  EXPECT_TRUE(absl::IsDataLoss(device.QueryU64(HY_QUERY_CAPS).status()));
  EXPECT_TRUE(absl::IsDataLoss(buffer.Map(0, 1, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsDataLoss(buffer.Write(0, std::vector<uint8_t>(1))));
  EXPECT_TRUE(absl::IsDataLoss(buffer.QueryPlacement().status()));
  EXPECT_TRUE(absl::IsDataLoss(queue->Submit(std::move(Submission().Barrier()))));
  EXPECT_TRUE(absl::IsDataLoss(fence->Wait(1)));
  EXPECT_TRUE(fence->Signal(2).ok());  // so that other threads get on
  EXPECT_TRUE(OpenFake(port).Now().ok());
}

TEST(DeviceTest, AllocChecksBeforeThePortSeesIt) {
  const Device device = OpenFake(MakePort());
  const auto allocate = [&device](auto change) {
    AllocRequest request;
    request.bytes = 64;
    change(request);
    return device.Allocate(request).status().code();
  };
  using Code = absl::StatusCode;
  EXPECT_EQ(allocate([](AllocRequest&) {}), Code::kOk);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.bytes = 0; }), Code::kInvalidArgument);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.alignment = 48; }), Code::kInvalidArgument);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.bytes = UINT64_MAX; }), Code::kResourceExhausted);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.memory_class = 8; }), Code::kUnimplemented);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.memory_class = 7; }), Code::kOk);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.flags = 1 << 9; }), Code::kInvalidArgument);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.usage = 99; }), Code::kInvalidArgument);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.node_policy = 9; }), Code::kInvalidArgument);
  EXPECT_EQ(allocate([](AllocRequest& r) { r.node_policy = HY_NODES_BIND; }),
            Code::kInvalidArgument);
}

TEST(DeviceTest, WishesThatTheDeviceHasNoWordsFor) {
  const auto port = MakePort();
  const Device device = OpenFake(port);
  AllocRequest request;
  request.bytes = 64;
  request.node_policy = HY_NODES_BIND;
  request.nodes = {0};
  request.pages = {uint64_t{1} << 21};
  absl::StatusOr<Buffer> buffer = device.Allocate(request);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_NE(buffer->alloc_placement().reasons & HY_REASON_FELL_BACK, 0u);
  EXPECT_EQ(port->last_alloc.node_policy, static_cast<uint32_t>(HY_NODES_DEFAULT));
  EXPECT_EQ(port->last_alloc.pages.count, 0u);
  request.require_pages = true;
  EXPECT_TRUE(absl::IsUnimplemented(device.Allocate(request).status()));
  request.require_pages = false;
  request.require_nodes = true;
  EXPECT_TRUE(absl::IsUnimplemented(device.Allocate(request).status()));
}

TEST(DeviceTest, PlacementThatThePortCannotTellIsUnknown) {
  const Device device = OpenFake(MakePort());
  const Buffer buffer = MakeBuffer(device, 64);
  absl::StatusOr<Placement> placement = buffer.QueryPlacement();
  ASSERT_TRUE(placement.ok()) << placement.status();
  EXPECT_EQ(placement->known, 0u);
  EXPECT_TRUE(absl::IsUnimplemented(buffer.QueryU64(HY_QUERY_DEVICE_ADDRESS).status()));
}

TEST(ImportTest, SharesMemoryAndReleasesItAfterTheLastUse) {
  const auto port = MakePort({.imports = true});
  const Device device = OpenFake(port);
  std::array<uint8_t, 100> memory{};
  int released = 0;
  {
    absl::StatusOr<Buffer> buffer =
        device.ImportHost(memory.data() + 1, 33, false, [&released] { ++released; });
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_TRUE(buffer->shares_host_memory());
    EXPECT_TRUE(buffer->Write(32, std::vector<uint8_t>{5}).ok());
    EXPECT_EQ(memory[33], 5);
    absl::StatusOr<Mapping> map = buffer->Map(0, 33, HY_MAP_READ);
    const Buffer moved = *std::move(buffer);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(ImportTest, CopiesWhereThePortDoesNotShare) {
  for (const bool has_slot : {true, false}) {
    const auto port = MakePort({.maps = false, .imports = has_slot});
    const Device device = OpenFake(port);
    std::vector<uint8_t> memory(77, 9);
    int released = 0;
    if (has_slot) port->Inject("import_host", HY_UNIMPLEMENTED);
    absl::StatusOr<Buffer> buffer =
        device.ImportHost(memory.data(), memory.size(), false, [&released] { ++released; });
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_FALSE(buffer->shares_host_memory());
    EXPECT_EQ(released, 1);  // at once: the memory is not used again
    memory.assign(77, 1);
    EXPECT_EQ(Contents(*buffer), std::vector<uint8_t>(77, 9));
  }
}

TEST(ImportTest, DoesNotReleaseWhatItDidNotTake) {
  int released = 0;
  uint64_t word = 0;
  const auto on_release = [&released] { ++released; };
  const auto port = MakePort({.imports = true});
  const Device device = OpenFake(port);
  port->Inject("import_host", HY_INVALID_ARGUMENT);
  EXPECT_TRUE(absl::IsInvalidArgument(device.ImportHost(&word, 8, false, on_release).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(device.ImportHost(&word, 0, false, on_release).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(device.ImportHost(nullptr, 8, false, on_release).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(device.ImportHost(&word, UINT64_MAX, false, on_release).status()));
  port->table().import_host = nullptr;
  port->Inject("submit", HY_RESOURCE_EXHAUSTED);  // the copy fails
  EXPECT_TRUE(absl::IsResourceExhausted(device.ImportHost(&word, 8, false, on_release).status()));
  EXPECT_EQ(released, 0);
  EXPECT_EQ(port->live_objects, 1);
}

TEST(ImportTest, ReadOnlyMemoryIsNeverWritten) {
  for (const bool shares : {true, false}) {
    const Device device = OpenFake(MakePort({.imports = shares}));
    std::vector<uint8_t> memory(16, 3);
    absl::StatusOr<Buffer> buffer = device.ImportHost(memory.data(), 16, true);
    absl::StatusOr<Queue> queue = device.CreateQueue();
    ASSERT_TRUE(buffer.ok() && queue.ok());
    EXPECT_TRUE(absl::IsPermissionDenied(buffer->Map(0, 1, HY_MAP_WRITE).status()));
    EXPECT_TRUE(absl::IsPermissionDenied(buffer->Write(0, std::vector<uint8_t>(1))));
    EXPECT_TRUE(
        absl::IsPermissionDenied(queue->Submit(std::move(Submission().Fill(*buffer, 0, 1, 0, 1)))));
    EXPECT_TRUE(buffer->Map(0, 16, HY_MAP_READ).ok());
  }
}

TEST(TeamTest, ComesFromTheCoreAndBindsThroughThePort) {
  static std::atomic<int> binds{0};
  binds = 0;
  const auto port = MakePort();
  port->table().worker_bind = [](hy_device*, uint32_t, uint32_t, hy_worker_report*) -> hy_status {
    ++binds;
    return HY_UNIMPLEMENTED;
  };
  const Device device = OpenFake(port);
  TeamRequest request;
  request.count = 2;
  request.allow_oversubscription = true;
  absl::StatusOr<Team> team = device.CreateTeam(request);
  ASSERT_TRUE(team.ok()) << team.status();
  EXPECT_EQ(team->size(), 2u);
  EXPECT_GE(binds, 2);
  std::atomic<uint32_t> seen{0};
  EXPECT_TRUE(team->Run([&seen](uint32_t index, uint32_t count) {
                    EXPECT_EQ(count, 2u);
                    seen |= 1u << index;
                  })
                  .ok());
  EXPECT_EQ(seen, 3u);
  absl::StatusOr<std::vector<WorkerReport>> reports = team->Readback();
  ASSERT_TRUE(reports.ok());
  ASSERT_EQ(reports->size(), 2u);
  for (const WorkerReport& report : *reports) {
    EXPECT_EQ(team->isa()[0] & ~report.isa[0], 0u);
    EXPECT_EQ(team->isa()[1] & ~report.isa[1], 0u);
  }
}

/// All of a device, to be destroyed in any order.
struct Everything {
  std::optional<Device> device;
  std::optional<Buffer> buffer;
  std::optional<Fence> fence;
  std::optional<Queue> queue;
  std::optional<Mapping> map;

  void Destroy(int part) {
    if (part == 0) device.reset();
    if (part == 1) buffer.reset();
    if (part == 2) fence.reset();
    if (part == 3) queue.reset();
    if (part == 4) map.reset();
  }
};

TEST(ReleaseOrderTest, EveryOrderIsSafe) {
  // One shape for each order, so chosen that every order of the last three meets every shape.
  const std::array<FakePort::Shape, 3> shapes{FakePort::Shape{}, FakePort::Shape{.maps = false},
                                              FakePort::Shape{.is_async = true}};
  std::array<int, 5> order{0, 1, 2, 3, 4};
  size_t turn = 0;
  do {
    const auto port = MakePort(shapes[(turn + turn / 6) % shapes.size()]);
    ++turn;
    Everything all;
    all.device = OpenFake(port);
    all.buffer = MakeBuffer(*all.device, 128);
    all.fence = *all.device->CreateFence();
    all.queue = *all.device->CreateQueue();
    all.map = *all.buffer->Map(64, 64, HY_MAP_WRITE);
    Submission work;
    work.WaitFor(*all.fence, 1).Fill(*all.buffer, 0, 64, 7, 1);
    ASSERT_TRUE(all.queue->Submit(std::move(work)).ok());
    ASSERT_TRUE(all.fence->Signal(1).ok());
    for (const int part : order) all.Destroy(part);
    ASSERT_TRUE(port->AllReleased());
    ASSERT_THAT(port->complaints(), IsEmpty());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(ReleaseOrderTest, EveryOrderIsSafeWithWorkThatNobodyWillEverStart) {
  for (const bool is_async : {false, true}) {
    std::array<int, 4> order{0, 1, 2, 3};
    do {
      const auto port = MakePort({.is_async = is_async});
      Everything all;
      all.device = OpenFake(port);
      all.buffer = MakeBuffer(*all.device, 128);
      all.fence = *all.device->CreateFence();
      all.queue = *all.device->CreateQueue();
      Submission work;
      work.WaitFor(*all.fence, 1).Fill(*all.buffer, 0, 64, 7, 1);
      ASSERT_TRUE(all.queue->Submit(std::move(work)).ok());
      for (const int part : order) all.Destroy(part);
      ASSERT_TRUE(port->AllReleased());
      ASSERT_THAT(port->complaints(), IsEmpty());
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace
}  // namespace halyard::hal
