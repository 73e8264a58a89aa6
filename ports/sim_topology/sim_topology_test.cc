// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "hal/bind.h"
#include "hal/system_view.h"
#include "hal/topology.h"
#include "ports/kit/test_host.h"
#include "ports/sim_topology/fixtures.h"

extern "C" const hy_hal_api* halyard_hal_get_sim_topology(uint32_t, uint32_t,
                                                          const hy_host_services*, uint32_t*);

namespace halyard::sim_topology {
namespace {

using port_kit::LastReport;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const hy_hal_api& Api() {
  return *halyard_hal_get_sim_topology(HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, port_kit::TestHost(),
                                       nullptr);
}

std::vector<hy_device_info> Enumerated() {
  std::vector<hy_device_info> infos(100);
  hy_array array = {infos.data(), 0, 100, sizeof(hy_device_info), 0};
  EXPECT_EQ(Api().enumerate(&Api(), &array), HY_OK);
  infos.resize(array.count);
  return infos;
}

// A device by its id; released at the end.
class Opened {
 public:
  explicit Opened(const char* id) {
    hy_open_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.id = id;
    status = Api().open(&Api(), &desc, &handle);
  }
  ~Opened() { EXPECT_EQ(Api().release(HY_KIND_DEVICE, handle), HY_OK); }

  hal::Topology Topology(bool all) const {
    auto topology =
        hal::ImportTopology(all, [this](hy_topology* out) { return Api().topology(handle, out); });
    EXPECT_TRUE(topology.ok()) << topology.status();
    return topology.ok() ? *std::move(topology) : hal::Topology();
  }

