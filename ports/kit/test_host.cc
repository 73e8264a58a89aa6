// SPDX-License-Identifier: Apache-2.0
#include "ports/kit/test_host.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace halyard::port_kit {
namespace {

struct State {
  std::mutex mutex;
  std::map<void*, size_t> held;  // bytes of pages; 0 for small memory
  uint64_t made = 0;
  uint64_t fail_nth = 0;
};

State& Global() {
  static State* state = new State;
  return *state;
}

thread_local std::string last_report;

hy_status ReportTo(hy_status status, const char* message) {
  last_report = message;
  return status;
}

void DropLog(uint32_t, const char*) {}

// Whether this allocation is the one that has to fail.
bool FailsNow(State& state) { return ++state.made == state.fail_nth; }

void* MemoryAlloc(uint64_t bytes, uint64_t alignment) {
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (FailsNow(state)) return nullptr;
  const size_t rounded = static_cast<size_t>((bytes + alignment - 1) / alignment * alignment);
  void* ptr = std::aligned_alloc(static_cast<size_t>(alignment), rounded);
  if (ptr != nullptr) state.held[ptr] = 0;
  return ptr;
}

void MemoryFree(void* ptr) {
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.held.erase(ptr);
  std::free(ptr);
}

hy_status PagesAlloc(const hy_alloc_desc* desc, void** out_ptr, hy_placement* out_placement) {
  hy_alloc_desc known;
  const hy_status status = hy_read_struct(&known, sizeof known, desc);
  if (status != HY_OK) return status;
  if (known.bytes == 0 || (known.alignment & (known.alignment - 1)) != 0 ||
      (known.flags >> 3) != 0 || known.node_policy > HY_NODES_INTERLEAVE) {
    return HY_INVALID_ARGUMENT;
  }
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (FailsNow(state) || known.bytes > (uint64_t{1} << 40)) return HY_RESOURCE_EXHAUSTED;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<size_t>((known.bytes + page - 1) / page * page);
  void* ptr = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (ptr == MAP_FAILED) return HY_RESOURCE_EXHAUSTED;
  state.held[ptr] = bytes;
  *out_ptr = ptr;
  if (out_placement != nullptr) out_placement->known = 0;
  return HY_OK;
}

hy_status PagesFree(void* ptr) {
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto found = state.held.find(ptr);
  if (found == state.held.end()) return HY_INVALID_ARGUMENT;
  munmap(ptr, found->second);
  state.held.erase(found);
  return HY_OK;
}

hy_status PagesQuery(const void*, uint64_t, hy_placement* out_placement) {
  hy_placement known = {};
  return hy_write_struct(out_placement, &known, sizeof known);
}

hy_status TopologyRead(hy_topology* inout_topology) {
  return inout_topology == nullptr ? HY_INVALID_ARGUMENT : HY_UNIMPLEMENTED;
}

hy_status WorkerBind(uint32_t, uint32_t mode, hy_worker_report* out_report) {
  if (out_report == nullptr || (mode != HY_BIND_ENTER && mode != HY_BIND_LEAVE)) {
    return HY_INVALID_ARGUMENT;
  }
  return HY_OK;
}

hy_status Timestamp(hy_timestamp* out_timestamp) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  hy_timestamp known = {};
  known.host_ns =
      static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
  known.ticks = known.host_ns;
  known.hz = 1000000000;
  return hy_write_struct(out_timestamp, &known, sizeof known);
}

hy_array InArray(const void* data, size_t count, size_t stride) {
  hy_array array = {};
  array.data = const_cast<void*>(data);
  array.count = static_cast<uint32_t>(count);
  array.capacity = array.count;
  array.stride = static_cast<uint32_t>(stride);
  return array;
}

hy_map_desc MapDesc(uint64_t offset, uint64_t bytes, uint64_t access) {
  return {sizeof(hy_map_desc), 0, offset, bytes, access};
}

}  // namespace

