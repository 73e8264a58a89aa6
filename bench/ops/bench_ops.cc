// SPDX-License-Identifier: Apache-2.0
#include "bench/ops/bench_ops.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "bench/ops/shapes.h"
#include "bench/ops/timing.h"
#include "bench/ops/workload.h"
#include "conformance/ops/shape_builder.h"
#include "ops/case_sizes.h"
#include "registry/run.h"
#include "registry/select.h"

namespace halyard::bench {
namespace {

using conformance::TestedOp;
using registry::Kernel;
using registry::Runner;
using registry::Selection;

struct Session {
  const conformance::UnderTest& tested;
  const BenchRequest& request;
  const hal::Team& team;
  Runner runner;
  Roofs roofs;
};

absl::StatusOr<Roofs> MeasureRoofs(const hal::Device& device, const hal::Team& team) {
  facts::BandwidthRequest bandwidth;
  bandwidth.max_threads = team.size();
  bandwidth.per_node = false;
  bandwidth.runs = 5;
  HY_ASSIGN_OR_RETURN(const auto rows, facts::MeasureBandwidth(device, bandwidth));
  HY_ASSIGN_OR_RETURN(const facts::ComputeRow compute, facts::MeasureCompute(team));
  Roofs roofs;
  roofs.int8_gop_per_s = compute.int8.median_gop_per_s;
  roofs.f32_gop_per_s = compute.f32.median_gop_per_s;
  roofs.compute_kernel = compute.kernel;
  for (const facts::BandwidthRow& row : rows) {
    if (row.work != "read" || row.threads != team.size()) continue;
    roofs.read_gb_per_s = row.median_gb_per_s;
    roofs.read_kernel = row.kernel;
  }
  return roofs;
}

double Change(double before, double after) {
  return before > 0 ? std::abs(after - before) / before : 0;
}

void SetRates(const Roofs& roofs, bool integers, const std::vector<double>& means, BenchRow* row) {
  std::vector<double> sorted = means;
  std::sort(sorted.begin(), sorted.end());
  row->median_ns = sorted[sorted.size() / 2];
  row->min_ns = sorted.front();
  row->max_ns = sorted.back();
  const double compute = integers ? roofs.int8_gop_per_s : roofs.f32_gop_per_s;
  const double ns = std::max(row->median_ns, 1.0);
  row->gb_per_s = static_cast<double>(row->bytes) / ns;
  row->gop_per_s = static_cast<double>(row->flops) / ns;
  row->share_of_read = roofs.read_gb_per_s > 0 ? row->gb_per_s / roofs.read_gb_per_s : 0;
  row->share_of_compute = compute > 0 ? row->gop_per_s / compute : 0;
  row->share_of_roof = std::max(row->share_of_read, row->share_of_compute);
  row->roof = row->share_of_read >= row->share_of_compute ? "read" : integers ? "int8" : "f32";
}

// What selection would take for the case, weights packed or not.
absl::StatusOr<Selection> Selected(Session& session, const TestedOp& op, const ops::Case& c,
                                   const Kernel* only) {
  conformance::ShapeBuilder builder(&c, nullptr);
  std::vector<uint64_t> args(op.op->desc().args_bytes / sizeof(uint64_t) + 1);
  HY_RETURN_IF_ERROR(op.cases->build(c, builder, args.data()));
  HY_RETURN_IF_ERROR(builder.status());
  registry::Request request;
  request.op = op.op;
  request.args = args.data();
  request.target = session.runner.target();
  request.may_pack = true;
  request.only = only;
  return registry::Select(session.tested.registry(), request);
}

const hy_layout_desc* LayoutOf(const Session& session, uint32_t id) {
  const registry::Layout* layout = session.tested.registry().FindLayout(id);
  return id == HY_LAYOUT_CANONICAL || layout == nullptr ? nullptr : &layout->desc;
}

/// A row with what it needs to be timed.
struct Prepared {
  BenchRow row;
  Selection selection;
  std::unique_ptr<Workload> workload;
};

// Memory, and one run that must be right.
absl::Status Prepare(Session& session, const TestedOp& op, const ops::Case& c, Prepared* made) {
  const hy_kernel_desc& desc = made->selection.kernel->desc();
  HY_ASSIGN_OR_RETURN(
      made->workload,
      Workload::Make(op, c, LayoutOf(session, made->selection.layout), session.request.cold_bytes));
  made->row.copies = made->workload->copies();
  made->row.bytes = made->workload->bytes();
  made->row.flops = made->workload->flops();
  HY_ASSIGN_OR_RETURN(const registry::StepResult result,
                      session.runner.RunBare(made->selection, made->workload->args(0)));
  if (result.outcome != registry::Outcome::kOk) return absl::InternalError(result.reason);
  return made->workload->Check({desc.activation, desc.accumulator, desc.flags});
}

bool Wanted(const BenchRequest& request, const Kernel& kernel, bool selected) {
  if (kernel.is_reference() && !request.reference && !selected) return false;
  if (request.only_selected && !selected) return false;
  return request.kernel_glob.empty() ||
         fnmatch(request.kernel_glob.c_str(), kernel.desc().id, 0) == 0;
}

// A glob that no kernel has would be found out after the machine was measured.
absl::Status CheckGlob(const conformance::UnderTest& tested, const BenchRequest& request) {
  if (request.kernel_glob.empty()) return absl::OkStatus();
  for (const TestedOp& op : tested.ops()) {
    for (const Kernel* kernel : op.op->kernels()) {
      if (Wanted(request, *kernel, /*selected=*/true)) return absl::OkStatus();
    }
  }
  return absl::NotFoundError(absl::StrCat("no kernel is called ", request.kernel_glob,
                                          "; `halyard explain OP` lists them"));
}

// All kernels of a case that can run it, right or not.
absl::StatusOr<std::vector<Prepared>> PrepareCase(Session& session, const TestedOp& op,
                                                  const ops::Case& c) {
  HY_ASSIGN_OR_RETURN(const Selection chosen, Selected(session, op, c, nullptr));
  std::vector<Prepared> all;
  for (const Kernel* kernel : op.op->kernels()) {
    if (!Wanted(session.request, *kernel, kernel == chosen.kernel)) continue;
    absl::StatusOr<Selection> selection = Selected(session, op, c, kernel);
    if (!selection.ok()) continue;  // other types, shapes or processors
    Prepared one;
    one.selection = *std::move(selection);
    one.row.case_text = ops::CaseText(c);
    one.row.kernel = kernel->desc().id;
    one.row.selected = kernel == chosen.kernel;
    one.row.threads = session.team.size();
    const absl::Status status = Prepare(session, op, c, &one);
    one.row.right = status.ok();
    one.row.fault = std::string(status.message());
    all.push_back(std::move(one));
  }
  return all;
}

void TimeCase(Session& session, std::vector<Prepared>* all) {
  std::vector<Timed> timed;
  std::vector<Prepared*> owners;
  for (Prepared& one : *all) {
    if (!one.row.right) continue;
    auto next = std::make_shared<size_t>(0);
    timed.push_back({one.row.kernel,
                     [&session, &one, next](uint64_t* out_ns) -> absl::Status {
                       const void* args = one.workload->args((*next)++);
                       const uint64_t begin = MonotonicRawNs();
                       HY_RETURN_IF_ERROR(session.runner.RunBare(one.selection, args).status());
                       *out_ns = MonotonicRawNs() - begin;
                       return absl::OkStatus();
                     },
                     {},
                     {}});
    owners.push_back(&one);
  }
  TimeAll(session.request.seconds, session.request.repetitions, &timed);
  for (size_t i = 0; i < timed.size(); ++i) {
    BenchRow& row = owners[i]->row;
    if (!timed[i].status.ok() || timed[i].means_ns.empty()) {
      row.right = false;
      row.fault = timed[i].status.ok() ? "was not run" : std::string(timed[i].status.message());
      continue;
    }
    const uint32_t accumulator = owners[i]->selection.kernel->desc().accumulator;
    SetRates(session.roofs, accumulator == HY_ACC_I32_F32, timed[i].means_ns, &row);
  }
}

// The ops and cases that were asked for.
absl::StatusOr<std::vector<std::pair<TestedOp, ops::Case>>> CasesOf(
    const conformance::UnderTest& tested, const BenchRequest& request) {
  std::vector<std::pair<TestedOp, ops::Case>> all;
  for (const ops::Case& c : request.cases) {
    const TestedOp* op = tested.Find(c.op);
    if (op == nullptr) return absl::NotFoundError(absl::StrCat("there is no op ", c.op));
    HY_RETURN_IF_ERROR(ops::CheckSizes(*op->cases, c));
    all.emplace_back(*op, c);
  }
  if (!request.cases.empty()) return all;
  for (const std::string& name : request.ops) {
    if (tested.Find(name) == nullptr)
      return absl::NotFoundError(
          absl::StrCat("there is no op ", name, "; `halyard explain` lists them"));
  }
  for (const TestedOp& op : tested.ops()) {
    const bool wanted = request.ops.empty() || std::find(request.ops.begin(), request.ops.end(),
                                                         op.op->name()) != request.ops.end();
    if (!wanted) continue;
    for (ops::Case& c : DefaultShapes(op)) {
      const bool typed = std::any_of(c.types.begin(), c.types.end(), [&](uint32_t type) {
        return request.types.empty() || request.types == hy_type_name(type);
      });
      if (typed) all.emplace_back(op, std::move(c));
    }
  }
  if (all.empty()) {
    return absl::NotFoundError(absl::StrCat("none of the usual shapes has the type ", request.types,
                                            "; name a type such as q8_0, or a shape with --case"));
  }
  return all;
}

}  // namespace

absl::StatusOr<BenchReport> BenchOps(const hal::Device& device,
                                     const conformance::UnderTest& tested,
                                     const BenchRequest& request,
                                     const std::function<void(const BenchRow&)>& on_row,
                                     const std::function<void(const std::string&)>& on_step) {
  HY_ASSIGN_OR_RETURN(const auto cases, CasesOf(tested, request));
  HY_RETURN_IF_ERROR(CheckGlob(tested, request));
  hal::TeamRequest wanted;
  wanted.count = request.threads;
  HY_ASSIGN_OR_RETURN(const hal::Team team, device.CreateTeam(wanted));
  BenchReport report;
  HY_ASSIGN_OR_RETURN(report.before, MeasureRoofs(device, team));
  Session session{tested, request, team, Runner(&tested.registry(), &team), report.before};
  for (const auto& [op, c] : cases) {
    if (on_step) on_step(ops::CaseText(c));
    HY_ASSIGN_OR_RETURN(std::vector<Prepared> prepared, PrepareCase(session, op, c));
    TimeCase(session, &prepared);
    for (Prepared& one : prepared) {
      if (on_row) on_row(one.row);
      report.rows.push_back(std::move(one.row));
    }
  }
  if (report.rows.empty()) {
    return absl::FailedPreconditionError(
        "no kernel of this machine is left by --kernel and --types; `halyard explain OP` lists "
        "them");
  }
  HY_ASSIGN_OR_RETURN(report.after, MeasureRoofs(device, team));
  report.drift = std::max({Change(report.before.read_gb_per_s, report.after.read_gb_per_s),
                           Change(report.before.int8_gop_per_s, report.after.int8_gop_per_s),
                           Change(report.before.f32_gop_per_s, report.after.f32_gop_per_s)});
  return report;
}

}  // namespace halyard::bench
