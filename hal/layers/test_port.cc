// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/test_port.h"

#include <mutex>
#include <string>

namespace halyard::hal::testing {
namespace {

struct Object {
  uint32_t kind;
  std::vector<unsigned char> bytes;
  void (*on_release)(void*) = nullptr;
  void* context = nullptr;
  uint64_t value = 0;
};

template <typename Handle>
Object* Of(Handle* handle) {
  return reinterpret_cast<Object*>(handle);
}

template <typename Handle>
hy_status Make(uint32_t kind, Handle** out) {
  if (out == nullptr) return HY_INVALID_ARGUMENT;
  *out = reinterpret_cast<Handle*>(new Object{kind, {}});
  ++State().live;
  return HY_OK;
}

void Note(const char* verb) {
  static std::mutex mutex;  // tests call from several threads
  const std::lock_guard<std::mutex> lock(mutex);
  State().calls.emplace_back(verb);
}
const Misdeeds& Wrong() { return State().misdeeds; }

hy_status Enumerate(const hy_hal_api*, hy_array* devices) {
  Note("enumerate");
  static const hy_device_info kDevices[2] = {
      {sizeof(hy_device_info), HY_DEVICE_CPU_CLASS, "test:0", "First", ""},
      {sizeof(hy_device_info), HY_DEVICE_CPU_CLASS, "test:1", "Second", ""}};
  if (devices == nullptr) return HY_INVALID_ARGUMENT;
  if (Wrong().write_beyond_array && devices->data != nullptr) {
    devices->count = 2;
    for (uint32_t i = 0; i < 2; ++i)
      std::memcpy(hy_array_at(devices, i), &kDevices[i], sizeof kDevices[i]);
    return HY_OK;
  }
  if (Wrong().write_between_records && devices->data != nullptr) {
    std::memset(devices->data, 0, devices->stride);
  }
  return hy_fill_array(devices, kDevices, sizeof kDevices[0], 2);
}

hy_status Open(const hy_hal_api*, const hy_open_desc* desc, hy_device** out) {
  Note("open");
  if (out == nullptr) return HY_INVALID_ARGUMENT;
  *out = nullptr;
  hy_open_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.id != nullptr && std::strncmp(known.id, "test:", 5) != 0) return HY_NOT_FOUND;
  return Make(HY_KIND_DEVICE, out);
}

hy_status Query(const hy_query_desc* desc, void* buffer, uint64_t* bytes) {
  Note("query");
  hy_query_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.key == HY_QUERY_CAPS) return hy_answer_u64(HY_CAP_COHERENT, buffer, bytes);
  if (Wrong().write_on_unknown_key && buffer != nullptr) std::memset(buffer, 0xee, 1);
  return HY_UNIMPLEMENTED;
}

hy_status Topology(hy_device* device, hy_topology* inout) {
  Note("topology");
  hy_pu pu{};
  pu.struct_size = sizeof pu;
  pu.os_id = 4;
  pu.capacity = 1024;
  pu.flags = HY_PU_ALLOWED;
  hy_topology known;
  const hy_status status = hy_read_struct(&known, sizeof known, inout);
  if (device == nullptr || status != HY_OK) return device == nullptr ? HY_INVALID_ARGUMENT : status;
  known.budget_millicpus = 1000;
  const hy_status filled = hy_fill_array(&known.pus, &pu, sizeof pu, 1);
  hy_write_struct(inout, &known, sizeof known);
  return filled;
}

hy_status Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out, hy_placement*) {
  Note("alloc");
  if (out == nullptr) return HY_INVALID_ARGUMENT;
  if (Wrong().leave_handle) return HY_OK;
  *out = nullptr;
  hy_alloc_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (device == nullptr) return HY_INVALID_ARGUMENT;
  if (status != HY_OK) return status;
  if (Wrong().alloc_status != HY_OK) {
    if (Wrong().keep_handle_on_error) *out = reinterpret_cast<hy_buffer*>(&State());
    return Wrong().alloc_status;
  }
  const bool known_flags = known.flags <= (HY_ALLOC_PREFAULT | HY_ALLOC_ZERO);
  if (known.bytes == 0 || !(known_flags || Wrong().accept_flags)) return HY_INVALID_ARGUMENT;
  const hy_status made = Make(HY_KIND_BUFFER, out);
  Of(*out)->bytes.resize(static_cast<size_t>(known.bytes));
  return made;
}

