// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "hal/host_services.h"
#include "hal/layers/interposer.h"
#include "hal/layers/test_port.h"

namespace halyard::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LoadTestPort;
using ::testing::SizeIs;
using testing::State;

hy_alloc_desc Bytes(uint64_t bytes) {
  hy_alloc_desc desc{};
  desc.struct_size = sizeof desc;
  desc.memory_class = HY_ID_NONE;
  desc.bytes = bytes;
  return desc;
}

hy_device* OpenDevice(const Port& port) {
  hy_open_desc desc{};
  desc.struct_size = sizeof desc;
  hy_device* device = nullptr;
  EXPECT_EQ(port.api().open(port.self(), &desc, &device), HY_OK);
  return device;
}

hy_status AllocOnce(const Port& port, hy_device* device) {
  const hy_alloc_desc desc = Bytes(64);
  hy_buffer* buffer = nullptr;
  const hy_status status = port.api().alloc(device, &desc, &buffer, nullptr);
  EXPECT_EQ(buffer == nullptr, status != HY_OK);
  if (buffer != nullptr) port.api().release(HY_KIND_BUFFER, buffer);
  return status;
}

// ---- All layers ----

TEST(LayersTest, WhatThePortLeavesOutStaysNull) {
  auto inner = LoadTestPort(true);
  ASSERT_NE(inner, nullptr);
  auto layer = WithTrace(inner, false, [](absl::string_view) {});
  ASSERT_TRUE(layer.ok());
  const hy_hal_api& api = (*layer)->api();
  EXPECT_EQ(api.topology, nullptr);
  EXPECT_EQ(api.import_host, nullptr);
  EXPECT_EQ(api.unmap, nullptr);
  EXPECT_EQ(api.sync_range, nullptr);
  EXPECT_EQ(api.team_create, nullptr);
  EXPECT_EQ(api.team_run, nullptr);
  EXPECT_EQ(api.team_readback, nullptr);
  EXPECT_EQ(api.worker_bind, nullptr);
  EXPECT_EQ(api.queue_create, nullptr);
  EXPECT_EQ(api.submit, nullptr);
  EXPECT_EQ(api.fence_create, nullptr);
  EXPECT_EQ(api.fence_wait, nullptr);
  EXPECT_EQ(api.fence_signal, nullptr);
  EXPECT_NE(api.map, nullptr);
  EXPECT_NE(api.map, inner->api().map);
  EXPECT_EQ((*layer)->name(), "test_port");
}

