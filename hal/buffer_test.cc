// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hal/fake_port.h"
#include "hal/staging.h"

namespace halyard::hal {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kBytes = 1000;

/// Every way to reach memory must look the same from above.
struct Way {
  std::string name;
  FakePort::Shape shape;
};

class EveryWayTest : public ::testing::TestWithParam<Way> {
 protected:
  EveryWayTest() : port_(std::make_shared<FakePort>(GetParam().shape)), device_(OpenFake(port_)) {}
  ~EveryWayTest() override { EXPECT_THAT(port_->complaints(), IsEmpty()); }

  std::shared_ptr<FakePort> port_;
  Device device_;
};

INSTANTIATE_TEST_SUITE_P(
    Buffer, EveryWayTest,
    ::testing::Values(Way{"MapOnly", {.maps = true, .submits = false}},
                      Way{"MapAndCopy", {.maps = true, .submits = true}},
                      Way{"CopyOnly", {.maps = false, .submits = true}},
                      Way{"AsyncCopyOnly", {.maps = false, .submits = true, .is_async = true}},
                      Way{"AsyncMap", {.maps = true, .submits = true, .is_async = true}}),
    [](const auto& test) { return test.param.name; });

TEST_P(EveryWayTest, NoTwoBuffersHaveTheSameName) {
  Buffer first = MakeBuffer(device_, kBytes);
  const uint64_t id = first.id();
  const Buffer moved = std::move(first);
  EXPECT_EQ(moved.id(), id) << "a buffer keeps its name when it moves";
  EXPECT_NE(MakeBuffer(device_, kBytes).id(), id);
}

TEST_P(EveryWayTest, MapGivesExactlyTheRangeAtAnyOffset) {
  const Buffer buffer = MakeBuffer(device_, kBytes, 0xAA);
  const std::vector<std::pair<size_t, size_t>> ranges{{0, 1},   {1, 1},   {kBytes - 1, 1},
                                                      {63, 65}, {7, 131}, {0, kBytes}};
  for (const auto& [offset, bytes] : ranges) {
    SCOPED_TRACE(offset);
    std::vector<uint8_t> expected = Contents(buffer);
    absl::StatusOr<Mapping> map = buffer.Map(offset, bytes, HY_MAP_READ | HY_MAP_WRITE);
    ASSERT_TRUE(map.ok()) << map.status();
    ASSERT_EQ(map->size_bytes(), bytes);
    for (size_t i = 0; i < bytes; ++i) {
      EXPECT_EQ(map->as<uint8_t>()[i], expected[offset + i]);
      map->as<uint8_t>()[i] = expected[offset + i] = static_cast<uint8_t>(offset + 3 * i);
    }
    EXPECT_TRUE(map->Unmap().ok());
    EXPECT_EQ(Contents(buffer), expected);
  }
}

TEST_P(EveryWayTest, WriteMapKeepsWhatIsNotWritten) {
  const Buffer buffer = MakeBuffer(device_, kBytes, 0x11);
  absl::StatusOr<Mapping> map = buffer.Map(5, 100, HY_MAP_WRITE);
  ASSERT_TRUE(map.ok()) << map.status();
  map->as<uint8_t>()[50] = 0x22;
  EXPECT_TRUE(map->Unmap().ok());
  std::vector<uint8_t> expected(kBytes, 0x11);
  expected[55] = 0x22;
  EXPECT_EQ(Contents(buffer), expected);
}

TEST_P(EveryWayTest, DiscardLeavesTheNeighboursAlone) {
  const Buffer buffer = MakeBuffer(device_, kBytes, 0x11);
  {
    absl::StatusOr<Mapping> map = buffer.Map(5, 3, HY_MAP_WRITE | HY_MAP_DISCARD);
    ASSERT_TRUE(map.ok()) << map.status();
    std::memset(map->data(), 0x22, 3);
  }  // the destructor unmaps, too
  std::vector<uint8_t> expected(kBytes, 0x11);
  expected[5] = expected[6] = expected[7] = 0x22;
  EXPECT_EQ(Contents(buffer), expected);
}

TEST_P(EveryWayTest, OverlappingMapsConflictIfEitherWrites) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  absl::StatusOr<Mapping> reader = buffer.Map(10, 10, HY_MAP_READ);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(buffer.Map(0, kBytes, HY_MAP_READ).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(buffer.Map(19, 5, HY_MAP_WRITE).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(buffer.Write(19, std::vector<uint8_t>(1))));
  absl::StatusOr<Mapping> writer = buffer.Map(20, 5, HY_MAP_WRITE);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(buffer.Map(24, 1, HY_MAP_READ).status()));
  std::vector<uint8_t> bytes(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(buffer.Read(24, absl::MakeSpan(bytes))));
  EXPECT_TRUE(reader->Unmap().ok());
  EXPECT_TRUE(writer->Unmap().ok());
  EXPECT_TRUE(buffer.Map(0, kBytes, HY_MAP_WRITE).ok());
}

