// SPDX-License-Identifier: Apache-2.0
//
// HAL-ERR-02, 03, 07, 08: calls that are wrong, at the table itself.
#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/raw_objects.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

hy_device* const kPoison = reinterpret_cast<hy_device*>(uintptr_t{1});

using Codes = std::set<hy_status>;

// hal.h, "Errors" of each verb.
const Codes kAllocCodes = {HY_OK,
                           HY_INVALID_ARGUMENT,
                           HY_RESOURCE_EXHAUSTED,
                           HY_UNIMPLEMENTED,
                           HY_PERMISSION_DENIED,
                           HY_NOT_FOUND,
                           HY_DATA_LOSS};
const Codes kMapCodes = {HY_OK,
                         HY_OUT_OF_RANGE,
                         HY_INVALID_ARGUMENT,
                         HY_RESOURCE_EXHAUSTED,
                         HY_UNIMPLEMENTED,
                         HY_PERMISSION_DENIED,
                         HY_DATA_LOSS};
const Codes kSyncCodes = {HY_OK, HY_OUT_OF_RANGE, HY_INVALID_ARGUMENT, HY_DATA_LOSS,
                          HY_UNIMPLEMENTED};
const Codes kQueryCodes = {HY_OK, HY_UNIMPLEMENTED, HY_OUT_OF_RANGE, HY_INVALID_ARGUMENT};
const Codes kSubmitCodes = {
    HY_OK,       HY_INVALID_ARGUMENT, HY_OUT_OF_RANGE, HY_UNIMPLEMENTED, HY_RESOURCE_EXHAUSTED,
    HY_DATA_LOSS};
const Codes kImportCodes = {HY_OK, HY_UNIMPLEMENTED, HY_INVALID_ARGUMENT, HY_RESOURCE_EXHAUSTED,
                            HY_DATA_LOSS};
const Codes kTeamCodes = {
    HY_OK,           HY_OUT_OF_RANGE, HY_NOT_FOUND, HY_RESOURCE_EXHAUSTED, HY_INVALID_ARGUMENT,
    HY_UNIMPLEMENTED};

void ExpectAmong(const char* verb, hy_status status, const Codes& codes) {
  EXPECT_EQ(codes.count(status), 1u)
      << verb << " gives " << hy_status_name(status) << " (" << status << "), not documented";
}

// Numbers that hurt: small ones, powers of two and their neighbours, the largest.
uint64_t NastyNumber(Random& random) {
  switch (random.Below(5)) {
    case 0:
      return random.Below(5);
    case 1:
      return (UINT64_C(1) << random.Below(64)) - random.Below(2);
    case 2:
      return UINT64_MAX - random.Below(4096);
    case 3:
      return random.Below(8192);
    default:
      return random.Next();
  }
}

}  // namespace

HY_DUTY("HAL-ERR-02", OnlyDocumentedCodesComeBack, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  Random random(context.seed());
  for (int i = 0; i < 300; ++i) {
    hy_alloc_desc alloc = RawAlloc(random.Below(3) == 0 ? 4096 : NastyNumber(random));
    // Not so large that a port which takes the wish seriously fills the machine.
    if (alloc.bytes > (1u << 20) && alloc.bytes < (UINT64_C(1) << 47)) alloc.bytes = 1u << 20;
    alloc.alignment = random.Below(2) == 0 ? 0 : NastyNumber(random);
    alloc.memory_class = static_cast<uint32_t>(random.Below(4) == 0 ? random.Next() : HY_ID_NONE);
    alloc.node_policy = static_cast<uint32_t>(random.Below(6));
    alloc.node_strength = static_cast<uint32_t>(random.Below(3));
    alloc.page_strength = static_cast<uint32_t>(random.Below(3));
    hy_buffer* buffer = nullptr;
    ExpectAmong("alloc", api.alloc(device, &alloc, &buffer, nullptr), kAllocCodes);
    if (buffer != nullptr) HY_EXPECT_STATUS(api.release(HY_KIND_BUFFER, buffer), HY_OK);
    const hy_map_desc map = MapRange(NastyNumber(random), NastyNumber(random),
                                     random.Below(2) == 0 ? HY_MAP_READ : NastyNumber(random));
    void* ptr = nullptr;
    if (api.map != nullptr) {
      const hy_status status = api.map(objects.buffer(), &map, &ptr);
      ExpectAmong("map", status, kMapCodes);
      if (status == HY_OK && api.unmap != nullptr) {
        ExpectAmong("unmap", api.unmap(objects.buffer(), &map, ptr), kSyncCodes);
      }
    }
    if (api.sync_range != nullptr) {
      ExpectAmong("sync_range",
                  api.sync_range(objects.buffer(), NastyNumber(random), NastyNumber(random),
                                 static_cast<uint32_t>(random.Below(4))),
                  kSyncCodes);
    }
    hy_query_desc query = Sized<hy_query_desc>();
    query.kind = HY_KIND_DEVICE;
    query.handle = device;
    query.key = static_cast<uint32_t>(random.Below(20));
    query.stride =
        static_cast<uint32_t>(random.Below(2)) * static_cast<uint32_t>(sizeof(hy_memory_class));
    uint8_t answer[256];
    uint64_t bytes = random.Below(sizeof answer);
    ExpectAmong("query", api.query(&query, answer, &bytes), kQueryCodes);
  }
}

