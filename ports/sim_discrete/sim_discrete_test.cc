// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "ports/kit/test_host.h"

extern "C" const hy_hal_api* halyard_hal_get_sim_discrete(uint32_t, uint32_t,
                                                          const hy_host_services*, uint32_t*);

namespace halyard::sim_discrete {
namespace {

using port_kit::CopyIn;
using port_kit::CopyOut;
using port_kit::Fill;
using port_kit::TestDevice;
using ::testing::ElementsAre;

// Where the memory lies in this process, which no user of the device may use.
volatile uint8_t* AddressOf(const TestDevice& device, hy_buffer* buffer) {
  uint64_t address = 0;
  EXPECT_EQ(hy_query_u64(&device.api(), HY_KIND_BUFFER, buffer, HY_QUERY_DEVICE_ADDRESS, &address),
            HY_OK);
  return reinterpret_cast<volatile uint8_t*>(static_cast<uintptr_t>(address));
}

TEST(SimDiscreteDeathTest, TouchingDeviceMemoryFaults) {
  TestDevice device(halyard_hal_get_sim_discrete);
  hy_buffer* buffer = device.NewBuffer(10000);
  ASSERT_NE(buffer, nullptr);
  volatile uint8_t* memory = AddressOf(device, buffer);
  EXPECT_DEATH(memory[0] = 1, "");
  EXPECT_DEATH((void)memory[9999], "");
  // A copy closes again all pages that it opened.
  std::vector<uint8_t> bytes(10000, 7);
  ASSERT_EQ(device.Submit({CopyIn(bytes.data(), buffer, 0, bytes.size())}), HY_OK);
  ASSERT_EQ(device.Submit({CopyOut(buffer, 4090, bytes.data(), 10)}), HY_OK);
  EXPECT_DEATH((void)memory[4095], "");
  EXPECT_DEATH((void)memory[4096], "");
}

TEST(SimDiscreteTest, CopiesWithinOneBufferMayOverlap) {
  TestDevice device(halyard_hal_get_sim_discrete);
  hy_buffer* buffer = device.NewBuffer(20000);
  std::vector<uint8_t> bytes(20000);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  hy_op within = port_kit::NewOp(HY_OP_COPY);
  within.src = buffer;
  within.dst = buffer;
  within.src_offset = 100;
  within.dst_offset = 4097;
  within.bytes = 9000;
  std::vector<uint8_t> result(20000);
  ASSERT_EQ(device.Submit({CopyIn(bytes.data(), buffer, 0, 20000), within,
                           CopyOut(buffer, 0, result.data(), 20000)}),
            HY_OK);
  std::copy_backward(bytes.begin() + 100, bytes.begin() + 9100, bytes.begin() + 4097 + 9000);
  EXPECT_EQ(result, bytes);
}

TEST(SimDiscreteTest, AFillCutsItsLastPattern) {
  TestDevice device(halyard_hal_get_sim_discrete);
  hy_buffer* buffer = device.NewBuffer(16);
  const uint16_t half = 0x1234;
  uint8_t unit[2];
  std::memcpy(unit, &half, 2);
  std::vector<uint8_t> result(8);
  ASSERT_EQ(device.Submit({Fill(buffer, 1, 5, half, 2), CopyOut(buffer, 0, result.data(), 8)}),
            HY_OK);
  EXPECT_THAT(result, ElementsAre(0, unit[0], unit[1], unit[0], unit[1], unit[0], 0, 0));
}

TEST(SimDiscreteTest, ARefusedSubmissionHasDoneNothing) {
  TestDevice device(halyard_hal_get_sim_discrete);
  hy_buffer* buffer = device.NewBuffer(16);
  std::vector<uint8_t> result(16, 9);
  EXPECT_EQ(device.Submit({Fill(buffer, 0, 16, 1, 1), Fill(buffer, 8, UINT64_MAX - 3, 1, 1)}),
            HY_OUT_OF_RANGE);
  ASSERT_EQ(device.Submit({CopyOut(buffer, 0, result.data(), 16)}), HY_OK);
  EXPECT_THAT(result, ::testing::Each(0));
}

TEST(SimDiscreteTest, SubmitsFromManyThreadsKeepTheirBytesApart) {
  TestDevice device(halyard_hal_get_sim_discrete);
  hy_buffer* buffer = device.NewBuffer(8 * 1000);  // eight ranges that share pages
  std::vector<std::thread> threads;
  std::vector<std::vector<uint8_t>> results(8, std::vector<uint8_t>(1000));
  for (uint8_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const uint64_t offset = uint64_t{i} * 1000;
        device.Submit(
            {Fill(buffer, offset, 1000, i, 1), CopyOut(buffer, offset, results[i].data(), 1000)});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint8_t i = 0; i < 8; ++i) EXPECT_THAT(results[i], ::testing::Each(i));
}

}  // namespace
}  // namespace halyard::sim_discrete