TEST_P(EveryWayTest, UnmapEndsTheMapOnce) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  absl::StatusOr<Mapping> map = buffer.Map(0, 10, HY_MAP_READ);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(map->Unmap().ok());
  EXPECT_EQ(map->data(), nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(map->Unmap()));
  EXPECT_TRUE(absl::IsFailedPrecondition(map->Sync(0, 1, HY_SYNC_TO_DEVICE)));
}

TEST_P(EveryWayTest, RefusesRangesThatLeaveTheBuffer) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  std::vector<uint8_t> bytes(2);
  for (const uint64_t offset : {kBytes, kBytes - 1, UINT64_MAX, UINT64_MAX - 1}) {
    EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(offset, 2, HY_MAP_READ).status()));
    EXPECT_TRUE(absl::IsOutOfRange(buffer.Read(offset, absl::MakeSpan(bytes))));
    EXPECT_TRUE(absl::IsOutOfRange(buffer.Write(offset, bytes)));
  }
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Map(1, UINT64_MAX, HY_MAP_READ).status()));
  EXPECT_TRUE(buffer.Write(kBytes, {}).ok());
  EXPECT_TRUE(absl::IsOutOfRange(buffer.Write(kBytes + 1, {})));
}

TEST_P(EveryWayTest, RefusesFlagsThatMakeNoSense) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(0, 0, HY_MAP_READ).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(0, 1, 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(0, 1, HY_MAP_READ | HY_MAP_DISCARD).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffer.Map(0, 1, HY_MAP_READ | (1 << 20)).status()));
  EXPECT_TRUE(absl::IsUnimplemented(buffer.Map(0, 1, HY_MAP_READ | HY_MAP_PERSISTENT).status()));
}

TEST_P(EveryWayTest, WorkOnAMappedRangeIsRefused) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  absl::StatusOr<Queue> queue = device_.CreateQueue();
  ASSERT_TRUE(queue.ok()) << queue.status();
  absl::StatusOr<Mapping> map = buffer.Map(10, 10, HY_MAP_READ);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(queue->Submit(std::move(Submission().Fill(buffer, 15, 1, 1, 1)))));
  EXPECT_TRUE(queue->Submit(std::move(Submission().Fill(buffer, 20, 1, 1, 1))).ok());
  EXPECT_TRUE(queue->Drain().ok());
  EXPECT_EQ(map->as<uint8_t>()[5], 0);
}

TEST_P(EveryWayTest, MapWaitsForWorkOnItsRange) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  absl::StatusOr<Queue> queue = device_.CreateQueue();
  absl::StatusOr<Fence> gate = device_.CreateFence();
  ASSERT_TRUE(queue.ok() && gate.ok());
  Submission submission;
  submission.WaitFor(*gate, 1).Fill(buffer, 0, 10, 7, 1);
  ASSERT_TRUE(queue->Submit(std::move(submission)).ok());
  EXPECT_TRUE(buffer.Map(10, 10, HY_MAP_WRITE).ok());  // does not touch what the work touches
  std::atomic<bool> opened{false};
  std::thread opener([&] {
    opened = true;
    EXPECT_TRUE(gate->Signal(1).ok());
  });
  absl::StatusOr<Mapping> map = buffer.Map(9, 1, HY_MAP_READ);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_TRUE(opened);
  EXPECT_EQ(map->as<uint8_t>()[0], 7);
  opener.join();
}

