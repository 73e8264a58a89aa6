// SPDX-License-Identifier: Apache-2.0
//
// A port around a port. The verbs are C functions without a place for state, and a NULL or stray
// handle must reach the inner port's checks too, so each live layer has a set of functions of its
// own (kMostLayers of them are compiled in). Handles pass through unchanged: a vendor's kernels may
// be given the same handles under any layer.
#ifndef HALYARD_HAL_LAYERS_INTERPOSER_H_
#define HALYARD_HAL_LAYERS_INTERPOSER_H_

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hal/layers/verbs.h"
#include "hal/loader.h"
#include "halyard/hal.h"
#include "halyard/hal_port.h"

namespace halyard::hal {

/// One argument of a call, for traces.
struct Argument {
  enum class Kind { kNumber, kAddress, kText, kOutHandle };
  const char* name;
  Kind kind;
  uint64_t number = 0;
  const char* text = nullptr;   ///< kText; NULL if none was given
  void** out_handle = nullptr;  ///< kOutHandle: where the verb puts it; may be NULL
};

struct Call {
  Verb verb;
  absl::Span<const Argument> arguments;
};

/// A Port whose table forwards each verb to `inner` through Around. A layer overrides Around, or
/// single verbs. Threads: any.
class Interposer : public Port {
 public:
  static constexpr size_t kMostLayers = 32;

  ~Interposer() override;
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  const hy_hal_api& api() const override { return table_; }
  const hy_hal_api* self() const override { return &table_; }
  std::string name() const override { return inner_->name(); }
  std::string origin() const override { return inner_->origin(); }

  /// Takes a set of functions and fills the table; once, before use.
  /// Errors   RESOURCE_EXHAUSTED: kMostLayers layers live already.
  absl::Status Attach();

  virtual hy_status Enumerate(hy_array* devices);
  virtual hy_status Open(const hy_open_desc* desc, hy_device** out_device);
  virtual hy_status Query(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes);
  virtual hy_status Topology(hy_device* device, hy_topology* inout_topology);
  virtual hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                          hy_placement* out_placement);
  virtual hy_status ImportHost(hy_device* device, const hy_import_desc* desc,
                               hy_buffer** out_buffer);
  virtual hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr);
  virtual hy_status Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr);
  virtual hy_status SyncRange(hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                              uint32_t direction);
  virtual hy_status TeamCreate(hy_device* device, const hy_team_desc* desc, hy_team** out_team);
  virtual hy_status TeamRun(hy_team* team, hy_worker_fn fn, void* context);
  virtual hy_status TeamReadback(hy_team* team, hy_array* workers);
  virtual hy_status WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                               hy_worker_report* inout_report);
  virtual hy_status QueueCreate(hy_device* device, const hy_queue_desc* desc, hy_queue** out_queue);
  virtual hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission);
  virtual hy_status FenceCreate(hy_device* device, uint64_t initial, hy_fence** out_fence);
  virtual hy_status FenceWait(hy_device* device, const hy_wait_desc* desc);
  virtual hy_status FenceSignal(hy_fence* fence, uint64_t value, hy_status status);
  virtual hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp);
  virtual hy_status Release(uint32_t kind, void* handle);

 protected:
  explicit Interposer(std::shared_ptr<Port> inner) : inner_(std::move(inner)) {}

  /// `proceed` calls the inner port; a layer may leave it out and answer by itself.
  virtual hy_status Around(const Call& call, absl::FunctionRef<hy_status()> proceed);

  const Port& inner() const { return *inner_; }

 private:
  const std::shared_ptr<Port> inner_;
  size_t slot_ = kMostLayers;
  hy_hal_api table_{};
};

/// A copy of a caller's struct by the size rule; all zero if it is NULL or malformed, since the
/// inner port is the one to refuse it.
template <typename Struct>
Struct Known(const Struct* given) {
  Struct known;
  // A tail of a newer minor version is left to the port; what is known here can still be read.
  const hy_status status = hy_read_struct(&known, sizeof known, given);
  if (status == HY_UNIMPLEMENTED) std::memcpy(&known, given, sizeof known);
  return known;
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_INTERPOSER_H_
