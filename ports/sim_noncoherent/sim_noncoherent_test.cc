// SPDX-License-Identifier: Apache-2.0
//
// The mistakes that this device is there to show, and that right code is not disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ports/kit/test_host.h"

extern "C" const hy_hal_api* halyard_hal_get_sim_noncoherent(uint32_t, uint32_t,
                                                             const hy_host_services*, uint32_t*);

namespace halyard::sim_noncoherent {
namespace {

using port_kit::CopyOut;
using port_kit::Fill;
using ::testing::Each;

constexpr uint64_t kPersistent = HY_MAP_READ | HY_MAP_WRITE | HY_MAP_PERSISTENT;
constexpr uint64_t kBytes = 300;  // not a multiple of the granule

class SimNoncoherentTest : public ::testing::Test {
 protected:
  SimNoncoherentTest()
      : device_(halyard_hal_get_sim_noncoherent), buffer_(device_.NewBuffer(kBytes)) {}

  // What the device sees.
  std::vector<uint8_t> DeviceBytes(uint64_t offset, uint64_t bytes) {
    std::vector<uint8_t> result(static_cast<size_t>(bytes));
    EXPECT_EQ(device_.Submit({CopyOut(buffer_, offset, result.data(), bytes)}), HY_OK);
    return result;
  }
  void DeviceFill(uint64_t offset, uint64_t bytes, uint8_t value) {
    EXPECT_EQ(device_.Submit({Fill(buffer_, offset, bytes, value, 1)}), HY_OK);
  }
  uint8_t* MapAll(uint64_t access) { return device_.Map(buffer_, 0, kBytes, access); }
  void ToDevice(uint64_t offset, uint64_t bytes) {
    EXPECT_EQ(device_.api().sync_range(buffer_, offset, bytes, HY_SYNC_TO_DEVICE), HY_OK);
  }
  void FromDevice(uint64_t offset, uint64_t bytes) {
    EXPECT_EQ(device_.api().sync_range(buffer_, offset, bytes, HY_SYNC_FROM_DEVICE), HY_OK);
  }

