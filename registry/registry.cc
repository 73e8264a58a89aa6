// SPDX-License-Identifier: Apache-2.0
#include "registry/registry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "registry/check_descriptor.h"

namespace halyard::registry {
namespace {

constexpr char kOwnProvider[] = "halyard";

std::string OwnAbi() { return absl::StrCat(HY_KERNEL_ABI_MAJOR, ".", HY_KERNEL_ABI_MINOR); }

absl::StatusOr<hy_kernel_table> CopyTable(const hy_kernel_table& given, bool built_in) {
  hy_kernel_table table;
  // The version first: a table of another major version may mean anything by the rest.
  if (given.struct_size >= 3 * sizeof(uint32_t) && given.abi_major != HY_KERNEL_ABI_MAJOR) {
    return absl::FailedPreconditionError(absl::StrCat(
        "is of kernel ABI ", given.abi_major, ".", given.abi_minor, ", and this Halyard has ",
        OwnAbi(), given.abi_major > HY_KERNEL_ABI_MAJOR ? ": update Halyard" : ": build it anew"));
  }
  const std::string fault = CopySized(&given, sizeof(hy_kernel_table), &table);
  if (!fault.empty()) return absl::InvalidArgumentError(fault);
  if (table.provider == nullptr || !IsWord(table.provider)) {
    return absl::InvalidArgumentError("has no provider in lower-case letters, digits, '_' and '.'");
  }
  if (!built_in && std::strcmp(table.provider, kOwnProvider) == 0) {
    return absl::InvalidArgumentError(
        "calls its provider halyard, which names what is built in: take a name of its own");
  }
  if ((table.kernel_count > 0 && table.kernels == nullptr) ||
      (table.layout_count > 0 && table.layouts == nullptr) ||
      (table.op_count > 0 && table.ops == nullptr)) {
    return absl::InvalidArgumentError("counts entries of an array that is NULL");
  }
  return table;
}

// A name of a descriptor that may be broken: for messages.
std::string Called(const char* name, const char* kind, uint64_t index) {
  return name != nullptr && name[0] != '\0' ? std::string(name) : absl::StrCat(kind, " ", index);
}

}  // namespace

Kernel::Kernel(const hy_kernel_desc& desc, const Op* op, Source source)
    : desc_(desc), op_(op), source_(std::move(source)) {}

Op::Op(const hy_op_desc& desc, Source source) : desc_(desc), source_(std::move(source)) {
  for (uint32_t i = 0; i < desc_.operand_count; ++i) {
    const uint32_t flags = desc_.operands[i].flags;
    if ((flags & HY_OPERAND_TYPED) == 0) continue;
    typed_.push_back(i);
    if ((flags & HY_OPERAND_WEIGHTS) != 0 && packable_ == HY_ID_NONE) packable_ = i;
  }
}

uint32_t Op::AllowedActivation(const void* args) const {
  if (desc_.activation_offset == 0) return HY_QA_ANY;
  uint32_t allowed = 0;
  std::memcpy(&allowed, static_cast<const unsigned char*>(args) + desc_.activation_offset,
              sizeof allowed);
  return allowed;
}

absl::Status Registry::Add(const hy_kernel_table& given, absl::string_view origin, bool built_in) {
  const absl::StatusOr<hy_kernel_table> table = CopyTable(given, built_in);
  if (!table.ok()) {
    return absl::Status(table.status().code(), absl::StrCat("the kernel table of ", origin, " ",
                                                            table.status().message()));
  }
  const Source source{table->provider, std::string(origin), built_in};
  AddLayouts(*table, source);
  AddOps(*table, source);
  AddKernels(*table, source);
  DropOpsWithoutReference();
  return absl::OkStatus();
}

void Registry::Refuse(const Source& source, const std::string& what, const std::string& reason) {
  Log(LogLevel::kWarning, absl::StrCat(source.origin, ": ", what, " ", reason));
  refusals_.push_back({source, what, reason});
}

void Registry::AddLayouts(const hy_kernel_table& table, const Source& source) {
  for (uint64_t i = 0; i < table.layout_count; ++i) {
    auto layout = std::make_unique<Layout>();
    layout->source = source;
    std::string fault = CopySized(table.layouts[i], sizeof(hy_layout_desc), &layout->desc);
    if (fault.empty()) fault = CheckLayout(layout->desc, source.provider, source.built_in);
    const Layout* taken = fault.empty() ? FindLayout(layout->desc.id) : nullptr;
    if (taken != nullptr) {
      fault = absl::StrCat("has id ", layout->desc.id, ", which ", taken->desc.name, " of ",
                           taken->source.origin, " has: take another number");
    }
    if (!fault.empty()) {
      const char* name = table.layouts[i] == nullptr ? nullptr : layout->desc.name;
      Refuse(source, Called(name, "layout", i), fault);
      continue;
    }
    layouts_by_id_[layout->desc.id] = layout.get();
    layout_list_.push_back(layout.get());
    layouts_.push_back(std::move(layout));
  }
}

void Registry::AddOps(const hy_kernel_table& table, const Source& source) {
  for (uint64_t i = 0; i < table.op_count; ++i) {
    hy_op_desc desc{};
    std::string fault = CopySized(table.ops[i], sizeof(hy_op_desc), &desc);
    if (fault.empty()) fault = CheckOp(desc);
    const Op* taken = fault.empty() ? FindOp(desc.name) : nullptr;
    if (taken != nullptr) {
      fault =
          absl::StrCat("is an op of ", taken->source().origin, " already: give it another name");
    }
    if (!fault.empty()) {
      Refuse(source, Called(desc.name, "op", i), fault);
      continue;
    }
    ops_.push_back(std::make_unique<Op>(desc, source));
    op_list_.push_back(ops_.back().get());
    ops_by_name_[desc.name] = ops_.back().get();
  }
}

std::string Registry::FaultOf(const hy_kernel_desc& desc, const Source& source) const {
  const auto found = ops_by_name_.find(desc.op == nullptr ? "" : desc.op);
  if (found == ops_by_name_.end())
    return absl::StrCat("is for op '", desc.op == nullptr ? "" : desc.op, "', which is not here");
  const Op& op = *found->second;
  std::string fault = CheckKernel(desc, op.desc(), source.provider);
  if (!fault.empty()) return fault;
  if (desc.layout != HY_LAYOUT_CANONICAL) {
    if (op.packable() == HY_ID_NONE)
      return absl::StrCat("needs packed weights, but no operand of ", desc.op, " can be packed");
    if (FindLayout(desc.layout) == nullptr)
      return absl::StrCat("needs layout ", desc.layout, ", which nobody gives");
  }
  if (const Kernel* taken = FindKernel(desc.id); taken != nullptr)
    return absl::StrCat("has the id of a kernel of ", taken->source().origin);
  if ((desc.flags & HY_KERNEL_REFERENCE) != 0) {
    if (op.source().origin != source.origin)
      return absl::StrCat("is a reference for an op of ", op.source().origin, ": leave the flag");
    if (!op.kernels().empty() && op.reference().is_reference()) return "is a second reference";
  }
  return "";
}

void Registry::AddKernels(const hy_kernel_table& table, const Source& source) {
  for (uint64_t i = 0; i < table.kernel_count; ++i) {
    hy_kernel_desc desc{};
    std::string fault = CopySized(table.kernels[i], sizeof(hy_kernel_desc), &desc);
    if (fault.empty()) fault = FaultOf(desc, source);
    if (fault.empty()) {
      Insert(desc, source);
    } else {
      Refuse(source, Called(desc.id, "kernel", i), fault);
    }
  }
}

void Registry::Insert(const hy_kernel_desc& desc, const Source& source) {
  Op* op = ops_by_name_.at(desc.op);
  kernels_.push_back(std::make_unique<Kernel>(desc, op, source));
  Kernel* kernel = kernels_.back().get();
  kernel_list_.push_back(kernel);
  kernels_by_id_[desc.id] = kernel;
  const auto before = [](const Kernel* a, const Kernel* b) {
    if (a->desc().priority != b->desc().priority) return a->desc().priority > b->desc().priority;
    return a->id() < b->id();
  };
  op->kernels_.insert(std::upper_bound(op->kernels_.begin(), op->kernels_.end(), kernel, before),
                      kernel);
}

void Registry::DropOpsWithoutReference() {
  for (size_t i = op_list_.size(); i-- > 0;) {
    const Op& op = *op_list_[i];
    if (!op.kernels().empty() && op.reference().is_reference()) continue;
    Refuse(op.source(), std::string(op.name()),
           "is an op without a reference: give a kernel of HY_KERNEL_REFERENCE with it");
    for (const Kernel* kernel : op.kernels()) {
      Refuse(kernel->source(), std::string(kernel->id()), "is for an op that was refused");
      kernels_by_id_.erase(std::string(kernel->id()));
      kernel_list_.erase(std::find(kernel_list_.begin(), kernel_list_.end(), kernel));
    }
    ops_by_name_.erase(std::string(op.name()));
    op_list_.erase(op_list_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

const Op* Registry::FindOp(absl::string_view name) const {
  const auto found = ops_by_name_.find(name);
  return found == ops_by_name_.end() ? nullptr : found->second;
}

const Kernel* Registry::FindKernel(absl::string_view id) const {
  const auto found = kernels_by_id_.find(id);
  return found == kernels_by_id_.end() ? nullptr : found->second;
}

const Layout* Registry::FindLayout(uint32_t id) const {
  const auto found = layouts_by_id_.find(id);
  return found == layouts_by_id_.end() ? nullptr : found->second;
}

std::string Registry::LayoutName(uint32_t id) const {
  if (id == HY_LAYOUT_CANONICAL) return "canonical";
  const Layout* layout = FindLayout(id);
  return layout == nullptr ? absl::StrCat("layout ", id) : std::string(layout->desc.name);
}

void Registry::Mark(const Kernel& kernel, bool forced, bool disabled) {
  Kernel& own = *kernels_by_id_.at(std::string(kernel.id()));
  own.forced_ = forced;
  own.disabled_ = disabled;
}

void Registry::Quarantine(const Kernel& kernel, absl::string_view reason) const {
  kernel.failures_.fetch_add(1, std::memory_order_relaxed);
  if (kernel.is_reference() || kernel.quarantined_.exchange(true, std::memory_order_acq_rel))
    return;
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  Log(LogLevel::kWarning, absl::StrCat(kernel.id(), " of ", kernel.source().origin,
                                       " failed and is set aside: ", reason));
}

}  // namespace halyard::registry
