// SPDX-License-Identifier: Apache-2.0
//
// One region of a team: phases of kernels in levels, a barrier between levels. Running it neither
// allocates nor locks; only a kernel that does not return OK takes a lock to say so.
#ifndef HALYARD_REGISTRY_REGION_H_
#define HALYARD_REGISTRY_REGION_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hal/barrier.h"
#include "hal/device.h"
#include "halyard/kernel.h"
#include "registry/aligned_block.h"

namespace halyard::registry {

/// What a team can be told about waiting, for a team of that size on this process's processors.
hal::WaitPolicy DefaultWaitPolicy(uint32_t workers);

/// One phase of one step; all workers call it.
struct Item {
  hy_status (*run)(const void* args, const hy_kernel_context* context) = nullptr;
  const void* args = nullptr;
  const int64_t* params = nullptr;
  void* scratch = nullptr;
  uint64_t scratch_bytes = 0;
  uint32_t step = 0;
  uint32_t phase = 0;
};

/// A worker's phase that did not return OK.
struct Note {
  uint32_t step = 0;
  uint32_t phase = 0;
  uint32_t worker = 0;
  hy_status status = HY_OK;
};

class Region {
 public:
  Region(const hal::Team* team, hal::WaitPolicy wait);

  /// Empties it; then Add and EndLevel build it.
  void Clear();
  void Add(const Item& item) { items_.push_back(item); }
  void EndLevel();
  /// To be called when it is built. Errors   RESOURCE_EXHAUSTED.
  absl::Status Finish();

  size_t levels() const { return level_end_.size(); }
  std::vector<Item>& items() { return items_; }

  /// Runs levels from `first` on, until all are done or a level holds a phase that failed: that level
  /// is still completed. Sets *next to the level to go on with. Errors   as Team::Run.
  absl::Status Run(size_t first, size_t* next);

  /// What did not return OK since the last Run began; in no order.
  absl::Span<const Note> notes() const { return notes_; }

 private:
  void Work(size_t first, uint32_t index, uint32_t count);
  void Take(const Note& note, size_t level);
  uint64_t* Ticket(size_t level, size_t item) const;

  const hal::Team* const team_;
  hal::Barrier barrier_;
  std::vector<Item> items_;
  std::vector<size_t> level_end_;
  // A line for each phase of a level, in two banks: while one is in use, the other is set to 0.
  AlignedBlock tickets_;
  size_t bank_lines_ = 0;
  std::atomic<size_t> stop_level_{0};
  std::mutex mutex_;
  std::vector<Note> notes_;
};

/// What became of a step.
enum class Outcome {
  kOk,
  kData,      ///< done; the data was wrong, as the contract says
  kDeclined,  ///< UNIMPLEMENTED from all workers in phase 0: nothing was written
  kFailed,    ///< anything else: what it was to write may be half written
};

struct StepResult {
  Outcome outcome = Outcome::kOk;
  hy_status status = HY_OK;
  std::string reason;  ///< "returned INTERNAL in phase 1 on worker 3"
};

/// Judges a step by its notes.
StepResult Judge(absl::Span<const Note> notes, uint32_t step, uint32_t workers);

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_REGION_H_
