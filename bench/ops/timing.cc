// SPDX-License-Identifier: Apache-2.0
#include "bench/ops/timing.h"

#include <benchmark/benchmark.h>

#include "absl/strings/str_cat.h"

namespace halyard::bench {
namespace {

// Hands repetitions over; Google Benchmark's own table is not wanted.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Timed>* all) : all_(all) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      // By the place in the list: names are Google Benchmark's to change. A run that failed has none.
      const auto index = run.counters.find("index");
      if (index == run.counters.end()) continue;
      (*all_)[static_cast<size_t>(index->second.value)].means_ns.push_back(
          run.GetAdjustedRealTime());
    }
  }

 private:
  std::vector<Timed>* const all_;
};

void Body(benchmark::State& state, Timed& timed, size_t index) {
  for (auto _ : state) {
    uint64_t ns = 0;
    if (timed.status.ok()) timed.status = timed.run(&ns);
    if (!timed.status.ok()) {
      state.SkipWithError("failed");
      break;
    }
    state.SetIterationTime(static_cast<double>(ns) * 1e-9);
  }
  state.counters["index"] = static_cast<double>(index);
}

}  // namespace

void TimeAll(double seconds, uint32_t repetitions, std::vector<Timed>* all) {
  if (all->empty()) return;
  benchmark::ClearRegisteredBenchmarks();
  for (size_t i = 0; i < all->size(); ++i) {
    Timed& timed = (*all)[i];
    benchmark::RegisterBenchmark(absl::StrCat("row", i).c_str(),
                                 [&timed, i](benchmark::State& state) { Body(state, timed, i); })
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond)
        ->MinTime(seconds)
        ->Repetitions(static_cast<int>(repetitions));
  }
  std::string words[] = {"halyard", "--benchmark_enable_random_interleaving=true",
                         "--benchmark_filter=.*"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int argc = 3;
  benchmark::Initialize(&argc, argv);
  Collector collector(all);
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
}

}  // namespace halyard::bench
