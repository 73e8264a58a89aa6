// SPDX-License-Identifier: Apache-2.0
//
// The core's thread team: the default of the team verbs.
#ifndef HALYARD_HAL_WORKER_TEAM_H_
#define HALYARD_HAL_WORKER_TEAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hal/bind.h"
#include "hal/topology.h"
#include "halyard/hal.h"

namespace halyard::hal {

/// What a team needs from its device.
struct TeamHost {
  /// `worker_bind` of the port, or the core's default. Called on the worker.
  std::function<hy_status(uint32_t pu, uint32_t mode, hy_worker_report*)> bind;
  Topology topology;  ///< allowed units and the budget
};

/// What is wanted; hy_team_desc with its list owned.
struct TeamRequest {
  uint32_t count = 0;  ///< 0: see hy_team_desc
  std::vector<uint32_t> pus;
  uint32_t perf_class = HY_ID_NONE;
  uint64_t spin_ns = 0;
  bool allow_oversubscription = false;
  std::string name;
};

/// Persistent pinned threads, all live before Create returns. Move nothing, copy nothing: held by
/// pointer. The destructor joins the workers.
class WorkerTeam {
 public:
  /// Errors as `team_create`.
  static absl::StatusOr<std::unique_ptr<WorkerTeam>> Create(TeamHost host,
                                                            const TeamRequest& request);
  ~WorkerTeam();

  /// As `team_run`: one caller at a time; a nested call on this team is FAILED_PRECONDITION.
  absl::Status Run(absl::FunctionRef<void(uint32_t index, uint32_t count)> fn);

  /// One report a worker, read on the worker when it was bound.
  const std::vector<WorkerReport>& reports() const;

  uint32_t size() const;

 private:
  struct Impl;
  explicit WorkerTeam(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Which units the workers go to, by the rules of hy_team_desc: given list, else one a core over
/// the allowed units, fastest class first, within the budget. Pure; for tests and `halyard
/// explain`.
absl::StatusOr<std::vector<uint32_t>> PlanTeam(const Topology& topology,
                                               const TeamRequest& request);

}  // namespace halyard::hal

#endif  // HALYARD_HAL_WORKER_TEAM_H_