TEST_P(EveryWayTest, FailureToMapLeavesTheRangeFree) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  const bool maps = GetParam().shape.maps;
  port_->Inject(maps ? "map" : "submit", HY_RESOURCE_EXHAUSTED);
  const absl::Status status = buffer.Map(0, 10, HY_MAP_READ).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(buffer.Map(0, 10, HY_MAP_WRITE).ok());
}

TEST_P(EveryWayTest, UnmapReportsThatBytesWereLost) {
  const Buffer buffer = MakeBuffer(device_, kBytes);
  absl::StatusOr<Mapping> map = buffer.Map(0, 10, HY_MAP_WRITE);
  ASSERT_TRUE(map.ok());
  port_->Inject(GetParam().shape.maps ? "unmap" : "submit", HY_DATA_LOSS);
  EXPECT_TRUE(absl::IsDataLoss(map->Unmap()));
  EXPECT_TRUE(absl::IsDataLoss(buffer.Map(0, 10, HY_MAP_READ).status()));
}

TEST(BufferTest, StagedReadMapIsNotWrittenBack) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.maps = false});
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, kBytes, 0x33);
  absl::StatusOr<Mapping> map = buffer.Map(3, 10, HY_MAP_READ);
  ASSERT_TRUE(map.ok());
  std::memset(map->data(), 0xFF, 10);
  const uint64_t copies = port->copies_made;
  EXPECT_TRUE(map->Unmap().ok());
  EXPECT_EQ(port->copies_made, copies);
  EXPECT_EQ(Contents(buffer), std::vector<uint8_t>(kBytes, 0x33));
}

TEST(BufferTest, StagingCopiesOnlyWhatItMust) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.maps = false});
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, kBytes);
  const std::vector<std::pair<uint64_t, uint64_t>> cases{
      {HY_MAP_READ, 1},
      {HY_MAP_WRITE, 2},
      {HY_MAP_READ | HY_MAP_WRITE, 2},
      {HY_MAP_WRITE | HY_MAP_DISCARD, 1},
      {HY_MAP_READ | HY_MAP_WRITE | HY_MAP_DISCARD, 2}};
  for (const auto& [access, expected] : cases) {
    const uint64_t before = port->copies_made;
    absl::StatusOr<Mapping> map = buffer.Map(1, 10, access);
    ASSERT_TRUE(map.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(map->data()) % 4096, 0u);
    std::memset(map->data(), 0, 10);
    EXPECT_TRUE(map->Unmap().ok());
    EXPECT_EQ(port->copies_made - before, expected) << access;
  }
}

TEST(BufferTest, AMapThatThePortRefusesIsStaged) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{});
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, kBytes, 0x44);
  port->Inject("map", HY_UNIMPLEMENTED);
  absl::StatusOr<Mapping> map = buffer.Map(0, 10, HY_MAP_READ | HY_MAP_WRITE);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(port->maps_made, 0u);
  EXPECT_EQ(map->as<uint8_t>()[9], 0x44);
  map->as<uint8_t>()[9] = 0x55;
  EXPECT_TRUE(map->Unmap().ok());
  EXPECT_EQ(Contents(buffer)[9], 0x55);
}

TEST(BufferTest, UnmapMayBeLeftOut) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{.submits = false});
  port->table().unmap = nullptr;
  const Device device = OpenFake(port);
  AllocRequest request;
  request.bytes = 10;
  absl::StatusOr<Buffer> buffer = device.Allocate(request);
  ASSERT_TRUE(buffer.ok());
  absl::StatusOr<Mapping> map = buffer->Map(0, 10, HY_MAP_READ);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(map->Unmap().ok());
}

