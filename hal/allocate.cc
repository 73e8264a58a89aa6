// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hal/buffer_state.h"
#include "hal/device.h"
#include "hal/transfer.h"
#include "halyard/hal_port.h"

namespace halyard::hal {
namespace {

/// hy_placement with room for every node that a Linux kernel can have.
class PlacementReader {
 public:
  PlacementReader() {
    raw_.struct_size = sizeof raw_;
    raw_.nodes.data = nodes_.data();
    raw_.nodes.capacity = static_cast<uint32_t>(nodes_.size());
    raw_.nodes.stride = sizeof(hy_node_bytes);
  }
  hy_placement* raw() { return &raw_; }

  Placement Take() const {
    Placement out;
    out.known = raw_.known;
    out.page_bytes = raw_.page_bytes;
    out.huge_bytes = raw_.huge_bytes;
    out.resident_bytes = raw_.resident_bytes;
    out.reasons = raw_.reasons;
    const size_t count = std::min<size_t>(raw_.nodes.count, nodes_.size());
    out.nodes.assign(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(count));
    return out;
  }

 private:
  static constexpr size_t kMaxNodes = 1024;  // 1 << CONFIG_NODES_SHIFT at its largest
  hy_placement raw_{};
  std::array<hy_node_bytes, kMaxNodes> nodes_{};
};

template <typename Record>
hy_array InArray(const std::vector<Record>& records) {
  hy_array array{};
  array.data = const_cast<Record*>(records.data());  // the callee only reads it
  array.count = static_cast<uint32_t>(records.size());
  array.stride = sizeof(Record);
  return array;
}

absl::Status CheckShape(const DeviceFacts& facts, const AllocRequest& request) {
  if (request.bytes == 0) return absl::InvalidArgumentError("an allocation of no bytes");
  if ((request.alignment & (request.alignment - 1)) != 0 && request.alignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the alignment must be a power of two, and is ", request.alignment));
  }
  if (request.bytes > facts.max_alloc_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(request.bytes, " bytes are more than one allocation can have here, which is ",
                     facts.max_alloc_bytes, ": split it"));
  }
  const auto has_id = [&request](const hy_memory_class& memory) {
    return memory.id == request.memory_class;
  };
  if (request.memory_class != HY_ID_NONE &&
      std::none_of(facts.memory_classes.begin(), facts.memory_classes.end(), has_id)) {
    return absl::UnimplementedError(
        absl::StrCat("the device has no memory class ", request.memory_class));
  }
  return absl::OkStatus();
}

absl::Status CheckWords(const AllocRequest& request) {
  constexpr uint64_t kKnown = HY_ALLOC_PREFAULT | HY_ALLOC_ZERO | HY_ALLOC_IMMUTABLE;
  if ((request.flags & ~kKnown) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("unknown allocation flags in ", request.flags));
  }
  if (request.usage > HY_USE_SCRATCH) {
    return absl::InvalidArgumentError(absl::StrCat("unknown usage ", request.usage));
  }
  if (request.node_policy > HY_NODES_INTERLEAVE) {
    return absl::InvalidArgumentError(absl::StrCat("unknown node policy ", request.node_policy));
  }
  if (request.node_policy == HY_NODES_BIND && request.nodes.empty()) {
    return absl::InvalidArgumentError("the node policy BIND needs nodes to bind to");
  }
  return absl::OkStatus();
}

/// Takes out the wishes that the device has no words for. A preferred one gives its reasons.
/// Errors   UNIMPLEMENTED: a required one.
absl::StatusOr<uint64_t> DropUnknownWishes(uint64_t caps, AllocRequest* request) {
  uint64_t reasons = 0;
  if (request->node_policy != HY_NODES_DEFAULT && (caps & HY_CAP_NODE_POLICY) == 0) {
    if (request->require_nodes) {
      return absl::UnimplementedError("the device has no node policies: do not require nodes");
    }
    request->node_policy = HY_NODES_DEFAULT;
    request->nodes.clear();
    reasons |= HY_REASON_FELL_BACK | HY_REASON_POLICY_DENIED;
  }
  if (!request->pages.empty() && (caps & HY_CAP_PAGE_POLICY) == 0) {
    const bool wants_base = request->pages.front() == HY_PAGE_BASE;
    if (request->require_pages && !wants_base) {
      return absl::UnimplementedError("the device has no choice of pages: do not require pages");
    }
    request->pages.clear();
    request->require_pages = false;
    if (!wants_base) reasons |= HY_REASON_FELL_BACK | HY_REASON_SIZE_UNSUPPORTED;
  }
  return reasons;
}

hy_alloc_desc AllocDesc(const AllocRequest& request) {
  hy_alloc_desc desc{};
  desc.struct_size = sizeof desc;
  desc.memory_class = request.memory_class;
  desc.bytes = request.bytes;
  desc.alignment = request.alignment;
  desc.node_policy = request.node_policy;
  desc.node_strength = request.require_nodes ? HY_REQUIRE : HY_PREFER;
  desc.nodes = InArray(request.nodes);
  desc.pages = InArray(request.pages);
  desc.page_strength = request.require_pages ? HY_REQUIRE : HY_PREFER;
  desc.usage = request.usage;
  desc.flags = request.flags;
  return desc;
}

