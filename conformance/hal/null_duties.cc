// SPDX-License-Identifier: Apache-2.0
//
// HAL-ERR-01: NULL where a pointer is needed, at the table itself.
#include "conformance/hal/areas.h"
#include "conformance/hal/raw_objects.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

// A persistent worker function for raw teams.
void DoNothing(void*, uint32_t, uint32_t) {}

}  // namespace

HY_DUTY("HAL-ERR-01", NullForDeviceAndMemoryVerbs, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  const hy_open_desc open = context.open_desc();
  HY_EXPECT_STATUS(api.enumerate(context.port()->self(), nullptr), HY_INVALID_ARGUMENT);
  HY_EXPECT_STATUS(api.open(context.port()->self(), &open, nullptr), HY_INVALID_ARGUMENT);
  hy_device* opened = nullptr;
  HY_EXPECT_STATUS(api.open(context.port()->self(), nullptr, &opened), HY_INVALID_ARGUMENT);
  uint64_t answer = 0, bytes = sizeof answer;
  hy_query_desc query = Sized<hy_query_desc>();
  query.kind = HY_KIND_DEVICE;
  query.key = HY_QUERY_CAPS;
  HY_EXPECT_STATUS(api.query(nullptr, &answer, &bytes), HY_INVALID_ARGUMENT);
  HY_EXPECT_STATUS(api.query(&query, &answer, &bytes), HY_INVALID_ARGUMENT);
  query.handle = device;
  HY_EXPECT_STATUS(api.query(&query, &answer, nullptr), HY_INVALID_ARGUMENT);
  hy_buffer* buffer = nullptr;
  const hy_alloc_desc alloc = RawAlloc(100);
  HY_EXPECT_STATUS(api.alloc(nullptr, &alloc, &buffer, nullptr), HY_INVALID_ARGUMENT);
  HY_EXPECT_STATUS(api.alloc(device, nullptr, &buffer, nullptr), HY_INVALID_ARGUMENT);
  HY_EXPECT_STATUS(api.alloc(device, &alloc, nullptr, nullptr), HY_INVALID_ARGUMENT);
  hy_timestamp stamp = Sized<hy_timestamp>();
  HY_EXPECT_STATUS(api.timestamp(nullptr, &stamp), HY_INVALID_ARGUMENT);
  HY_EXPECT_STATUS(api.timestamp(device, nullptr), HY_INVALID_ARGUMENT);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(opened, nullptr);
}

HY_DUTY("HAL-ERR-01", NullForMapsAndImports, .in_validate = false) {
  const hy_hal_api& api = context.api();
  const Objects objects(context);
  const hy_map_desc map = MapRange(0, 16, HY_MAP_READ);
  void* ptr = nullptr;
  if (api.map != nullptr) {
    HY_EXPECT_STATUS(api.map(nullptr, &map, &ptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.map(objects.buffer(), nullptr, &ptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.map(objects.buffer(), &map, nullptr), HY_INVALID_ARGUMENT);
  }
  if (api.unmap != nullptr) {
    HY_EXPECT_STATUS(api.unmap(nullptr, &map, &ptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.unmap(objects.buffer(), nullptr, &ptr), HY_INVALID_ARGUMENT);
  }
  if (api.sync_range != nullptr) {
    HY_EXPECT_STATUS(api.sync_range(nullptr, 0, 1, HY_SYNC_TO_DEVICE), HY_INVALID_ARGUMENT);
  }
  if (api.import_host != nullptr) {
    hy_buffer* buffer = nullptr;
    hy_import_desc desc = Sized<hy_import_desc>();
    HY_EXPECT_STATUS(api.import_host(context.raw_device(), nullptr, &buffer), HY_INVALID_ARGUMENT);
    HY_EXPECT_REFUSED(api.import_host(nullptr, &desc, &buffer), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
    desc.bytes = 100;
    HY_EXPECT_REFUSED(api.import_host(context.raw_device(), &desc, &buffer), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
    EXPECT_EQ(buffer, nullptr);
  }
  EXPECT_EQ(ptr, nullptr);
}

HY_DUTY("HAL-ERR-01", NullForThreadsQueuesAndFences, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  if (api.topology != nullptr) {
    hy_topology topology = Sized<hy_topology>();
    HY_EXPECT_STATUS(api.topology(device, nullptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_REFUSED(api.topology(nullptr, &topology), HY_INVALID_ARGUMENT, HY_OK);
  }
  if (api.team_create != nullptr) {
    hy_team* team = nullptr;
    HY_EXPECT_STATUS(api.team_create(device, nullptr, &team), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.team_run(nullptr, &DoNothing, nullptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.team_run(objects.team(), nullptr, nullptr), HY_INVALID_ARGUMENT);
  }
  if (api.worker_bind != nullptr) {
    HY_EXPECT_STATUS(api.worker_bind(device, 0, HY_BIND_ENTER, nullptr), HY_INVALID_ARGUMENT);
  }
  if (api.queue_create != nullptr) {
    hy_queue* queue = nullptr;
    const hy_queue_desc desc = Sized<hy_queue_desc>();
    HY_EXPECT_STATUS(api.queue_create(nullptr, &desc, &queue), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.queue_create(device, nullptr, &queue), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.queue_create(device, &desc, nullptr), HY_INVALID_ARGUMENT);
  }
  if (api.submit != nullptr) {
    HY_EXPECT_STATUS(api.submit(device, objects.queue(), nullptr), HY_INVALID_ARGUMENT);
    hy_op nowhere = Op(HY_OP_FILL, nullptr, 0, 10);
    HY_EXPECT_REFUSED(objects.Submit({nowhere}), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
    nowhere.kind = HY_OP_COPY;
    HY_EXPECT_STATUS(objects.Submit({nowhere}), HY_INVALID_ARGUMENT);
    nowhere.kind = HY_OP_HOST_CALL;
    HY_EXPECT_REFUSED(objects.Submit({nowhere}), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
    hy_submission work = Sized<hy_submission>();
    work.ops = {nullptr, 3, 3, sizeof(hy_op), 0};
    HY_EXPECT_STATUS(api.submit(device, objects.queue(), &work), HY_INVALID_ARGUMENT);
  }
  if (api.fence_create != nullptr) {
    hy_fence* fence = nullptr;
    HY_EXPECT_STATUS(api.fence_create(nullptr, 0, &fence), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.fence_create(device, 0, nullptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.fence_wait(device, nullptr), HY_INVALID_ARGUMENT);
    HY_EXPECT_STATUS(api.fence_signal(nullptr, 1, HY_OK), HY_INVALID_ARGUMENT);
    std::vector<hy_fence_point> points = {{nullptr, 1}};
    hy_wait_desc wait = Sized<hy_wait_desc>();
    wait.points = ArrayOf(points);
    HY_EXPECT_STATUS(api.fence_wait(device, &wait), HY_INVALID_ARGUMENT);
  }
}

DutyTable NullDuties() {
  static constexpr DutyTest kTests[] = {NullForDeviceAndMemoryVerbs, NullForMapsAndImports,
                                        NullForThreadsQueuesAndFences};
  return kTests;
}

}  // namespace halyard::conformance