TEST(BufferTest, PersistentMapLetsWorkGoOn) {
  const auto port = std::make_shared<FakePort>(FakePort::Shape{});
  port->caps |= HY_CAP_PERSISTENT_MAP;
  const Device device = OpenFake(port);
  const Buffer buffer = MakeBuffer(device, kBytes);
  absl::StatusOr<Mapping> map = buffer.Map(0, 10, HY_MAP_READ | HY_MAP_PERSISTENT);
  ASSERT_TRUE(map.ok()) << map.status();
  absl::StatusOr<Queue> queue = device.CreateQueue();
  ASSERT_TRUE(queue.ok());
  EXPECT_TRUE(queue->Submit(std::move(Submission().Fill(buffer, 0, 10, 9, 1))).ok());
  EXPECT_TRUE(queue->Drain().ok());
  EXPECT_TRUE(map->Sync(0, 10, HY_SYNC_FROM_DEVICE).ok());
  EXPECT_EQ(map->as<uint8_t>()[9], 9);
}

TEST(BufferTest, SyncIsCheckedAndMayBeLeftOutWhereMemoryIsCoherent) {
  for (const bool is_coherent : {true, false}) {
    const auto port = std::make_shared<FakePort>(FakePort::Shape{});
    port->caps = HY_CAP_PERSISTENT_MAP | (is_coherent ? HY_CAP_COHERENT : 0);
    port->memory_flags = HY_MEMORY_HOST_VISIBLE;
    port->table().sync_range = nullptr;
    const Device device = OpenFake(port);
    const Buffer buffer = MakeBuffer(device, kBytes);
    absl::StatusOr<Mapping> map = buffer.Map(5, 10, HY_MAP_READ | HY_MAP_PERSISTENT);
    ASSERT_TRUE(map.ok());
    const absl::Status status = map->Sync(0, 10, HY_SYNC_TO_DEVICE);
    EXPECT_EQ(status.code(),
              is_coherent ? absl::StatusCode::kOk : absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::IsOutOfRange(map->Sync(1, 10, HY_SYNC_TO_DEVICE)));
    EXPECT_TRUE(absl::IsOutOfRange(map->Sync(UINT64_MAX, 2, HY_SYNC_TO_DEVICE)));
    EXPECT_TRUE(absl::IsInvalidArgument(map->Sync(0, 0, HY_SYNC_TO_DEVICE)));
    EXPECT_TRUE(absl::IsInvalidArgument(map->Sync(0, 1, 0)));
    absl::StatusOr<Mapping> scoped = buffer.Map(20, 10, HY_MAP_READ);
    EXPECT_TRUE(absl::IsFailedPrecondition(scoped->Sync(0, 1, HY_SYNC_TO_DEVICE)));
  }
}

TEST(StagingPoolTest, ReusesBlocksWithinABound) {
  StagingPool pool;
  void* first = nullptr;
  {
    absl::StatusOr<StagingBlock> block = pool.Acquire(5000);
    ASSERT_TRUE(block.ok());
    EXPECT_GE(block->capacity_bytes(), 5000u);
    first = block->data();
  }
  EXPECT_GT(pool.idle_bytes(), 0u);
  {
    absl::StatusOr<StagingBlock> again = pool.Acquire(6000);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->data(), first);
    EXPECT_EQ(pool.idle_bytes(), 0u);
  }
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<StagingBlock> one = pool.Acquire(StagingPool::kMaxIdleBytes);
    absl::StatusOr<StagingBlock> two = pool.Acquire(StagingPool::kMaxIdleBytes + 1);
    ASSERT_TRUE(one.ok() && two.ok());
  }
  EXPECT_LE(pool.idle_bytes(), StagingPool::kMaxIdleBytes);
  EXPECT_TRUE(absl::IsResourceExhausted(pool.Acquire(UINT64_MAX).status()));
}

}  // namespace
}  // namespace halyard::hal
