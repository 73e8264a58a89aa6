// SPDX-License-Identifier: Apache-2.0
//
// The layer behind WithValidate. Its verbs are spread over validate_<group>.cc as hal.h has them.
#ifndef HALYARD_HAL_LAYERS_VALIDATE_LAYER_H_
#define HALYARD_HAL_LAYERS_VALIDATE_LAYER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hal/layers/interposer.h"
#include "hal/layers/layers.h"
#include "hal/layers/live_objects.h"
#include "hal/layers/shadow.h"

namespace halyard::hal {

class ValidateLayer : public Interposer {
 public:
  ValidateLayer(std::shared_ptr<Port> inner, std::function<void(const Violation&)> on_violation)
      : Interposer(std::move(inner)), on_violation_(std::move(on_violation)) {}

  hy_status Enumerate(hy_array* devices) override;
  hy_status Open(const hy_open_desc* desc, hy_device** out_device) override;
  hy_status Query(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) override;
  hy_status Topology(hy_device* device, hy_topology* inout_topology) override;
  hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                  hy_placement* out_placement) override;
  hy_status ImportHost(hy_device* device, const hy_import_desc* desc,
                       hy_buffer** out_buffer) override;
  hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) override;
  hy_status Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) override;
  hy_status SyncRange(hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                      uint32_t direction) override;
  hy_status TeamCreate(hy_device* device, const hy_team_desc* desc, hy_team** out_team) override;
  hy_status TeamRun(hy_team* team, hy_worker_fn fn, void* context) override;
  hy_status TeamReadback(hy_team* team, hy_array* workers) override;
  hy_status WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                       hy_worker_report* inout_report) override;
  hy_status QueueCreate(hy_device* device, const hy_queue_desc* desc,
                        hy_queue** out_queue) override;
  hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) override;
  hy_status FenceCreate(hy_device* device, uint64_t initial, hy_fence** out_fence) override;
  hy_status FenceWait(hy_device* device, const hy_wait_desc* desc) override;
  hy_status FenceSignal(hy_fence* fence, uint64_t value, hy_status status) override;
  hy_status Timestamp(hy_device* device, hy_timestamp* out_timestamp) override;
  hy_status Release(uint32_t kind, void* handle) override;

 private:
  /// Counts the calls of one import's on_release.
  struct ImportWatch {
    ValidateLayer* layer;
    void (*on_release)(void*);
    void* context;
    std::atomic<uint32_t> calls{0};
  };

  /// What one operation of a submission must be, whatever the port says of it.
  struct OpVerdict {
    std::string complaint;   ///< broke a guarantee: the submission is not passed on
    std::string duty;        ///< a port that accepts the submission breaks this duty ...
    std::string acceptance;  ///< ... because of this
    bool calls_host = false;
  };

  static void OnImportReleased(void* watch);

  void Report(absl::string_view duty, Verb verb, std::string message);
  /// A guarantee of the core that the caller broke; gives what to return.
  hy_status Refuse(Verb verb, std::string message);

  /// False, and reported, if `handle` is neither NULL nor live. NULL is for the port to refuse.
  bool IsLive(Verb verb, uint32_t kind, const void* handle);

  void CheckStatus(Verb verb, hy_status status);
  void CheckNull(Verb verb, bool had_null, hy_status status);
  /// [HAL-ERR-08]: OK where a number or flag has no meaning in this ABI.
  void CheckKnown(Verb verb, bool is_known, hy_status status, absl::string_view what);
  /// Reports unless `fault` is empty.
  void CheckFault(absl::string_view duty, Verb verb, const std::string& fault);

  /// Runs `make` with a poisoned out-handle and checks what comes back by [HAL-ERR-03]; a new
  /// object is registered. `out` may be NULL: the port must refuse that.
  template <typename Handle, typename Make>
  hy_status Create(Verb verb, uint32_t kind, Handle** out, LiveObject object, Make make);
  void CheckCreated(Verb verb, uint32_t kind, hy_status status, const void* handle,
                    LiveObject object);

  // Parts of single verbs; see their files.
  hy_status QueryShadowed(const hy_query_desc& known, const hy_query_desc* desc, void* buffer,
                          uint64_t* inout_bytes);
  void CheckAnswer(const hy_query_desc& known, hy_status status, const void* buffer,
                   uint64_t bytes);
  void CheckTopology(const hy_topology& topology);
  void CheckAllocated(const hy_alloc_desc& known, hy_status status);
  std::string ClaimMap(hy_buffer* buffer, const LiveMap& map);
  void DropMap(hy_buffer* buffer, const LiveMap& map);
  void CheckMapped(const hy_map_desc& known, const LiveObject& buffer, hy_status status);
  OpVerdict JudgeOp(const hy_op& op);
  std::string JudgeSide(const hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                        OpVerdict* verdict);
  OpVerdict JudgeSubmission(const hy_submission& submission);
  std::string FenceComplaint(const hy_array& points);
  void CheckWaited(const hy_wait_desc& known, hy_status status);

  LiveObjects objects_;
  std::mutex report_mutex_;  // on_violation by one thread at a time
  const std::function<void(const Violation&)> on_violation_;
  std::mutex watch_mutex_;  // guards the two below
  std::vector<std::unique_ptr<ImportWatch>> imports_;
  std::vector<std::shared_ptr<TeamWatch>> teams_;
};

template <typename Handle, typename Make>
hy_status ValidateLayer::Create(Verb verb, uint32_t kind, Handle** out, LiveObject object,
                                Make make) {
  if (out == nullptr) {
    const hy_status refused = make(nullptr);
    CheckNull(verb, true, refused);
    return refused;
  }
  Handle* const poison = reinterpret_cast<Handle*>(~uintptr_t{0});
  Handle* handle = poison;
  const hy_status status = make(&handle);
  CheckStatus(verb, status);
  if (handle == poison) {
    Report(
        "HAL-ERR-03", verb,
        std::string("returned ") + hy_status_name(status) + " and left the out-handle as it was");
    *out = nullptr;
    return status == HY_OK ? HY_INTERNAL : status;
  }
  CheckCreated(verb, kind, status, handle, std::move(object));
  *out = status == HY_OK ? handle : nullptr;
  return status;
}

}  // namespace halyard::hal

#endif  // HALYARD_HAL_LAYERS_VALIDATE_LAYER_H_