hy_status ImportHost(hy_device* device, const hy_import_desc* desc, hy_buffer** out) {
  Note("import_host");
  hy_import_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (out == nullptr || device == nullptr) return HY_INVALID_ARGUMENT;
  *out = nullptr;
  if (status != HY_OK) return status;
  const hy_status made = Make(HY_KIND_BUFFER, out);
  Of(*out)->bytes.resize(static_cast<size_t>(known.bytes));
  Of(*out)->on_release = known.on_release;
  Of(*out)->context = known.context;
  return made;
}

hy_status Map(hy_buffer* buffer, const hy_map_desc* desc, void** out) {
  Note("map");
  if (buffer == nullptr || out == nullptr) return HY_INVALID_ARGUMENT;
  if (desc == nullptr && Wrong().accept_null) return HY_OK;
  *out = nullptr;
  hy_map_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.bytes == 0) return HY_INVALID_ARGUMENT;
  std::vector<unsigned char>& bytes = Of(buffer)->bytes;
  if (!hy_range_ok(known.offset, known.bytes, bytes.size())) {
    if (!Wrong().ignore_range) return HY_OUT_OF_RANGE;
    *out = bytes.data();
    return HY_OK;
  }
  *out = bytes.data() + known.offset;
  return HY_OK;
}

hy_status Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) {
  Note("unmap");
  return buffer != nullptr && desc != nullptr && ptr != nullptr ? HY_OK : HY_INVALID_ARGUMENT;
}

hy_status SyncRange(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t direction) {
  Note("sync_range");
  if (buffer == nullptr || direction < HY_SYNC_TO_DEVICE || direction > HY_SYNC_FROM_DEVICE) {
    return HY_INVALID_ARGUMENT;
  }
  const bool in_range = hy_range_ok(offset, bytes, Of(buffer)->bytes.size());
  return in_range || Wrong().ignore_range ? HY_OK : HY_OUT_OF_RANGE;
}

hy_status TeamCreate(hy_device* device, const hy_team_desc* desc, hy_team** out) {
  Note("team_create");
  if (out != nullptr) *out = nullptr;
  return device == nullptr || desc == nullptr ? HY_INVALID_ARGUMENT : Make(HY_KIND_TEAM, out);
}

hy_status TeamRun(hy_team* team, hy_worker_fn fn, void* context) {
  Note("team_run");
  if (team == nullptr || fn == nullptr) return HY_INVALID_ARGUMENT;
  if (State().is_running && !Wrong().run_nested) return HY_FAILED_PRECONDITION;
  State().is_running = true;
  const uint32_t count = 3;
  const uint32_t ran = Wrong().skip_worker ? count - 1 : count;
  for (uint32_t index = 0; index < ran; ++index) fn(context, index, count);
  State().is_running = false;
  return HY_OK;
}

hy_status TeamReadback(hy_team* team, hy_array* workers) {
  Note("team_readback");
  if (team == nullptr) return HY_INVALID_ARGUMENT;
  hy_worker_report report{};
  report.struct_size = sizeof report;
  report.requested_pu = HY_ID_NONE;
  return hy_fill_array(workers, &report, sizeof report, 1);
}

hy_status WorkerBind(hy_device* device, uint32_t, uint32_t mode, hy_worker_report* report) {
  Note("worker_bind");
  const bool known_mode = mode == HY_BIND_ENTER || mode == HY_BIND_LEAVE;
  return device != nullptr && report != nullptr && known_mode ? HY_OK : HY_INVALID_ARGUMENT;
}

hy_status QueueCreate(hy_device* device, const hy_queue_desc* desc, hy_queue** out) {
  Note("queue_create");
  if (out != nullptr) *out = nullptr;
  return device == nullptr || desc == nullptr ? HY_INVALID_ARGUMENT : Make(HY_KIND_QUEUE, out);
}

hy_status Submit(hy_device* device, hy_queue*, const hy_submission* submission) {
  Note("submit");
  hy_submission known;
  const hy_status status = hy_read_struct(&known, sizeof known, submission);
  if (device == nullptr || status != HY_OK) return device == nullptr ? HY_INVALID_ARGUMENT : status;
  for (uint32_t i = 0; i < known.ops.count; ++i) {
    hy_op op;
    std::memcpy(&op, hy_array_at(&known.ops, i), sizeof op);
    if (op.kind == HY_OP_HOST_CALL) {
      const hy_status called = op.call(op.context);
      if (called != HY_OK) return called;
    } else if (op.dst != nullptr && !Wrong().ignore_range &&
               !hy_range_ok(op.dst_offset, op.bytes, Of(op.dst)->bytes.size())) {
      return HY_OUT_OF_RANGE;
    }
  }
  return HY_OK;
}