HY_DUTY("HAL-ERR-02", OnlyDocumentedCodesComeBackFromWork, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  Random random(context.seed());
  for (int i = 0; i < 200; ++i) {
    if (api.submit != nullptr) {
      hy_op op = Op(static_cast<uint32_t>(random.Below(7)), objects.buffer(), NastyNumber(random),
                    NastyNumber(random));
      op.pattern_bytes = static_cast<uint32_t>(random.Below(6));
      op.src_offset = NastyNumber(random);
      static uint8_t host[4096];
      if (op.kind == HY_OP_COPY && op.bytes <= sizeof host) {
        op.src_host = host;
        op.src_offset = 0;
      } else if (op.kind == HY_OP_COPY) {
        op.src = objects.buffer();
      }
      if (op.kind == HY_OP_HOST_CALL) op.call = [](void*) -> hy_status { return HY_OK; };
      ExpectAmong("submit", objects.Submit({op}), kSubmitCodes);
    }
    if (api.import_host != nullptr) {
      alignas(64) static uint8_t memory[8192];
      hy_import_desc desc = Sized<hy_import_desc>();
      desc.ptr = memory + random.Below(64);
      desc.bytes = random.Below(8000);
      desc.flags = random.Below(3);
      hy_buffer* buffer = nullptr;
      ExpectAmong("import_host", api.import_host(device, &desc, &buffer), kImportCodes);
      if (buffer != nullptr) HY_EXPECT_STATUS(api.release(HY_KIND_BUFFER, buffer), HY_OK);
    }
    if (api.team_create != nullptr && i < 20) {
      hy_team_desc desc = Sized<hy_team_desc>();
      desc.count = static_cast<uint32_t>(random.Below(4) == 0 ? 100'000 : random.Below(3));
      desc.perf_class = static_cast<uint32_t>(random.Below(2) == 0 ? HY_ID_NONE : random.Below(9));
      hy_team* team = nullptr;
      ExpectAmong("team_create", api.team_create(device, &desc, &team), kTeamCodes);
      api.release(HY_KIND_TEAM, team);
    }
  }
}

HY_DUTY("HAL-ERR-03", AnErrorLeavesNoHandleAndNothingElse, .in_validate = false, .alone = true) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  const auto fail_all = [&] {
    hy_open_desc open = context.open_desc();
    open.id = "no-such-device";
    hy_device* opened = kPoison;
    EXPECT_NE(api.open(context.port()->self(), &open, &opened), HY_OK);
    EXPECT_EQ(opened, nullptr) << "open";
    for (hy_alloc_desc desc : {RawAlloc(0), RawAlloc(UINT64_MAX), RawAlloc(100)}) {
      if (desc.bytes == 100) desc.alignment = 3;
      auto* buffer = reinterpret_cast<hy_buffer*>(kPoison);
      EXPECT_NE(api.alloc(device, &desc, &buffer, nullptr), HY_OK);
      EXPECT_EQ(buffer, nullptr) << "alloc of " << desc.bytes;
    }
    if (api.import_host != nullptr) {
      const hy_import_desc desc = Sized<hy_import_desc>();
      auto* buffer = reinterpret_cast<hy_buffer*>(kPoison);
      EXPECT_NE(api.import_host(device, &desc, &buffer), HY_OK);
      EXPECT_EQ(buffer, nullptr) << "import_host";
    }
    if (api.map != nullptr) {
      const hy_map_desc desc = MapRange(0, 5000, HY_MAP_READ);
      void* ptr = kPoison;
      EXPECT_NE(api.map(objects.buffer(), &desc, &ptr), HY_OK);
      EXPECT_EQ(ptr, nullptr) << "map";
    }
    if (api.team_create != nullptr) {
      hy_team_desc desc = Sized<hy_team_desc>();
      desc.count = 1'000'000;
      desc.perf_class = HY_ID_NONE;
      auto* team = reinterpret_cast<hy_team*>(kPoison);
      EXPECT_NE(api.team_create(device, &desc, &team), HY_OK);
      EXPECT_EQ(team, nullptr) << "team_create";
    }
    if (api.queue_create != nullptr) {
      hy_queue_desc desc = Sized<hy_queue_desc>();
      desc.flags = UINT64_C(1) << 50;
      auto* queue = reinterpret_cast<hy_queue*>(kPoison);
      EXPECT_NE(api.queue_create(device, &desc, &queue), HY_OK);
      EXPECT_EQ(queue, nullptr) << "queue_create";
    }
  };
  fail_all();
  const os::Holdings before = os::CurrentHoldings();
  constexpr uint64_t kRounds = 200;
  for (uint64_t round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) fail_all();
  const os::Holdings after = os::CurrentHoldings();
  EXPECT_LE(after.service_allocations, before.service_allocations);
  EXPECT_LE(after.descriptors, before.descriptors);
  EXPECT_LE(after.threads, before.threads);
  EXPECT_LT(after.mappings, before.mappings + kRounds / 2);
  EXPECT_LT(after.heap_bytes, before.heap_bytes + 8 * kRounds);
}

