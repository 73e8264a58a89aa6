// SPDX-License-Identifier: Apache-2.0
//
// HAL-BND: worker_bind, on a thread of the test's own. Where the port leaves it to the core, the
// core's default is held to the same contract.
#include <set>

#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"
#include "hal/host_services.h"

namespace halyard::conformance {
namespace {

hy_status Bind(HalContext& context, uint32_t unit, uint32_t mode, hal::WorkerReport* out_report) {
  hy_status result = HY_OK;
  hal::CallWithReport(
      [&](hy_worker_report* report) {
        const hy_hal_api& api = context.api();
        result = api.worker_bind != nullptr
                     ? api.worker_bind(context.raw_device(), unit, mode, report)
                     : hal::HostServices()->worker_bind(unit, mode, report);
        return result;
      },
      out_report)
      .IgnoreError();
  return result;
}

bool IsOtherMachine(HalContext& context) {
  const absl::StatusOr<hal::Topology> topology = context.device().ReadTopology();
  return topology.ok() && topology->source == HY_SOURCE_FIXTURE;
}

std::set<uint32_t> Mask() { return os::ThreadMask().value_or(std::set<uint32_t>{}); }

}  // namespace

HY_DUTY("HAL-BND-01", TheReportIsTheSystemsMask) {
  if (IsOtherMachine(context)) GTEST_SKIP() << "the units of the topology are not here";
  OnNewThread([&] {
    const std::set<uint32_t> allowed = Mask();
    if (allowed.empty()) GTEST_SKIP() << "the system does not tell the affinity mask";
    for (const uint32_t unit : {*allowed.rbegin(), *allowed.begin()}) {
      hal::WorkerReport report;
      const hy_status status = Bind(context, unit, HY_BIND_ENTER, &report);
      if (status == HY_PERMISSION_DENIED || status == HY_UNIMPLEMENTED) {
        EXPECT_EQ(Mask(), allowed);
        GTEST_SKIP() << "the system lets no thread be bound";
      }
      ASSERT_EQ(status, HY_OK) << hy_status_name(status);
      if ((report.flags & HY_WORKER_MASK_KNOWN) != 0) {
        EXPECT_EQ(std::set<uint32_t>(report.mask.begin(), report.mask.end()), Mask());
      }
      if ((report.flags & HY_WORKER_BOUND) != 0) {
        EXPECT_EQ(Mask(), std::set<uint32_t>{unit});
        EXPECT_EQ(os::CurrentUnit().value_or(unit), unit);
      }
      if ((report.flags & HY_WORKER_PU_KNOWN) != 0) {
        EXPECT_EQ(Mask().count(report.last_pu), 1u);
      }
      HY_EXPECT_STATUS(Bind(context, unit, HY_BIND_LEAVE, &report), HY_OK);
    }
  });
}

HY_DUTY("HAL-BND-02", LeavingUndoesEntering) {
  if (IsOtherMachine(context)) GTEST_SKIP() << "the units of the topology are not here";
  OnNewThread([&] {
    const std::set<uint32_t> allowed = Mask();
    if (allowed.empty()) GTEST_SKIP() << "the system does not tell the affinity mask";
    const std::string before = os::ThreadEnvironment();
    for (int round = 0; round < 3; ++round) {
      hal::WorkerReport report;
      const hy_status entered = Bind(context, *allowed.rbegin(), HY_BIND_ENTER, &report);
      if (entered != HY_OK) GTEST_SKIP() << "no binding here: " << hy_status_name(entered);
      HY_EXPECT_STATUS(Bind(context, *allowed.rbegin(), HY_BIND_LEAVE, &report), HY_OK);
      EXPECT_EQ(Mask(), allowed) << "after LEAVE";
      EXPECT_EQ(os::ThreadEnvironment(), before);
    }
  });
}

HY_DUTY("HAL-BND-03", AUnitThatIsNotThereIsNotFound) {
  OnNewThread([&] {
    const std::set<uint32_t> allowed = Mask();
    for (const uint32_t unit : {4095u, 1'000'000u, HY_ID_NONE - 1}) {
      hal::WorkerReport report;
      HY_EXPECT_STATUS(Bind(context, unit, HY_BIND_ENTER, &report), HY_NOT_FOUND);
      EXPECT_EQ(Mask(), allowed) << "the refused call changed the thread";
    }
  });
}

DutyTable BindDuties() {
  static constexpr DutyTest kTests[] = {TheReportIsTheSystemsMask, LeavingUndoesEntering,
                                        AUnitThatIsNotThereIsNotFound};
  return kTests;
}

}  // namespace halyard::conformance