TEST(LayersTest, LayersStackAndHandlesPassThroughUnchanged) {
  auto inner = LoadTestPort();
  std::vector<std::string> outer_lines;
  std::vector<std::string> inner_lines;
  auto plan = std::make_shared<FaultPlan>();
  auto traced =
      WithTrace(inner, false, [&](absl::string_view line) { inner_lines.emplace_back(line); });
  auto faulty = WithFault(*traced, plan);
  auto checked = WithValidate(*faulty, [](const Violation&) { ADD_FAILURE(); });
  auto port =
      WithTrace(*checked, false, [&](absl::string_view line) { outer_lines.emplace_back(line); });
  ASSERT_TRUE(port.ok());
  hy_device* device = OpenDevice(**port);
  plan->fail_nth = 1;
  EXPECT_EQ(AllocOnce(**port, device), HY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  // The same handle serves the bare port: a vendor's kernel would be given it.
  hy_timestamp now{};
  now.struct_size = sizeof now;
  EXPECT_EQ(inner->api().timestamp(device, &now), HY_OK);
  EXPECT_EQ((*port)->api().release(HY_KIND_DEVICE, device), HY_OK);
  EXPECT_EQ(State().live, 0);
  EXPECT_THAT(outer_lines, SizeIs(5));  // open, alloc twice, release twice
  EXPECT_THAT(inner_lines, SizeIs(4));  // the first alloc did not come so far
}

TEST(LayersTest, InstancesOfOneLayerAreApart) {
  auto inner = LoadTestPort();
  int first = 0;
  int second = 0;
  auto a = WithTrace(inner, false, [&](absl::string_view) { ++first; });
  auto b = WithTrace(inner, false, [&](absl::string_view) { ++second; });
  hy_device* device = OpenDevice(**a);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  // A NULL handle leads to the right instance too, and the port refuses it.
  EXPECT_EQ((*b)->api().map(nullptr, nullptr, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(second, 1);
  (*a)->api().release(HY_KIND_DEVICE, device);
}

TEST(LayersTest, ThereIsAMostAndItIsGivenBack) {
  auto inner = LoadTestPort();
  for (int round = 0; round < 2; ++round) {
    std::vector<std::shared_ptr<Port>> layers;
    absl::Status status;
    while (status.ok() && layers.size() <= Interposer::kMostLayers) {
      auto layer = WithTrace(inner, false, [](absl::string_view) {});
      status = layer.status();
      if (layer.ok()) layers.push_back(*layer);
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(layers, SizeIs(Interposer::kMostLayers));
    EXPECT_EQ(layers.back()->api().release(HY_KIND_BUFFER, nullptr), HY_OK);
  }
}

TEST(LayersTest, WrongRequestsForALayerAreErrors) {
  auto inner = LoadTestPort();
  EXPECT_FALSE(WithTrace(nullptr, false, [](absl::string_view) {}).ok());
  EXPECT_FALSE(WithTrace(inner, false, nullptr).ok());
  EXPECT_FALSE(WithValidate(inner, nullptr).ok());
  EXPECT_FALSE(WithFault(inner, nullptr).ok());
  auto plan = std::make_shared<FaultPlan>();
  plan->verb = "allocate";
  EXPECT_THAT(std::string(WithFault(inner, plan).status().message()), HasSubstr("'allocate'"));
  plan->verb = "alloc";
  plan->status = HY_OK;
  EXPECT_FALSE(WithFault(inner, plan).ok());
}

// ---- Trace ----

TEST(TraceTest, ALineTellsTheCall) {
  std::vector<std::string> lines;
  auto port =
      WithTrace(LoadTestPort(), false, [&](absl::string_view line) { lines.emplace_back(line); });
  hy_device* device = OpenDevice(**port);
  const hy_alloc_desc desc = Bytes(100);
  hy_buffer* buffer = nullptr;
  (*port)->api().alloc(device, &desc, &buffer, nullptr);
  hy_map_desc map{sizeof(hy_map_desc), 0, 90, 20, HY_MAP_READ};
  void* ptr = nullptr;
  (*port)->api().map(buffer, &map, &ptr);
  (*port)->api().release(HY_KIND_BUFFER, buffer);
  (*port)->api().release(HY_KIND_DEVICE, device);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_TRUE(std::regex_match(
      lines[0], std::regex("#1 thread \\d+ open\\(id=null, options=0\\) OK device=0x[0-9a-f]+ "
                           "\\d+ ns")))
      << lines[0];
  EXPECT_THAT(lines[1], HasSubstr("bytes=100"));
  EXPECT_TRUE(std::regex_search(lines[2], std::regex("offset=90, bytes=20, access=1\\) "
                                                     "OUT_OF_RANGE \\d+ ns$")))
      << lines[2];
}

TEST(TraceTest, JsonLinesAreOneObjectEach) {
  std::vector<std::string> lines;
  auto port =
      WithTrace(LoadTestPort(), true, [&](absl::string_view line) { lines.emplace_back(line); });
  hy_open_desc desc{};
  desc.struct_size = sizeof desc;
  desc.id = "a\"b\\c\n\xff";
  hy_device* device = nullptr;
  EXPECT_EQ((*port)->api().open((*port)->self(), &desc, &device), HY_NOT_FOUND);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_TRUE(std::regex_match(
      lines[0],
      std::regex("\\{\"sequence\":1,\"thread\":\\d+,\"verb\":\"open\",\"arguments\":\\{\"id\":"
                 "\"a\\\\\"b\\\\\\\\c\\\\u000a\\\\u00ff\",\"options\":0\\},\"status\":"
                 "\"NOT_FOUND\",\"ns\":\\d+\\}")))
      << lines[0];
}

TEST(TraceTest, LinesOfThreadsDoNotMix) {
  std::vector<std::string> lines;
  auto port =
      WithTrace(LoadTestPort(), false, [&](absl::string_view line) { lines.emplace_back(line); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) (*port)->api().map(nullptr, nullptr, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(lines, SizeIs(200));
  for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("map(buffer=0x0"));
}

// ---- Fault ----

TEST(FaultTest, TheNthCallOfAVerbFailsOnceAndTouchesNothing) {
  auto plan = std::make_shared<FaultPlan>();
  plan->verb = "alloc";
  auto port = WithFault(LoadTestPort(), plan);
  hy_device* device = OpenDevice(**port);
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  plan->fail_nth = 2;
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  EXPECT_EQ(AllocOnce(**port, device), HY_RESOURCE_EXHAUSTED);
  EXPECT_THAT(TakeReport(), HasSubstr("call 3 of alloc was made to fail"));
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  EXPECT_EQ(plan->calls, 4u);
  EXPECT_EQ((*port)->api().release(HY_KIND_DEVICE, device), HY_OK);
  EXPECT_EQ(State().live, 0);
}

TEST(FaultTest, WithoutAVerbThoseThatMayFailSoAreCounted) {
  auto plan = std::make_shared<FaultPlan>();
  plan->status = HY_DATA_LOSS;
  auto port = WithFault(LoadTestPort(), plan);
  hy_device* device = OpenDevice(**port);
  hy_array devices{};
  (*port)->api().enumerate((*port)->self(), &devices);  // never loses data
  EXPECT_EQ(plan->calls, 1u);
  plan->fail_nth = 1;
  (*port)->api().enumerate((*port)->self(), &devices);
  hy_timestamp now{};
  now.struct_size = sizeof now;
  EXPECT_EQ((*port)->api().timestamp(device, &now), HY_DATA_LOSS);
  EXPECT_EQ((*port)->api().timestamp(device, &now), HY_OK);
  EXPECT_EQ((*port)->api().release(HY_KIND_DEVICE, device), HY_OK);
}

TEST(FaultTest, ALostDeviceStaysLostUntilItIsArmedAnew) {
  auto plan = std::make_shared<FaultPlan>();
  plan->status = HY_DATA_LOSS;
  plan->sticky = true;
  auto port = WithFault(LoadTestPort(), plan);
  hy_device* device = OpenDevice(**port);
  plan->fail_nth = 2;
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  EXPECT_EQ(AllocOnce(**port, device), HY_DATA_LOSS);
  EXPECT_EQ(AllocOnce(**port, device), HY_DATA_LOSS);
  plan->fail_nth = 2;
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  EXPECT_EQ(AllocOnce(**port, device), HY_DATA_LOSS);
  plan->sticky = false;
  EXPECT_EQ(AllocOnce(**port, device), HY_OK);
  (*port)->api().release(HY_KIND_DEVICE, device);
}

}  // namespace
}  // namespace halyard::hal
