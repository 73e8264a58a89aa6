// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/team_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace halyard::hal {

bool TeamWatch::Begin(hy_worker_fn fn, void* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (active_) return false;
  active_ = true;
  fn_ = fn;
  context_ = context;
  calls_.clear();
  return true;
}

std::string TeamWatch::End(hy_status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  active_ = false;
  if (!fault_.empty()) return std::exchange(fault_, "");
  uint64_t total = 0;
  for (uint32_t calls : calls_) total += calls;
  if (status != HY_OK) return total == 0 ? "" : "failed, though it ran the function";
  if (calls_.empty()) return "returned OK, though no worker ran the function";
  for (size_t index = 0; index < calls_.size(); ++index) {
    if (calls_[index] != 1) {
      return absl::StrCat("ran the function ", calls_[index], " times with the index ", index);
    }
  }
  return "";
}

std::string TeamWatch::TakeFault() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(fault_, "");
}

void TeamWatch::Run(void* watch, uint32_t index, uint32_t count) {
  TeamWatch* self = static_cast<TeamWatch*>(watch);
  hy_worker_fn fn = nullptr;
  void* context = nullptr;
  {
    const std::lock_guard<std::mutex> lock(self->mutex_);
    if (!self->active_) {
      self->fault_ = "ran the function after team_run had returned";
      return;
    }
    if (self->calls_.empty()) self->calls_.resize(count);
    if (index >= count || count != self->calls_.size()) {
      self->fault_ = absl::StrCat("ran the function with index ", index, " of ", count);
      return;
    }
    ++self->calls_[index];
    fn = self->fn_;
    context = self->context_;
  }
  fn(context, index, count);
}

}  // namespace halyard::hal