  port_kit::TestDevice device_;
  hy_buffer* buffer_;
};

TEST_F(SimNoncoherentTest, WhatIsNotHandedOverIsNotSeen) {
  uint8_t* memory = MapAll(kPersistent);
  ASSERT_NE(memory, nullptr);
  memory[10] = 5;
  EXPECT_EQ(DeviceBytes(10, 1)[0], 0);
  ToDevice(10, 1);
  EXPECT_EQ(DeviceBytes(10, 1)[0], 5);

  DeviceFill(200, 8, 6);
  EXPECT_EQ(memory[200], 0);
  FromDevice(200, 8);
  EXPECT_EQ(memory[200], 6);
}

TEST_F(SimNoncoherentTest, FalseSharingInALineLosesTheDevicesBytes) {
  uint8_t* memory = MapAll(kPersistent);
  DeviceFill(0, 8, 6);  // the host still holds the line as it was
  memory[32] = 5;
  ToDevice(32, 1);
  EXPECT_THAT(DeviceBytes(0, 8), Each(0));
}

TEST_F(SimNoncoherentTest, AHostWriteNotHandedOverDestroysADeviceResult) {
  uint8_t* memory = MapAll(kPersistent);
  memory[32] = 5;       // dirty
  DeviceFill(0, 8, 6);  // the device writes the same line
  FromDevice(0, 8);     // writes the dirty line back before it drops it
  EXPECT_EQ(memory[0], 0);
}

TEST_F(SimNoncoherentTest, HandedOverNeighboursSurviveBothDirections) {
  uint8_t* memory = MapAll(kPersistent);
  memory[32] = 5;
  ToDevice(32, 1);
  DeviceFill(0, 8, 6);
  FromDevice(0, 8);
  EXPECT_EQ(memory[0], 6);
  EXPECT_EQ(memory[32], 5);
  memory[40] = 7;
  ToDevice(40, 1);
  EXPECT_THAT(DeviceBytes(0, 8), Each(6));
  EXPECT_EQ(DeviceBytes(32, 1)[0], 5);
}

TEST_F(SimNoncoherentTest, ADirtyLineIsWrittenBackWithoutItsNeighbourLines) {
  uint8_t* memory = MapAll(kPersistent);
  memory[63] = 1;
  memory[64] = 2;
  ToDevice(0, 64);
  EXPECT_EQ(DeviceBytes(63, 1)[0], 1);
  EXPECT_EQ(DeviceBytes(64, 1)[0], 0);
}

TEST_F(SimNoncoherentTest, APersistentMapSeesWorkThatWasDoneBefore) {
  uint8_t* first = MapAll(kPersistent);
  ASSERT_EQ(device_.Unmap(buffer_, 0, kBytes, kPersistent, first), HY_OK);
  DeviceFill(0, kBytes, 6);  // stale in the host's view now
  uint8_t* memory = device_.Map(buffer_, 16, 16, kPersistent);
  EXPECT_EQ(memory[0], 6);
  memory[0] = 7;
  ToDevice(16, 1);
  EXPECT_EQ(DeviceBytes(15, 1)[0], 6) << "the line beside the map was stale";
  EXPECT_EQ(DeviceBytes(16, 1)[0], 7);
}

TEST_F(SimNoncoherentTest, UnmapWritesOnlyWhatIsDirty) {
  uint8_t* memory = MapAll(kPersistent);
  memory[299] = 9;
  DeviceFill(0, 64, 6);
  ASSERT_EQ(device_.Unmap(buffer_, 0, kBytes, kPersistent, memory), HY_OK);
  EXPECT_THAT(DeviceBytes(0, 64), Each(6));
  EXPECT_EQ(DeviceBytes(299, 1)[0], 9);
}

TEST_F(SimNoncoherentTest, ScopedMapsAreExactToTheByte) {
  DeviceFill(0, 64, 6);
  uint8_t* low = device_.Map(buffer_, 3, 5, HY_MAP_WRITE | HY_MAP_DISCARD);
  uint8_t* high = device_.Map(buffer_, 8, 5, HY_MAP_READ | HY_MAP_WRITE);
  EXPECT_EQ(low[0], 0xDD) << "discarded contents are not what they were";
  std::fill_n(low, 5, uint8_t{1});
  EXPECT_EQ(high[0], 6);
  high[0] = 2;
  ASSERT_EQ(device_.Unmap(buffer_, 3, 5, HY_MAP_WRITE | HY_MAP_DISCARD, low), HY_OK);
  ASSERT_EQ(device_.Unmap(buffer_, 8, 5, HY_MAP_READ | HY_MAP_WRITE, high), HY_OK);
  EXPECT_THAT(DeviceBytes(0, 14), ::testing::ElementsAre(6, 6, 6, 1, 1, 1, 1, 1, 2, 6, 6, 6, 6, 6));
}

TEST_F(SimNoncoherentTest, AReadMapChangesNothing) {
  DeviceFill(0, 64, 6);
  uint8_t* memory = device_.Map(buffer_, 0, 64, HY_MAP_READ);
  memory[0] = 1;
  ASSERT_EQ(device_.Unmap(buffer_, 0, 64, HY_MAP_READ, memory), HY_OK);
  EXPECT_EQ(DeviceBytes(0, 1)[0], 6);
  uint8_t* again = device_.Map(buffer_, 0, 64, HY_MAP_READ);
  EXPECT_EQ(again[0], 6);
}

TEST_F(SimNoncoherentTest, UnmapWantsThePointerOfTheMap) {
  uint8_t* memory = device_.Map(buffer_, 8, 8, HY_MAP_READ);
  EXPECT_EQ(device_.Unmap(buffer_, 8, 8, HY_MAP_READ, memory - 8), HY_INVALID_ARGUMENT);
  EXPECT_NE(port_kit::LastReport(), "");
}

}  // namespace
}  // namespace halyard::sim_noncoherent
