// SPDX-License-Identifier: Apache-2.0
#include "hal/layers/interposer.h"

#include <array>
#include <atomic>
#include <utility>

namespace halyard::hal {
namespace {

std::array<std::atomic<Interposer*>, Interposer::kMostLayers>& Owners() {
  static std::array<std::atomic<Interposer*>, Interposer::kMostLayers> owners{};
  return owners;
}

// No exception crosses the C boundary; only memory can run out in a layer.
template <typename Method>
hy_status Safely(Method method) {
  try {
    return method();
  } catch (...) {
    return HY_RESOURCE_EXHAUSTED;
  }
}

// Calls a method of the layer that owns the set of functions.
template <size_t kSlot, auto kMethod, typename... Args>
hy_status Forward(Args... args) {
  Interposer* layer = Owners()[kSlot].load(std::memory_order_acquire);
  if (layer == nullptr) return HY_INVALID_ARGUMENT;  // a table kept longer than its port
  return Safely([&] { return (layer->*kMethod)(args...); });
}

// As Forward for the two verbs that are given the table, which the slot makes needless.
template <size_t kSlot, auto kMethod, typename... Args>
hy_status ForwardSelf(const hy_hal_api*, Args... args) {
  return Forward<kSlot, kMethod, Args...>(args...);
}

template <size_t kSlot>
void FillTable(hy_hal_api* table) {
  using I = Interposer;
  table->enumerate = &ForwardSelf<kSlot, &I::Enumerate, hy_array*>;
  table->open = &ForwardSelf<kSlot, &I::Open, const hy_open_desc*, hy_device**>;
  table->query = &Forward<kSlot, &I::Query>;
  table->topology = &Forward<kSlot, &I::Topology>;
  table->alloc = &Forward<kSlot, &I::Alloc>;
  table->import_host = &Forward<kSlot, &I::ImportHost>;
  table->map = &Forward<kSlot, &I::Map>;
  table->unmap = &Forward<kSlot, &I::Unmap>;
  table->sync_range = &Forward<kSlot, &I::SyncRange>;
  table->team_create = &Forward<kSlot, &I::TeamCreate>;
  table->team_run = &Forward<kSlot, &I::TeamRun>;
  table->team_readback = &Forward<kSlot, &I::TeamReadback>;
  table->worker_bind = &Forward<kSlot, &I::WorkerBind>;
  table->queue_create = &Forward<kSlot, &I::QueueCreate>;
  table->submit = &Forward<kSlot, &I::Submit>;
  table->fence_create = &Forward<kSlot, &I::FenceCreate>;
  table->fence_wait = &Forward<kSlot, &I::FenceWait>;
  table->fence_signal = &Forward<kSlot, &I::FenceSignal>;
  table->timestamp = &Forward<kSlot, &I::Timestamp>;
  table->release = &Forward<kSlot, &I::Release>;
}

template <size_t... kSlots>
void FillTableOf(size_t slot, hy_hal_api* table, std::index_sequence<kSlots...>) {
  constexpr void (*kFill[])(hy_hal_api*) = {&FillTable<kSlots>...};
  kFill[slot](table);
}

// A slot that the inner port leaves NULL stays NULL, so that the core serves it.
void DropAbsent(const hy_hal_api& inner, hy_hal_api* table) {
  auto drop = [&](auto slot) {
    if (inner.*slot == nullptr) table->*slot = nullptr;
  };
  drop(&hy_hal_api::topology);
  drop(&hy_hal_api::import_host);
  drop(&hy_hal_api::map);
  drop(&hy_hal_api::unmap);
  drop(&hy_hal_api::sync_range);
  drop(&hy_hal_api::team_create);
  drop(&hy_hal_api::team_run);
  drop(&hy_hal_api::team_readback);
  drop(&hy_hal_api::worker_bind);
  drop(&hy_hal_api::queue_create);
  drop(&hy_hal_api::submit);
  drop(&hy_hal_api::fence_create);
  drop(&hy_hal_api::fence_wait);
  drop(&hy_hal_api::fence_signal);
}

Argument Number(const char* name, uint64_t number) {
  return {name, Argument::Kind::kNumber, number};
}
Argument Address(const char* name, const void* address) {
  return {name, Argument::Kind::kAddress, reinterpret_cast<uintptr_t>(address)};
}
Argument Text(const char* name, const char* text) { return {name, Argument::Kind::kText, 0, text}; }
template <typename Handle>
Argument Out(const char* name, Handle** out_handle) {
  return {name, Argument::Kind::kOutHandle, 0, nullptr, reinterpret_cast<void**>(out_handle)};
}

}  // namespace

Interposer::~Interposer() {
  if (slot_ < kMostLayers) Owners()[slot_].store(nullptr, std::memory_order_release);
}

absl::Status Interposer::Attach() {
  for (size_t slot = 0; slot < kMostLayers; ++slot) {
    Interposer* nobody = nullptr;
    if (!Owners()[slot].compare_exchange_strong(nobody, this)) continue;
    slot_ = slot;
    table_ = inner_->api();
    FillTableOf(slot, &table_, std::make_index_sequence<kMostLayers>());
    DropAbsent(inner_->api(), &table_);
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError("too many layers at once: release ports that are done with");
}

hy_status Interposer::Around(const Call&, absl::FunctionRef<hy_status()> proceed) {
  return proceed();
}

hy_status Interposer::Enumerate(hy_array* devices) {
  const Argument arguments[] = {Number("capacity", devices == nullptr ? 0 : devices->capacity)};
  return Around({Verb::kEnumerate, arguments},
                [&] { return inner_->api().enumerate(inner_->self(), devices); });
}

hy_status Interposer::Open(const hy_open_desc* desc, hy_device** out_device) {
  const hy_open_desc known = Known(desc);
  const Argument arguments[] = {Text("id", known.id), Number("options", known.options.count),
                                Out("device", out_device)};
  return Around({Verb::kOpen, arguments},
                [&] { return inner_->api().open(inner_->self(), desc, out_device); });
}

hy_status Interposer::Query(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes) {
  const hy_query_desc known = Known(desc);
  const Argument arguments[] = {Number("kind", known.kind), Address("handle", known.handle),
                                Number("key", known.key),
                                Number("bytes", inout_bytes == nullptr ? 0 : *inout_bytes)};
  return Around({Verb::kQuery, arguments},
                [&] { return inner_->api().query(desc, buffer, inout_bytes); });
}

hy_status Interposer::Topology(hy_device* device, hy_topology* inout_topology) {
  const Argument arguments[] = {Address("device", device)};
  return Around({Verb::kTopology, arguments},
                [&] { return inner_->api().topology(device, inout_topology); });
}

hy_status Interposer::Alloc(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                            hy_placement* out_placement) {
  const hy_alloc_desc known = Known(desc);
  const Argument arguments[] = {Address("device", device),
                                Number("bytes", known.bytes),
                                Number("alignment", known.alignment),
                                Number("memory_class", known.memory_class),
                                Number("node_policy", known.node_policy),
                                Number("flags", known.flags),
                                Out("buffer", out_buffer)};
  return Around({Verb::kAlloc, arguments},
                [&] { return inner_->api().alloc(device, desc, out_buffer, out_placement); });
}

hy_status Interposer::ImportHost(hy_device* device, const hy_import_desc* desc,
                                 hy_buffer** out_buffer) {
  const hy_import_desc known = Known(desc);
  const Argument arguments[] = {Address("device", device), Address("ptr", known.ptr),
                                Number("bytes", known.bytes), Number("flags", known.flags),
                                Out("buffer", out_buffer)};
  return Around({Verb::kImportHost, arguments},
                [&] { return inner_->api().import_host(device, desc, out_buffer); });
}

hy_status Interposer::Map(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr) {
  const hy_map_desc known = Known(desc);
  const Argument arguments[] = {Address("buffer", buffer), Number("offset", known.offset),
                                Number("bytes", known.bytes), Number("access", known.access),
                                Out("ptr", out_ptr)};
  return Around({Verb::kMap, arguments}, [&] { return inner_->api().map(buffer, desc, out_ptr); });
}

hy_status Interposer::Unmap(hy_buffer* buffer, const hy_map_desc* desc, void* ptr) {
  const hy_map_desc known = Known(desc);
  const Argument arguments[] = {Address("buffer", buffer), Number("offset", known.offset),
                                Number("bytes", known.bytes), Number("access", known.access),
                                Address("ptr", ptr)};
  return Around({Verb::kUnmap, arguments}, [&] { return inner_->api().unmap(buffer, desc, ptr); });
}

hy_status Interposer::SyncRange(hy_buffer* buffer, uint64_t offset, uint64_t bytes,
                                uint32_t direction) {
  const Argument arguments[] = {Address("buffer", buffer), Number("offset", offset),
                                Number("bytes", bytes), Number("direction", direction)};
  return Around({Verb::kSyncRange, arguments},
                [&] { return inner_->api().sync_range(buffer, offset, bytes, direction); });
}

hy_status Interposer::TeamCreate(hy_device* device, const hy_team_desc* desc, hy_team** out_team) {
  const hy_team_desc known = Known(desc);
  const Argument arguments[] = {Address("device", device), Number("count", known.count),
                                Number("pus", known.pus.count), Number("flags", known.flags),
                                Out("team", out_team)};
  return Around({Verb::kTeamCreate, arguments},
                [&] { return inner_->api().team_create(device, desc, out_team); });
}

hy_status Interposer::TeamRun(hy_team* team, hy_worker_fn fn, void* context) {
  const Argument arguments[] = {Address("team", team), Address("context", context)};
  return Around({Verb::kTeamRun, arguments},
                [&] { return inner_->api().team_run(team, fn, context); });
}

hy_status Interposer::TeamReadback(hy_team* team, hy_array* workers) {
  const Argument arguments[] = {Address("team", team),
                                Number("capacity", workers == nullptr ? 0 : workers->capacity)};
  return Around({Verb::kTeamReadback, arguments},
                [&] { return inner_->api().team_readback(team, workers); });
}

hy_status Interposer::WorkerBind(hy_device* device, uint32_t pu, uint32_t mode,
                                 hy_worker_report* inout_report) {
  const Argument arguments[] = {Address("device", device), Number("pu", pu), Number("mode", mode)};
  return Around({Verb::kWorkerBind, arguments},
                [&] { return inner_->api().worker_bind(device, pu, mode, inout_report); });
}

hy_status Interposer::QueueCreate(hy_device* device, const hy_queue_desc* desc,
                                  hy_queue** out_queue) {
  const Argument arguments[] = {Address("device", device), Out("queue", out_queue)};
  return Around({Verb::kQueueCreate, arguments},
                [&] { return inner_->api().queue_create(device, desc, out_queue); });
}

hy_status Interposer::Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  const hy_submission known = Known(submission);
  const Argument arguments[] = {Address("device", device), Address("queue", queue),
                                Number("waits", known.waits.count), Number("ops", known.ops.count),
                                Number("signals", known.signals.count)};
  return Around({Verb::kSubmit, arguments},
                [&] { return inner_->api().submit(device, queue, submission); });
}

hy_status Interposer::FenceCreate(hy_device* device, uint64_t initial, hy_fence** out_fence) {
  const Argument arguments[] = {Address("device", device), Number("initial", initial),
                                Out("fence", out_fence)};
  return Around({Verb::kFenceCreate, arguments},
                [&] { return inner_->api().fence_create(device, initial, out_fence); });
}

hy_status Interposer::FenceWait(hy_device* device, const hy_wait_desc* desc) {
  const hy_wait_desc known = Known(desc);
  const Argument arguments[] = {Address("device", device), Number("mode", known.mode),
                                Number("points", known.points.count),
                                Number("deadline_ns", known.deadline_ns)};
  return Around({Verb::kFenceWait, arguments},
                [&] { return inner_->api().fence_wait(device, desc); });
}

hy_status Interposer::FenceSignal(hy_fence* fence, uint64_t value, hy_status status) {
  const Argument arguments[] = {Address("fence", fence), Number("value", value),
                                Text("status", hy_status_name(status))};
  return Around({Verb::kFenceSignal, arguments},
                [&] { return inner_->api().fence_signal(fence, value, status); });
}

hy_status Interposer::Timestamp(hy_device* device, hy_timestamp* out_timestamp) {
  const Argument arguments[] = {Address("device", device)};
  return Around({Verb::kTimestamp, arguments},
                [&] { return inner_->api().timestamp(device, out_timestamp); });
}

hy_status Interposer::Release(uint32_t kind, void* handle) {
  const Argument arguments[] = {Number("kind", kind), Address("handle", handle)};
  return Around({Verb::kRelease, arguments}, [&] { return inner_->api().release(kind, handle); });
}

}  // namespace halyard::hal