const hy_host_services* TestHost() {
  static const hy_host_services kServices = {sizeof(hy_host_services),
                                             HY_HAL_ABI_MAJOR,
                                             HY_HAL_ABI_MINOR,
                                             0,
                                             ReportTo,
                                             DropLog,
                                             MemoryAlloc,
                                             MemoryFree,
                                             PagesAlloc,
                                             PagesFree,
                                             PagesQuery,
                                             TopologyRead,
                                             WorkerBind,
                                             Timestamp};
  return &kServices;
}

uint64_t HeldAllocations() {
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.held.size();
}

uint64_t FailAllocation(uint64_t nth) {
  State& state = Global();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.fail_nth = nth;
  return std::exchange(state.made, 0);
}

std::string LastReport() { return last_report; }

hy_op NewOp(uint32_t kind) {
  hy_op op = {};
  op.struct_size = sizeof op;
  op.kind = kind;
  return op;
}

hy_op CopyIn(const void* src, hy_buffer* dst, uint64_t dst_offset, uint64_t bytes) {
  hy_op op = NewOp(HY_OP_COPY);
  op.src_host = src;
  op.dst = dst;
  op.dst_offset = dst_offset;
  op.bytes = bytes;
  return op;
}

hy_op CopyOut(hy_buffer* src, uint64_t src_offset, void* dst, uint64_t bytes) {
  hy_op op = NewOp(HY_OP_COPY);
  op.src = src;
  op.src_offset = src_offset;
  op.dst_host = dst;
  op.bytes = bytes;
  return op;
}

hy_op Fill(hy_buffer* dst, uint64_t offset, uint64_t bytes, uint32_t pattern,
           uint32_t pattern_bytes) {
  hy_op op = NewOp(HY_OP_FILL);
  op.dst = dst;
  op.dst_offset = offset;
  op.bytes = bytes;
  op.pattern = pattern;
  op.pattern_bytes = pattern_bytes;
  return op;
}

TestDevice::TestDevice(hy_hal_get_fn get, const Options& options)
    : api_(get(HY_HAL_ABI_MAJOR, HY_HAL_ABI_MINOR, TestHost(), nullptr)) {
  std::vector<hy_option> records;
  for (const auto& [key, value] : options) {
    records.push_back({sizeof(hy_option), 0, key.c_str(), value.c_str()});
  }
  hy_open_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.options = InArray(records.data(), records.size(), sizeof(hy_option));
  open_status_ = api_->open(api_, &desc, &device_);
}

TestDevice::~TestDevice() {
  for (hy_buffer* buffer : buffers_) hy_buffer_release(api_, buffer);
  hy_device_release(api_, device_);
}

hy_buffer* TestDevice::NewBuffer(uint64_t bytes) {
  hy_alloc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.memory_class = HY_ID_NONE;
  desc.bytes = bytes;
  desc.flags = HY_ALLOC_ZERO;
  hy_buffer* buffer = nullptr;
  if (api_->alloc(device_, &desc, &buffer, nullptr) == HY_OK) buffers_.push_back(buffer);
  return buffer;
}

hy_status TestDevice::Submit(std::initializer_list<hy_op> ops, hy_queue* queue,
                             std::initializer_list<hy_fence_point> waits,
                             std::initializer_list<hy_fence_point> signals) {
  hy_submission submission = {};
  submission.struct_size = sizeof submission;
  submission.ops = InArray(ops.begin(), ops.size(), sizeof(hy_op));
  submission.waits = InArray(waits.begin(), waits.size(), sizeof(hy_fence_point));
  submission.signals = InArray(signals.begin(), signals.size(), sizeof(hy_fence_point));
  return api_->submit(device_, queue, &submission);
}

uint8_t* TestDevice::Map(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access) {
  const hy_map_desc desc = MapDesc(offset, bytes, access);
  void* ptr = nullptr;
  return api_->map(buffer, &desc, &ptr) == HY_OK ? static_cast<uint8_t*>(ptr) : nullptr;
}

hy_status TestDevice::Unmap(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint64_t access,
                            void* ptr) {
  const hy_map_desc desc = MapDesc(offset, bytes, access);
  return api_->unmap == nullptr ? HY_OK : api_->unmap(buffer, &desc, ptr);
}

}  // namespace halyard::port_kit