hy_status FenceCreate(hy_device* device, uint64_t initial, hy_fence** out) {
  Note("fence_create");
  if (out != nullptr) *out = nullptr;
  const hy_status made = device == nullptr ? HY_INVALID_ARGUMENT : Make(HY_KIND_FENCE, out);
  if (made == HY_OK) Of(*out)->value = initial;
  return made;
}

hy_status FenceWait(hy_device* device, const hy_wait_desc* desc) {
  Note("fence_wait");
  hy_wait_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (device == nullptr || status != HY_OK) return device == nullptr ? HY_INVALID_ARGUMENT : status;
  for (uint32_t i = 0; i < known.points.count; ++i) {
    hy_fence_point point;
    std::memcpy(&point, hy_array_at(&known.points, i), sizeof point);
    if (Of(point.fence)->value >= point.value) continue;
    while (!Wrong().early_deadline && MonotonicNs() < known.deadline_ns) {
    }
    return HY_DEADLINE_EXCEEDED;
  }
  return HY_OK;
}

hy_status FenceSignal(hy_fence* fence, uint64_t value, hy_status) {
  Note("fence_signal");
  if (fence == nullptr) return HY_INVALID_ARGUMENT;
  if (value <= Of(fence)->value && !Wrong().lower_signal) return HY_INVALID_ARGUMENT;
  Of(fence)->value = value;
  return HY_OK;
}

hy_status Timestamp(hy_device* device, hy_timestamp* out) {
  Note("timestamp");
  if (device == nullptr || out == nullptr) return HY_INVALID_ARGUMENT;
  State().clock = Wrong().clock_goes_back ? State().clock - 1 : State().clock + 1;
  const hy_timestamp now{sizeof(hy_timestamp), 0, State().clock, MonotonicRawNs(), 1000, 0};
  if (Wrong().write_beyond_struct) {
    std::memset(reinterpret_cast<unsigned char*>(out) + sizeof *out, 0, 8);
  }
  return hy_write_struct(out, &now, sizeof now);
}

hy_status Release(uint32_t kind, void* handle) {
  Note("release");
  if (kind < HY_KIND_DEVICE || kind >= HY_KIND_COUNT) return HY_INVALID_ARGUMENT;
  if (handle == nullptr) return Wrong().refuse_null_release ? HY_INVALID_ARGUMENT : HY_OK;
  Object* object = static_cast<Object*>(handle);
  if (object->on_release != nullptr) object->on_release(object->context);
  if (object->on_release != nullptr && Wrong().release_twice) object->on_release(object->context);
  delete object;
  --State().live;
  return HY_OK;
}

const hy_hal_api kFull = {sizeof(hy_hal_api),
                          HY_HAL_ABI_MAJOR,
                          HY_HAL_ABI_MINOR,
                          0,
                          "test_port",
                          "1",
                          "Tests",
                          Enumerate,
                          Open,
                          Query,
                          Topology,
                          Alloc,
                          ImportHost,
                          Map,
                          Unmap,
                          SyncRange,
                          TeamCreate,
                          TeamRun,
                          TeamReadback,
                          WorkerBind,
                          QueueCreate,
                          Submit,
                          FenceCreate,
                          FenceWait,
                          FenceSignal,
                          Timestamp,
                          Release};

hy_hal_api NeededOnly() {
  hy_hal_api api{};
  std::memcpy(&api, &kFull, offsetof(hy_hal_api, enumerate));
  api.enumerate = Enumerate;
  api.open = Open;
  api.query = Query;
  api.alloc = Alloc;
  api.map = Map;
  api.timestamp = Timestamp;
  api.release = Release;
  return api;
}
const hy_hal_api kNeeded = NeededOnly();

const hy_hal_api* GetFull(uint32_t, uint32_t, const hy_host_services*, uint32_t*) { return &kFull; }
const hy_hal_api* GetNeeded(uint32_t, uint32_t, const hy_host_services*, uint32_t*) {
  return &kNeeded;
}

}  // namespace

TestPortState& State() {
  static TestPortState state;
  return state;
}

std::shared_ptr<Port> LoadTestPort(bool only_needed) {
  State() = TestPortState{};
  auto port = AdoptPort(only_needed ? &GetNeeded : &GetFull, "test_port", "built in");
  return port.ok() ? *std::move(port) : nullptr;
}

}  // namespace halyard::hal::testing
