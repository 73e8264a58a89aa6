// SPDX-License-Identifier: Apache-2.0
//
// A simulated device whose memory the host cannot reach: its pages are PROT_NONE but while `submit`
// copies or fills them. Code that touches such memory as if it were the host's faults here, on any
// machine, instead of at a customer's. Tier 0: submit runs everything before it returns.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

#include "halyard/hal_port.h"
#include "ports/kit/object.h"
#include "ports/kit/one_device.h"
#include "ports/kit/ops.h"
#include "ports/kit/verbs.h"

namespace halyard::sim_discrete {
namespace {

using port_kit::As;
using port_kit::Report;

const hy_host_services* host;

struct Device : port_kit::Object {
  static constexpr uint32_t kKind = HY_KIND_DEVICE;
  using Options = port_kit::NoOptions;
  explicit Device(Options) : Object(kKind) {}
  std::mutex engine;  // one copy at a time, so that no two windows on a page overlap
};

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

struct Buffer : port_kit::Buffer {
  Buffer(Device*, uint64_t size_bytes) : port_kit::Buffer(size_bytes), pages(host) {}
  hy_status Take(hy_alloc_desc desc, hy_placement* out_placement);
  hy_status Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const;
  port_kit::HostPages pages;
};

hy_status Buffer::Take(hy_alloc_desc desc, hy_placement* out_placement) {
  if (desc.alignment < PageBytes()) desc.alignment = PageBytes();
  hy_status status = port_kit::WriteUnknownPlacement(out_placement);
  if (status == HY_OK) status = pages.Take(desc, nullptr);
  if (status != HY_OK) return status;
  if (mprotect(pages.data(), static_cast<size_t>(bytes), PROT_NONE) == 0) return HY_OK;
  return Report(host, HY_RESOURCE_EXHAUSTED, "alloc: the system refused to close the pages");
}

hy_status Buffer::Query(const hy_query_desc& query, void* answer, uint64_t* inout_bytes) const {
  return port_kit::AnswerBuffer(pages.data(), query, answer, inout_bytes);
}

struct Port {
  using Device = sim_discrete::Device;
  using Buffer = sim_discrete::Buffer;
  static const hy_host_services* Host() { return host; }
  static const port_kit::DeviceFacts& Facts();
};
using Verbs = port_kit::OneDevicePort<Port>;

const port_kit::DeviceFacts& Port::Facts() {
  static const port_kit::DeviceRecord kRecord({.port = "sim_discrete",
                                               .title = "Simulated discrete device",
                                               .kind = HY_DEVICE_DISCRETE,
                                               .caps = HY_CAP_REOPEN,
                                               .class_id = 7,
                                               .class_name = "device",
                                               .class_flags = HY_MEMORY_DEVICE_LOCAL,
                                               .min_alignment = 256,
                                               .memory_bytes = port_kit::HostMemoryBytes()});
  return kRecord.facts();
}

// The pages of a range, open to the host while this lives. Needs the device's engine.
class Window {
 public:
  Window(const hy_buffer* handle, uint64_t offset, uint64_t bytes) {
    const auto* buffer = As<const Buffer>(handle);
    const uint64_t page = PageBytes();
    const uint64_t first = offset / page * page;
    data_ = buffer->pages.data() + offset;
    pages_ = buffer->pages.data() + first;
    pages_bytes_ = static_cast<size_t>(offset + bytes - first);
    open_ = mprotect(pages_, pages_bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  ~Window() { mprotect(pages_, pages_bytes_, PROT_NONE); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  uint8_t* data() const { return open_ ? data_ : nullptr; }

 private:
  uint8_t* data_;
  uint8_t* pages_;
  size_t pages_bytes_;
  bool open_;
};

hy_status WindowFailed() {
  return Report(host, HY_RESOURCE_EXHAUSTED, "the system refused to open pages of the device");
}

class Engine final : public port_kit::Mover {
 public:
  explicit Engine(Device* device) : device_(device) {}

  hy_status Copy(const hy_op& op) override {
    const std::lock_guard<std::mutex> lock(device_->engine);
    const auto bytes = static_cast<size_t>(op.bytes);
    if (op.src == nullptr) {
      const Window dst(op.dst, op.dst_offset, op.bytes);
      if (dst.data() == nullptr) return WindowFailed();
      std::memcpy(dst.data(), static_cast<const uint8_t*>(op.src_host) + op.src_offset, bytes);
      return HY_OK;
    }
    const Window src(op.src, op.src_offset, op.bytes);
    if (src.data() == nullptr) return WindowFailed();
    if (op.dst == nullptr) {
      std::memcpy(static_cast<uint8_t*>(op.dst_host) + op.dst_offset, src.data(), bytes);
      return HY_OK;
    }
    const Window dst(op.dst, op.dst_offset, op.bytes);
    if (dst.data() == nullptr) return WindowFailed();
    std::memmove(dst.data(), src.data(), bytes);  // both may be ranges of one buffer
    return HY_OK;
  }

  hy_status Fill(const hy_op& op) override {
    const std::lock_guard<std::mutex> lock(device_->engine);
    const Window dst(op.dst, op.dst_offset, op.bytes);
    if (dst.data() == nullptr) return WindowFailed();
    port_kit::FillBytes(dst.data(), op.bytes, op.pattern, op.pattern_bytes);
    return HY_OK;
  }

 private:
  Device* const device_;
};

hy_status Submit(hy_device* device, hy_queue* queue, const hy_submission* submission) {
  return port_kit::SubmitInline<Device, Engine>(host, device, queue, submission);
}

constexpr hy_hal_api kTable = [] {
  hy_hal_api table = Verbs::Table("sim_discrete");
  table.submit = Submit;
  return table;
}();

}  // namespace
}  // namespace halyard::sim_discrete

HALYARD_HAL_DEFINE(halyard::sim_discrete::kTable, halyard::sim_discrete::host)