HY_DUTY("HAL-ERR-07", RangesAreCheckedWithoutOverflow, .in_validate = false) {
  const hy_hal_api& api = context.api();
  const Objects objects(context);
  const struct {
    uint64_t offset, bytes;
  } ranges[] = {{UINT64_MAX - 3, 8},   {8, UINT64_MAX - 3}, {UINT64_MAX, UINT64_MAX},
                {4096, UINT64_MAX},    {1, UINT64_MAX},     {UINT64_C(1) << 63, UINT64_C(1) << 63},
                {UINT64_MAX - 99, 100}};
  for (const auto& range : ranges) {
    SCOPED_TRACE(absl::StrCat(range.bytes, " bytes at ", range.offset));
    if (api.map != nullptr) {
      const hy_map_desc desc = MapRange(range.offset, range.bytes, HY_MAP_READ);
      void* ptr = nullptr;
      HY_EXPECT_REFUSED(api.map(objects.buffer(), &desc, &ptr), HY_OUT_OF_RANGE, HY_UNIMPLEMENTED);
    }
    if (api.sync_range != nullptr) {
      HY_EXPECT_STATUS(
          api.sync_range(objects.buffer(), range.offset, range.bytes, HY_SYNC_TO_DEVICE),
          HY_OUT_OF_RANGE);
    }
    if (api.submit != nullptr) {
      HY_EXPECT_REFUSED(
          objects.Submit({Op(HY_OP_FILL, objects.buffer(), range.offset, range.bytes)}),
          HY_OUT_OF_RANGE, HY_UNIMPLEMENTED);
      hy_op copy = Op(HY_OP_COPY, objects.buffer(), 0, range.bytes);
      copy.src = objects.buffer();
      copy.src_offset = range.offset;
      HY_EXPECT_STATUS(objects.Submit({copy}), HY_OUT_OF_RANGE);
      std::swap(copy.src_offset, copy.dst_offset);
      HY_EXPECT_STATUS(objects.Submit({copy}), HY_OUT_OF_RANGE);
    }
  }
}