/// `request` was checked.
absl::StatusOr<std::shared_ptr<BufferState>> AllocateOnPort(
    const std::shared_ptr<DeviceState>& device, const AllocRequest& request,
    BufferState::Traits traits) {
  const hy_alloc_desc desc = AllocDesc(request);
  PlacementReader placement;
  hy_buffer* handle = nullptr;
  HY_RETURN_IF_ERROR(device->Check(
      device->api().alloc(device->handle(), &desc, &handle, placement.raw()), "alloc"));
  if (handle == nullptr) {
    return absl::InternalError("alloc of the port said OK and gave no buffer");
  }
  const uint64_t reasons = traits.placement.reasons;
  traits.placement = placement.Take();
  traits.placement.reasons |= reasons;
  traits.size_bytes = request.bytes;
  traits.memory_class = request.memory_class != HY_ID_NONE
                            ? request.memory_class
                            : device->facts().memory_classes.front().id;
  return std::make_shared<BufferState>(device, handle, std::move(traits));
}

void CallReleaseOnce(void* context) {
  const std::unique_ptr<std::function<void()>> on_release(
      static_cast<std::function<void()>*>(context));
  (*on_release)();
}

/// Shares the memory with the port. UNIMPLEMENTED: the port does not.
absl::StatusOr<std::shared_ptr<BufferState>> ShareWithPort(
    const std::shared_ptr<DeviceState>& device, void* ptr, BufferState::Traits traits,
    const std::function<void()>& on_release) {
  if (device->api().import_host == nullptr) {
    return absl::UnimplementedError("the port does not import host memory");
  }
  hy_import_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ptr = ptr;
  desc.bytes = traits.size_bytes;
  desc.flags = traits.read_only ? HY_IMPORT_READ_ONLY : 0;
  std::unique_ptr<std::function<void()>> context;
  if (on_release) {
    context = std::make_unique<std::function<void()>>(on_release);
    desc.on_release = &CallReleaseOnce;
    desc.context = context.get();
  }
  hy_buffer* handle = nullptr;
  HY_RETURN_IF_ERROR(
      device->Check(device->api().import_host(device->handle(), &desc, &handle), "import_host"));
  context.release();  // the port's to call now
  if (handle == nullptr) {
    return absl::InternalError("import_host of the port said OK and gave no buffer");
  }
  traits.shares_host_memory = true;
  return std::make_shared<BufferState>(device, handle, std::move(traits));
}

absl::StatusOr<std::shared_ptr<BufferState>> CopyToPort(const std::shared_ptr<DeviceState>& device,
                                                        const void* ptr,
                                                        BufferState::Traits traits) {
  AllocRequest request;
  request.bytes = traits.size_bytes;
  HY_RETURN_IF_ERROR(CheckShape(device->facts(), request));
  HY_ASSIGN_OR_RETURN(std::shared_ptr<BufferState> buffer,
                      AllocateOnPort(device, request, std::move(traits)));
  Op op;
  op.kind = HY_OP_COPY;
  op.src_host = ptr;
  op.dst = buffer;
  op.bytes = request.bytes;
  HY_RETURN_IF_ERROR(RunCopy(*device, device->submitter(), op));
  return buffer;
}

}  // namespace

absl::StatusOr<Buffer> Device::Allocate(const AllocRequest& request) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  HY_RETURN_IF_ERROR(CheckShape(state_->facts(), request));
  HY_RETURN_IF_ERROR(CheckWords(request));
  AllocRequest wishes = request;
  BufferState::Traits traits;
  HY_ASSIGN_OR_RETURN(traits.placement.reasons, DropUnknownWishes(caps(), &wishes));
  HY_ASSIGN_OR_RETURN(std::shared_ptr<BufferState> buffer,
                      AllocateOnPort(state_, wishes, std::move(traits)));
  return Buffer(std::move(buffer));
}

absl::StatusOr<Buffer> Device::ImportHost(void* ptr, uint64_t bytes, bool read_only,
                                          std::function<void()> on_release) const {
  HY_RETURN_IF_ERROR(state_->CheckUsable());
  if (ptr == nullptr || bytes == 0) return absl::InvalidArgumentError("an import of no memory");
  if (bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(ptr)) {
    return absl::InvalidArgumentError("the imported range leaves the address space");
  }
  BufferState::Traits traits;
  traits.size_bytes = bytes;
  traits.read_only = read_only;
  absl::StatusOr<std::shared_ptr<BufferState>> shared =
      ShareWithPort(state_, ptr, traits, on_release);
  if (shared.ok()) return Buffer(*std::move(shared));
  if (!absl::IsUnimplemented(shared.status())) return shared.status();
  HY_ASSIGN_OR_RETURN(std::shared_ptr<BufferState> copied,
                      CopyToPort(state_, ptr, std::move(traits)));
  if (on_release) on_release();
  return Buffer(std::move(copied));
}

absl::StatusOr<Placement> Buffer::QueryPlacement() const {
  DeviceState& device = *state_->device();
  HY_RETURN_IF_ERROR(device.CheckUsable());
  PlacementReader placement;
  hy_query_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = HY_KIND_BUFFER;
  desc.handle = state_->handle();
  desc.key = HY_QUERY_PLACEMENT;
  uint64_t bytes = sizeof(hy_placement);
  const absl::Status status =
      device.Check(device.api().query(&desc, placement.raw(), &bytes), "query");
  if (absl::IsUnimplemented(status)) return Placement{};
  HY_RETURN_IF_ERROR(status);
  return placement.Take();
}

absl::StatusOr<uint64_t> Buffer::QueryU64(uint32_t key) const {
  DeviceState& device = *state_->device();
  HY_RETURN_IF_ERROR(device.CheckUsable());
  uint64_t value = 0;
  HY_RETURN_IF_ERROR(device.Check(
      hy_query_u64(&device.api(), HY_KIND_BUFFER, state_->handle(), key, &value), "query"));
  return value;
}

}  // namespace halyard::hal
