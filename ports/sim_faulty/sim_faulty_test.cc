// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ports/kit/test_host.h"

extern "C" const hy_hal_api* halyard_hal_get_sim_faulty(uint32_t, uint32_t, const hy_host_services*,
                                                        uint32_t*);

namespace halyard::sim_faulty {
namespace {

using port_kit::Fill;
using port_kit::TestDevice;

hy_status ReadClock(TestDevice& device) {
  hy_timestamp timestamp = {};
  timestamp.struct_size = sizeof timestamp;
  return device.api().timestamp(device.handle(), &timestamp);
}

TEST(SimFaultyTest, WithoutOptionsNothingFails) {
  TestDevice device(halyard_hal_get_sim_faulty);
  ASSERT_EQ(device.open_status(), HY_OK);
  hy_buffer* buffer = device.NewBuffer(100);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(device.Submit({Fill(buffer, 0, 100, 1, 1)}), HY_OK);
  uint8_t* memory = device.Map(buffer, 99, 1, HY_MAP_READ);
  EXPECT_EQ(memory[0], 1);
}

TEST(SimFaultyTest, TheNthCallFailsOnceAndDoesNothing) {
  TestDevice device(halyard_hal_get_sim_faulty, {{"verb", "submit"}, {"nth", "3"}});
  hy_buffer* buffer = device.NewBuffer(4);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 4, 1, 1)}), HY_OK);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 4, 2, 1)}), HY_OK);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 4, 3, 1)}), HY_RESOURCE_EXHAUSTED);
  EXPECT_NE(port_kit::LastReport().find("submit"), std::string::npos);
  EXPECT_EQ(device.Map(buffer, 0, 4, HY_MAP_READ)[0], 2);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 4, 4, 1)}), HY_OK);
}

TEST(SimFaultyTest, StickyFailsFromThenOnButOnlyThatVerb) {
  TestDevice device(
      halyard_hal_get_sim_faulty,
      {{"verb", "alloc"}, {"nth", "2"}, {"status", "PERMISSION_DENIED"}, {"sticky", "1"}});
  EXPECT_NE(device.NewBuffer(4), nullptr);
  EXPECT_EQ(device.NewBuffer(4), nullptr);
  EXPECT_EQ(device.NewBuffer(4), nullptr);
  EXPECT_EQ(ReadClock(device), HY_OK);
}

TEST(SimFaultyTest, ALostDeviceStaysLostUntilItIsOpenedAnew) {
  const TestDevice::Options options = {{"verb", "timestamp"}, {"status", "DATA_LOSS"}};
  TestDevice device(halyard_hal_get_sim_faulty, options);
  hy_buffer* buffer = device.NewBuffer(4);
  EXPECT_EQ(ReadClock(device), HY_DATA_LOSS);
  EXPECT_EQ(ReadClock(device), HY_DATA_LOSS);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 4, 1, 1)}), HY_DATA_LOSS);
  EXPECT_EQ(device.NewBuffer(4), nullptr);
  uint64_t caps = 0;
  EXPECT_EQ(hy_query_u64(&device.api(), HY_KIND_DEVICE, device.handle(), HY_QUERY_CAPS, &caps),
            HY_OK);
  TestDevice anew(halyard_hal_get_sim_faulty);
  EXPECT_EQ(ReadClock(anew), HY_OK);
}

TEST(SimFaultyTest, OpenItselfCanFailAndLeavesNothing) {
  const uint64_t held = port_kit::HeldAllocations();
  TestDevice device(halyard_hal_get_sim_faulty, {{"verb", "open"}, {"status", "UNAVAILABLE"}});
  EXPECT_EQ(device.open_status(), HY_UNAVAILABLE);
  EXPECT_EQ(device.handle(), nullptr);
  EXPECT_EQ(port_kit::HeldAllocations(), held);
}

TEST(SimFaultyTest, OptionsAreChecked) {
  for (const auto& [key, value] : TestDevice::Options{
           {"verb", "paint"}, {"nth", "0"}, {"status", "OK"}, {"sticky", "2"}, {"what", "1"}}) {
    EXPECT_EQ(TestDevice(halyard_hal_get_sim_faulty, {{key, value}}).open_status(),
              HY_INVALID_ARGUMENT)
        << key << "=" << value;
  }
}

TEST(SimFaultyTest, AnImportIsTheCallersMemory) {
  TestDevice device(halyard_hal_get_sim_faulty);
  std::vector<uint8_t> memory(33, 1);
  int released = 0;
  hy_import_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.ptr = memory.data() + 1;
  desc.bytes = 31;
  desc.on_release = [](void* context) { ++*static_cast<int*>(context); };
  desc.context = &released;
  hy_buffer* buffer = nullptr;
  ASSERT_EQ(device.api().import_host(device.handle(), &desc, &buffer), HY_OK);
  ASSERT_EQ(device.Submit({Fill(buffer, 30, 1, 9, 1)}), HY_OK);
  EXPECT_EQ(memory[31], 9);
  EXPECT_EQ(released, 0);
  hy_buffer_release(&device.api(), buffer);
  EXPECT_EQ(released, 1);

  desc.flags = HY_IMPORT_READ_ONLY;
  ASSERT_EQ(device.api().import_host(device.handle(), &desc, &buffer), HY_OK);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 1, 9, 1)}), HY_INVALID_ARGUMENT);
  EXPECT_EQ(device.Map(buffer, 0, 1, HY_MAP_WRITE), nullptr);
  EXPECT_NE(device.Map(buffer, 0, 1, HY_MAP_READ), nullptr);
  hy_buffer_release(&device.api(), buffer);
}

}  // namespace
}  // namespace halyard::sim_faulty