  hy_device* handle = nullptr;
  hy_status status = HY_OK;
};

TEST(SimTopologyTest, ListsADeviceForEachFixture) {
  const std::vector<hy_device_info> infos = Enumerated();
  EXPECT_EQ(infos.size(), Fixtures().size());
  EXPECT_GE(infos.size(), 14u);
  std::set<std::string> ids;
  for (const hy_device_info& info : infos) {
    ids.insert(info.id);
    EXPECT_NE(info.name[0], '\0') << info.id;
    EXPECT_EQ(info.kind, uint32_t{HY_DEVICE_CPU_CLASS});
  }
  EXPECT_EQ(ids.size(), infos.size());
  EXPECT_EQ(ids.count("power9_sparse"), 1u);
}

TEST(SimTopologyTest, EachDeviceHasTheTopologyOfItsFixture) {
  for (const Fixture& fixture : Fixtures()) {
    const Opened device(fixture.name);
    ASSERT_EQ(device.status, HY_OK) << fixture.name;
    const auto view = hal::ParseSystemImage(fixture.image);
    ASSERT_TRUE(view.ok()) << fixture.name;
    for (bool all : {false, true}) {
      hal::Topology expected = hal::ReadTopology(**view, all);
      expected.source = HY_SOURCE_FIXTURE;
      EXPECT_EQ(hal::DrawTopology(device.Topology(all)), hal::DrawTopology(expected));
    }
  }
}

TEST(SimTopologyTest, AnUnknownDeviceIsNotFound) {
  const Opened device("pdp11");
  EXPECT_EQ(device.status, HY_NOT_FOUND);
  EXPECT_EQ(device.handle, nullptr);
  EXPECT_THAT(LastReport(), HasSubstr("pdp11"));
}

TEST(SimTopologyTest, TakesACapturedImage) {
  const std::string path =
      testing::TempDir() + "/halyard_sim_topology_" + std::to_string(getpid()) + ".topo";
  std::ofstream(path) << hal::CaptureSystemImage(*hal::RealSystem(), "this machine");
  {
    port_kit::TestDevice device(halyard_hal_get_sim_topology, {{"system", path}});
    ASSERT_EQ(device.open_status(), HY_OK) << LastReport();
    const auto topology = hal::ImportTopology(
        true, [&](hy_topology* out) { return device.api().topology(device.handle(), out); });
    ASSERT_TRUE(topology.ok()) << topology.status();
    EXPECT_EQ(topology->pus.size(), hal::ReadTopology(*hal::RealSystem(), true).pus.size());
    EXPECT_EQ(topology->source, uint32_t{HY_SOURCE_FIXTURE});
  }
  std::ofstream(path) << "no image\n";
  EXPECT_EQ(port_kit::TestDevice(halyard_hal_get_sim_topology, {{"system", path}}).open_status(),
            HY_INVALID_ARGUMENT);
  EXPECT_THAT(LastReport(), HasSubstr("line 1"));
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(port_kit::TestDevice(halyard_hal_get_sim_topology, {{"system", path}}).open_status(),
            HY_NOT_FOUND);
  EXPECT_EQ(port_kit::TestDevice(halyard_hal_get_sim_topology, {{"colour", "red"}}).open_status(),
            HY_INVALID_ARGUMENT);
  EXPECT_THAT(LastReport(), HasSubstr("system=PATH"));
}

TEST(SimTopologyTest, AnswersThePageSizesOfTheMachine) {
  const Opened device("altra_2s");
  hy_query_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.kind = HY_KIND_DEVICE;
  desc.handle = device.handle;
  desc.key = HY_QUERY_PAGE_SIZES;
  std::vector<uint64_t> sizes(4);
  uint64_t bytes = sizes.size() * sizeof(uint64_t);
  ASSERT_EQ(Api().query(&desc, sizes.data(), &bytes), HY_OK);
  EXPECT_EQ(bytes, sizes.size() * sizeof(uint64_t));
  EXPECT_THAT(sizes,
              ElementsAre(65536, uint64_t{2} << 20, uint64_t{512} << 20, uint64_t{16} << 30));
  bytes = 8;
  EXPECT_EQ(Api().query(&desc, sizes.data(), &bytes), HY_OUT_OF_RANGE);
  EXPECT_EQ(bytes, sizes.size() * sizeof(uint64_t));
}

TEST(SimTopologyTest, WorkersRunUnboundAndSaySo) {
  const Opened device("cpuset_2_4");
  const auto before = hal::ThisThreadMask();
  ASSERT_TRUE(before.ok());
  auto bind = [&](uint32_t pu, uint32_t mode, hal::WorkerReport* report) {
    return hal::CallWithReport(
        [&](hy_worker_report* raw) { return Api().worker_bind(device.handle, pu, mode, raw); },
        report);
  };
  hal::WorkerReport report;
  EXPECT_TRUE(bind(2, HY_BIND_ENTER, &report).ok());
  EXPECT_EQ(report.mask, *before);
  EXPECT_EQ(report.flags & HY_WORKER_BOUND, 0u);
  EXPECT_EQ(report.node_id, HY_ID_NONE);
  EXPECT_TRUE(bind(2, HY_BIND_LEAVE, &report).ok());
  for (uint32_t unit : {0u, 3u, 77u}) {
    EXPECT_EQ(bind(unit, HY_BIND_ENTER, &report).code(), absl::StatusCode::kNotFound) << unit;
  }
  EXPECT_EQ(bind(2, 3, &report).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*hal::ThisThreadMask(), *before);
}

TEST(SimTopologyTest, MemoryIsTheHostsAndOfUnknownPlace) {
  port_kit::TestDevice device(halyard_hal_get_sim_topology);
  hy_buffer* buffer = device.NewBuffer(100);
  ASSERT_NE(buffer, nullptr);
  uint8_t* whole = device.Map(buffer, 0, 100, HY_MAP_READ | HY_MAP_WRITE);
  ASSERT_NE(whole, nullptr);
  whole[99] = 7;
  uint8_t* tail = device.Map(buffer, 99, 1, HY_MAP_READ);
  ASSERT_NE(tail, nullptr);
  EXPECT_EQ(*tail, 7);
  EXPECT_EQ(device.Unmap(buffer, 99, 1, HY_MAP_READ, tail), HY_OK);
  EXPECT_EQ(device.Unmap(buffer, 99, 1, HY_MAP_READ, whole), HY_INVALID_ARGUMENT);
  EXPECT_EQ(device.Map(buffer, 100, 1, HY_MAP_READ), nullptr);
  EXPECT_EQ(device.Map(buffer, 1, UINT64_MAX, HY_MAP_READ), nullptr);
  EXPECT_EQ(device.Map(buffer, 0, 1, HY_MAP_DISCARD | HY_MAP_READ), nullptr);

  hy_query_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.kind = HY_KIND_BUFFER;
  desc.handle = buffer;
  desc.key = HY_QUERY_PLACEMENT;
  hy_placement placement = {};
  placement.struct_size = sizeof placement;
  placement.known = HY_KNOWN_NODES;
  uint64_t bytes = sizeof placement;
  ASSERT_EQ(device.api().query(&desc, &placement, &bytes), HY_OK);
  EXPECT_EQ(placement.known, 0u);
}

TEST(SimTopologyTest, LeavesNothingBehindWhateverFails) {
  const uint64_t held = port_kit::HeldAllocations();
  for (uint64_t nth = 1; nth <= 4; ++nth) {
    port_kit::FailAllocation(nth);
    port_kit::TestDevice device(halyard_hal_get_sim_topology);
    EXPECT_EQ(device.open_status(), nth == 1 ? HY_RESOURCE_EXHAUSTED : HY_OK);
    if (device.handle() != nullptr) device.NewBuffer(100);
    port_kit::FailAllocation(0);
  }
  EXPECT_EQ(port_kit::HeldAllocations(), held);
}

}  // namespace
}  // namespace halyard::sim_topology