HY_DUTY("HAL-ERR-08", UnknownValuesForMemoryAreNotIgnored, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  std::vector<hy_alloc_desc> descs(6, RawAlloc(4096));
  descs[0].node_policy = 99;
  descs[1].node_strength = 7;
  descs[2].page_strength = 7;
  descs[3].usage = 99;
  descs[4].flags = UINT64_C(1) << 40;
  descs[5].memory_class = 0x7ffffff0;
  for (size_t i = 0; i < descs.size(); ++i) {
    SCOPED_TRACE(absl::StrCat("alloc, wrong field ", i));
    hy_buffer* buffer = nullptr;
    HY_EXPECT_REFUSED(api.alloc(device, &descs[i], &buffer, nullptr), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
    api.release(HY_KIND_BUFFER, buffer);
  }
  if (api.map != nullptr) {
    for (const uint64_t access :
         {UINT64_C(0), UINT64_C(1) << 20, HY_MAP_READ | UINT64_C(1) << 63}) {
      const hy_map_desc desc = MapRange(0, 16, access);
      void* ptr = nullptr;
      HY_EXPECT_REFUSED(api.map(objects.buffer(), &desc, &ptr), HY_INVALID_ARGUMENT,
                        HY_UNIMPLEMENTED);
    }
  }
  if (api.sync_range != nullptr) {
    for (const uint32_t direction : {0u, 3u, 99u}) {
      HY_EXPECT_REFUSED(api.sync_range(objects.buffer(), 0, 16, direction), HY_INVALID_ARGUMENT,
                        HY_UNIMPLEMENTED);
    }
  }
  if (api.topology != nullptr) {
    hy_topology topology = Sized<hy_topology>();
    topology.flags = UINT64_C(1) << 30;
    HY_EXPECT_REFUSED(api.topology(device, &topology), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  }
}

HY_DUTY("HAL-ERR-08", UnknownValuesForWorkAreNotIgnored, .in_validate = false) {
  const hy_hal_api& api = context.api();
  hy_device* const device = context.raw_device();
  const Objects objects(context);
  if (api.submit != nullptr) {
    for (const uint32_t kind : {0u, 5u, 99u}) {
      HY_EXPECT_REFUSED(objects.Submit({Op(kind, objects.buffer(), 0, 16)}), HY_INVALID_ARGUMENT,
                        HY_UNIMPLEMENTED);
    }
    for (const uint32_t pattern_bytes : {0u, 3u, 8u}) {
      hy_op op = Op(HY_OP_FILL, objects.buffer(), 0, 24);
      op.pattern_bytes = pattern_bytes;
      HY_EXPECT_REFUSED(objects.Submit({op}), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
    }
  }
  if (api.team_create != nullptr) {
    hy_team_desc desc = Sized<hy_team_desc>();
    desc.count = 1;
    desc.perf_class = HY_ID_NONE;
    desc.flags = UINT64_C(1) << 33;
    hy_team* team = nullptr;
    HY_EXPECT_REFUSED(api.team_create(device, &desc, &team), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  }
  if (api.worker_bind != nullptr) {
    hy_worker_report report = Sized<hy_worker_report>();
    HY_EXPECT_REFUSED(api.worker_bind(device, 0, 99, &report), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
  }
  if (api.queue_create != nullptr) {
    hy_queue_desc desc = Sized<hy_queue_desc>();
    desc.flags = 1;
    hy_queue* queue = nullptr;
    HY_EXPECT_REFUSED(api.queue_create(device, &desc, &queue), HY_INVALID_ARGUMENT,
                      HY_UNIMPLEMENTED);
  }
  if (api.fence_wait != nullptr) {
    std::vector<hy_fence_point> points = {{objects.fence(), 0}};
    hy_wait_desc wait = Sized<hy_wait_desc>();
    wait.points = ArrayOf(points);
    wait.mode = 9;
    HY_EXPECT_REFUSED(api.fence_wait(device, &wait), HY_INVALID_ARGUMENT, HY_UNIMPLEMENTED);
  }
}

DutyTable ErrorDuties() {
  static constexpr DutyTest kTests[] = {
      OnlyDocumentedCodesComeBack,         OnlyDocumentedCodesComeBackFromWork,
      AnErrorLeavesNoHandleAndNothingElse, RangesAreCheckedWithoutOverflow,
      UnknownValuesForMemoryAreNotIgnored, UnknownValuesForWorkAreNotIgnored};
  return kTests;
}

}  // namespace halyard::conformance
