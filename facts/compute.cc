// SPDX-License-Identifier: Apache-2.0
#include "facts/compute.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/status_macros.h"
#include "facts/stamps.h"
#include "hal/barrier.h"

namespace halyard::facts {
namespace {

[[maybe_unused]] bool HasAll(const IsaMask& isa, std::initializer_list<uint32_t> bits) {
  return std::all_of(bits.begin(), bits.end(),
                     [&isa](uint32_t bit) { return hy_isa_has(isa.data(), bit); });
}

// Nanoseconds from the first start to the last end of `rounds` rounds on every worker.
absl::StatusOr<uint64_t> RunOnce(const hal::Team& team, const hy_peak_loop& loop, uint64_t rounds) {
  std::vector<Stamps> stamps(team.size());
  hal::Barrier start(team.size(), hal::ChooseWaitPolicy(team.size(), 1000u * team.size(), 0));
  HY_RETURN_IF_ERROR(team.Run([&](uint32_t index, uint32_t) {
    start.Arrive();
    stamps[index].begin_ns = MonotonicRawNs();
    stamps[index].sum = loop.run(rounds);
    stamps[index].end_ns = MonotonicRawNs();
  }));
  return SpanNs(stamps);
}

// Rounds that last about run_ns.
absl::StatusOr<uint64_t> ChooseRounds(const hal::Team& team, const hy_peak_loop& loop,
                                      uint64_t run_ns) {
  uint64_t rounds = 64;
  for (;; rounds *= 4) {
    HY_ASSIGN_OR_RETURN(const uint64_t ns, RunOnce(team, loop, rounds));
    if (ns >= run_ns / 8) {
      const double scale = static_cast<double>(run_ns) / static_cast<double>(ns);
      return std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(rounds) * scale));
    }
  }
}

absl::StatusOr<ComputeRate> Measure(const hal::Team& team, const hy_peak_loop& loop,
                                    const ComputeRequest& request) {
  HY_ASSIGN_OR_RETURN(const uint64_t rounds, ChooseRounds(team, loop, request.run_ns));
  const double ops = static_cast<double>(rounds * loop.ops_per_round) * team.size();
  std::vector<double> rates;
  for (uint32_t run = 0; run < std::max(1u, request.runs); ++run) {
    HY_ASSIGN_OR_RETURN(const uint64_t ns, RunOnce(team, loop, rounds));
    rates.push_back(ops / static_cast<double>(std::max<uint64_t>(1, ns)));
  }
  std::sort(rates.begin(), rates.end());
  return ComputeRate{rates[rates.size() / 2], rates.front(), rates.back()};
}

}  // namespace

PeakKernel SelectPeakKernel([[maybe_unused]] const IsaMask& isa) {
#ifdef HALYARD_HAVE_X86_AVX512VNNI
  if (HasAll(isa, {HY_ISA_X86_AVX512F, HY_ISA_X86_AVX512BW, HY_ISA_X86_AVX512VL,
                   HY_ISA_X86_AVX512DQ, HY_ISA_X86_AVX512_VNNI})) {
    return {"x86_avx512vnni", &hy_peak_x86_avx512vnni};
  }
#endif
#ifdef HALYARD_HAVE_X86_AVX2
  if (HasAll(isa, {HY_ISA_X86_AVX2, HY_ISA_X86_FMA, HY_ISA_X86_F16C})) {
    return {"x86_avx2", &hy_peak_x86_avx2};
  }
#endif
#ifdef HALYARD_HAVE_ARM64_I8MM
  if (HasAll(isa, {HY_ISA_ARM64_ASIMDDP, HY_ISA_ARM64_I8MM})) {
    return {"arm64_i8mm", &hy_peak_arm64_i8mm};
  }
#endif
#ifdef HALYARD_HAVE_ARM64_DOTPROD
  if (HasAll(isa, {HY_ISA_ARM64_ASIMDDP})) return {"arm64_dotprod", &hy_peak_arm64_dotprod};
#endif
  return {"generic", &hy_peak_generic};
}

absl::StatusOr<ComputeRow> MeasureCompute(const hal::Team& team, const ComputeRequest& request) {
  const PeakKernel kernel = SelectPeakKernel(team.isa());
  ComputeRow row;
  row.threads = team.size();
  row.runs = std::max(1u, request.runs);
  row.kernel = kernel.name;
  HY_ASSIGN_OR_RETURN(row.int8, Measure(team, kernel.table->int8, request));
  HY_ASSIGN_OR_RETURN(row.f32, Measure(team, kernel.table->f32, request));
  return row;
}

}  // namespace halyard::facts
