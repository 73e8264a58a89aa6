// SPDX-License-Identifier: Apache-2.0
//
// Needs an OpenCL driver, such as PoCL; without one the tests skip.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ports/kit/test_host.h"

namespace halyard::opencl {
namespace {

using port_kit::CopyIn;
using port_kit::CopyOut;
using port_kit::Fill;
using port_kit::NewOp;
using port_kit::TestDevice;

hy_hal_get_fn Entry() {
  static void* library =
      dlopen(HALYARD_TEST_PORTS_DIR "/libopencl.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<hy_hal_get_fn>(dlsym(library, HY_HAL_GET_NAME));
}

std::vector<hy_device_info> ListDevices() {
  const hy_hal_api* api =
      Entry()(HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, port_kit::TestHost(), nullptr);
  hy_array array = {};
  EXPECT_EQ(api->enumerate(api, &array), HY_OK);
  std::vector<hy_device_info> devices(array.count);
  array.data = devices.data();
  array.capacity = array.count;
  array.stride = sizeof(hy_device_info);
  EXPECT_EQ(api->enumerate(api, &array), HY_OK);
  return devices;
}

class OpenClTest : public ::testing::Test {
 protected:
  // PoCL keeps compiled kernels; not in the home of whoever runs this.
  static void SetUpTestSuite() {
    setenv("POCL_CACHE_DIR", (::testing::TempDir() + "/halyard_pocl").c_str(), 1);
  }
  void SetUp() override {
    ASSERT_NE(Entry(), nullptr) << dlerror();
    if (ListDevices().empty()) GTEST_SKIP() << "no OpenCL platform: install pocl-opencl-icd";
  }
};

TEST_F(OpenClTest, IdsAreUniqueAndTheSameAtEachCall) {
  std::set<std::string> ids;
  const std::vector<hy_device_info> devices = ListDevices();
  for (const hy_device_info& device : devices) {
    EXPECT_EQ(device.struct_size, sizeof device);
    EXPECT_THAT(device.id, ::testing::MatchesRegex("opencl:[a-z0-9_]+.*:[0-9]+"));
    EXPECT_STRNE(device.name, "");
    EXPECT_TRUE(ids.insert(device.id).second) << device.id;
  }
  for (const hy_device_info& device : ListDevices()) EXPECT_EQ(ids.count(device.id), 1u);
}

TEST(OpenClDeathTest, AMachineWithoutADriverHasNoDevices) {
  ASSERT_NE(Entry(), nullptr) << dlerror();
  EXPECT_EXIT(
      {
        setenv("OCL_ICD_VENDORS", "/nonexistent", 1);  // of Debian's loader
        _exit(ListDevices().empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(OpenClTest, CopiesMoveExactlyTheBytes) {
  TestDevice device(Entry());
  hy_buffer* buffer = device.NewBuffer(5000);
  ASSERT_NE(buffer, nullptr);
  std::vector<uint8_t> bytes(3001);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  std::vector<uint8_t> result(5000, 0xEE);
  ASSERT_EQ(device.Submit({CopyIn(bytes.data(), buffer, 13, bytes.size()),
                           CopyOut(buffer, 0, result.data(), result.size())}),
            HY_OK);
  std::vector<uint8_t> expected(5000, 0);
  std::copy(bytes.begin(), bytes.end(), expected.begin() + 13);
  EXPECT_EQ(result, expected);

  hy_op within = NewOp(HY_OP_COPY);  // forwards over itself, which OpenCL refuses
  within.src = buffer;
  within.dst = buffer;
  within.src_offset = 13;
  within.dst_offset = 20;
  within.bytes = 3001;
  ASSERT_EQ(device.Submit({within, CopyOut(buffer, 0, result.data(), result.size())}), HY_OK);
  std::copy(bytes.begin(), bytes.end(), expected.begin() + 20);
  EXPECT_EQ(result, expected);
}

TEST_F(OpenClTest, FillsAtAnyOffsetAndLength) {
  TestDevice device(Entry());
  hy_buffer* buffer = device.NewBuffer(64);
  for (const uint32_t pattern_bytes : {1u, 2u, 4u}) {
    for (uint64_t offset = 0; offset < 5; ++offset) {
      for (uint64_t bytes = 1; bytes < 14; ++bytes) {
        std::vector<uint8_t> expected(64, 7);
        const uint32_t pattern = 0x11223344;
        std::vector<uint8_t> unit(4);
        const uint8_t low = 0x44;
        const uint16_t half = 0x3344;
        if (pattern_bytes == 1) std::memcpy(unit.data(), &low, 1);
        if (pattern_bytes == 2) std::memcpy(unit.data(), &half, 2);
        if (pattern_bytes == 4) std::memcpy(unit.data(), &pattern, 4);
        for (uint64_t i = 0; i < bytes; ++i) expected[offset + i] = unit[i % pattern_bytes];
        std::vector<uint8_t> result(64);
        ASSERT_EQ(device.Submit({Fill(buffer, 0, 64, 7, 1),
                                 Fill(buffer, offset, bytes, pattern, pattern_bytes),
                                 CopyOut(buffer, 0, result.data(), 64)}),
                  HY_OK);
        EXPECT_EQ(result, expected) << pattern_bytes << " at " << offset << " for " << bytes;
      }
    }
  }
}

TEST_F(OpenClTest, NativeHandlesAreForKernelsOfTheVendor) {
  TestDevice device(Entry());
  hy_buffer* buffer = device.NewBuffer(64);
  uint64_t context = 0;
  uint64_t memory = 0;
  EXPECT_EQ(hy_query_u64(&device.api(), HY_KIND_DEVICE, device.handle(), HY_QUERY_NATIVE_HANDLE,
                         &context),
            HY_OK);
  EXPECT_EQ(hy_query_u64(&device.api(), HY_KIND_BUFFER, buffer, HY_QUERY_NATIVE_HANDLE, &memory),
            HY_OK);
  EXPECT_NE(context, 0u);
  EXPECT_NE(memory, 0u);
  EXPECT_NE(memory, context);
}

TEST_F(OpenClTest, TooMuchMemoryIsAnError) {
  TestDevice device(Entry());
  uint64_t most = 0;
  hy_query_u64(&device.api(), HY_KIND_DEVICE, device.handle(), HY_QUERY_MAX_ALLOC, &most);
  EXPECT_GT(most, 0u);
  EXPECT_EQ(device.NewBuffer(most + 1), nullptr);
  EXPECT_THAT(port_kit::LastReport(), ::testing::HasSubstr("MAX_ALLOC"));
}

TEST_F(OpenClTest, OpensManyTimesAndLeavesNoMemory) {
  const uint64_t held = port_kit::HeldAllocations();
  for (int i = 0; i < 100; ++i) {
    TestDevice device(Entry());
    ASSERT_EQ(device.open_status(), HY_OK);
    ASSERT_NE(device.NewBuffer(4096), nullptr);
  }
  EXPECT_EQ(port_kit::HeldAllocations(), held);
}

}  // namespace
}  // namespace halyard::opencl
