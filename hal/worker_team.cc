// SPDX-License-Identifier: Apache-2.0
#include "hal/worker_team.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hal/barrier.h"
#include "hal/team_plan.h"

namespace halyard::hal {
namespace {

using WorkerFn = absl::FunctionRef<void(uint32_t, uint32_t)>;

// The team whose fn this thread is inside of; for a message that names the mistake.
thread_local const void* t_running_team = nullptr;

// Signals of the process are for the threads that know about them. What a thread raises itself
// (faults, a profiler's timer) stays open.
void BlockProcessSignals() {
  sigset_t set;
  sigfillset(&set);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
    sigdelset(&set, own);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void NameThisThread(const std::string& team, uint32_t index) {
  char name[16];  // the system's limit, NUL included
  std::snprintf(name, sizeof name, "%.9s/%u", team.empty() ? "hy" : team.c_str(), index);
  pthread_setname_np(pthread_self(), name);
}

}  // namespace

struct WorkerTeam::Impl {
  struct Worker {
    Impl* team = nullptr;
    uint32_t index = 0;
    uint32_t pu = HY_ID_NONE;
    bool entered = false;  // bind said OK, so LEAVE is owed
    pthread_t thread{};
  };

  TeamHost host;
  std::string name;
  WaitPolicy policy;
  WaitPolicy caller_policy;
  std::vector<Worker> workers;  // never grows once threads run
  std::vector<WorkerReport> reports;
  uint32_t started = 0;

  // Written by the caller before generation changes, read by the workers after.
  const WorkerFn* fn = nullptr;
  bool stop = false;
  std::atomic<bool> busy{false};

  // A line each: the workers watch generation while the last ones still count remaining down.
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<uint32_t> remaining{0};
  alignas(64) std::atomic<uint32_t> finished{0};

  absl::Status Start();
  void Dispatch(const WorkerFn* run, bool end);
  void StopAndJoin();
  void Work(Worker& worker);
  void EnterWorker(Worker& worker);
  void FinishPhase();
};

void WorkerTeam::Impl::EnterWorker(Worker& worker) {
  // A thread begins with its creator's rounding and flush modes; results must not depend on them.
  std::fesetenv(FE_DFL_ENV);
  BlockProcessSignals();
  NameThisThread(name, worker.index);

  WorkerReport& report = reports[worker.index];
  report.index = worker.index;
  report.requested_pu = worker.pu;
  const absl::Status bound = CallWithReport(
      [&](hy_worker_report* raw) { return host.bind(worker.pu, HY_BIND_ENTER, raw); }, &report);
  worker.entered = bound.ok();
  // A port's bind that failed may have told nothing; the thread runs unbound, wherever that is.
  if (!bound.ok()) ReadBackThisThread(&report);
  report.isa = WorkerIsa(host.topology, report);
}

// The last worker of a phase tells the caller.
void WorkerTeam::Impl::FinishPhase() {
  if (remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  finished.fetch_add(1, std::memory_order_seq_cst);
  WakeAll(finished);
}

void WorkerTeam::Impl::Work(Worker& worker) {
  EnterWorker(worker);
  uint32_t seen = 0;
  FinishPhase();
  for (;;) {
    WaitWhileEqual(generation, seen, policy);
    seen = generation.load(std::memory_order_acquire);
    if (stop) break;
    t_running_team = this;
    (*fn)(worker.index, static_cast<uint32_t>(workers.size()));
    t_running_team = nullptr;
    FinishPhase();
  }
  if (!worker.entered) return;
  WorkerReport ignored;
  const absl::Status left = CallWithReport(
      [&](hy_worker_report* raw) { return host.bind(worker.pu, HY_BIND_LEAVE, raw); }, &ignored);
  left.IgnoreError();  // the thread ends, and what it was bound to with it
}

absl::Status WorkerTeam::Impl::Start() {
  remaining.store(static_cast<uint32_t>(workers.size()), std::memory_order_relaxed);
  for (Worker& worker : workers) {
    const int error = pthread_create(
        &worker.thread, nullptr,
        [](void* argument) -> void* {
          Worker* self = static_cast<Worker*>(argument);
          self->team->Work(*self);
          return nullptr;
        },
        &worker);
    if (error != 0) {
      StopAndJoin();
      return absl::ResourceExhaustedError(
          absl::StrCat("only ", started, " of ", workers.size(),
                       " threads could be started; look at ulimit -u and the cgroup's pids.max"));
    }
    ++started;
  }
  WaitWhileEqual(finished, 0, caller_policy);
  return absl::OkStatus();
}

void WorkerTeam::Impl::Dispatch(const WorkerFn* run, bool end) {
  fn = run;
  stop = end;
  remaining.store(started, std::memory_order_relaxed);
  generation.fetch_add(1, std::memory_order_seq_cst);
  WakeAll(generation);
}

void WorkerTeam::Impl::StopAndJoin() {
  Dispatch(nullptr, true);
  for (uint32_t i = 0; i < started; ++i) pthread_join(workers[i].thread, nullptr);
  started = 0;
}

absl::StatusOr<std::unique_ptr<WorkerTeam>> WorkerTeam::Create(TeamHost host,
                                                               const TeamRequest& request) {
  absl::StatusOr<std::vector<uint32_t>> plan = PlanTeam(host.topology, request);
  if (!plan.ok()) return plan.status();
  auto impl = std::make_unique<Impl>();
  const uint32_t count = static_cast<uint32_t>(plan->size());
  const uint64_t millicpus = UsableMillicpus(host.topology, *plan);
  impl->policy = ChooseWaitPolicy(count, millicpus, request.spin_ns);
  // The caller waits beside the workers: where they take all units it must not spin against them.
  impl->caller_policy = ChooseWaitPolicy(count + 1, host.topology.budget_millicpus, 0);
  impl->host = std::move(host);
  impl->name = request.name;
  impl->reports.resize(count);
  impl->workers.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    impl->workers[i].team = impl.get();
    impl->workers[i].index = i;
    impl->workers[i].pu = (*plan)[i];
  }
  absl::Status status = impl->Start();
  if (!status.ok()) return status;
  return std::unique_ptr<WorkerTeam>(new WorkerTeam(std::move(impl)));
}

WorkerTeam::WorkerTeam(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

WorkerTeam::~WorkerTeam() { impl_->StopAndJoin(); }

absl::Status WorkerTeam::Run(WorkerFn fn) {
  if (impl_->busy.exchange(true, std::memory_order_acquire)) {
    return absl::FailedPreconditionError(
        t_running_team == impl_.get()
            ? "a worker may not run its own team: the workers are all inside the outer run"
            : "the team is running already; one caller at a time");
  }
  const uint32_t before = impl_->finished.load(std::memory_order_relaxed);
  impl_->Dispatch(&fn, false);
  WaitWhileEqual(impl_->finished, before, impl_->caller_policy);
  impl_->busy.store(false, std::memory_order_release);
  return absl::OkStatus();
}

const std::vector<WorkerReport>& WorkerTeam::reports() const { return impl_->reports; }

uint32_t WorkerTeam::size() const { return static_cast<uint32_t>(impl_->workers.size()); }

}  // namespace halyard::hal
