// SPDX-License-Identifier: Apache-2.0
//
// What there is to run: ops, their kernels and packed layouts, from the tree's own table and from
// plugins, each descriptor checked when it comes in.
//
// A registry is filled by one thread, and then shared by all: from then on only counters and the
// quarantine change, and any thread may use it. It outlives the plans and runners made from it.
#ifndef HALYARD_REGISTRY_REGISTRY_H_
#define HALYARD_REGISTRY_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/kernel.h"
#include "registry/fallback_log.h"

namespace halyard::registry {

class Op;

/// Where a descriptor came from.
struct Source {
  std::string provider;  ///< "halyard", "acme"
  std::string origin;    ///< "built in", or the path of the plugin
  /// Linked into the program. Such kernels return OK or a status about the data; all others may fail,
  /// and what they could destroy is kept until they are done.
  bool built_in = false;
};

/// A packed layout.
struct Layout {
  hy_layout_desc desc;
  Source source;
};

/// A kernel, and what became of it in this process.
class Kernel {
 public:
  Kernel(const hy_kernel_desc& desc, const Op* op, Source source);

  const hy_kernel_desc& desc() const { return desc_; }
  absl::string_view id() const { return desc_.id; }
  const Op& op() const { return *op_; }
  const Source& source() const { return source_; }
  bool is_reference() const { return (desc_.flags & HY_KERNEL_REFERENCE) != 0; }

  /// Set aside after a failure: selection passes it over.
  bool quarantined() const { return quarantined_.load(std::memory_order_acquire); }

  /// Runs that ended in OK or a status about the data. Counted where the kernel ran, not where it
  /// was chosen.
  uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }
  /// Runs that ended in UNIMPLEMENTED before the first write.
  uint64_t declined() const { return declined_.load(std::memory_order_relaxed); }
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

  void CountRuns(uint64_t runs) const { runs_.fetch_add(runs, std::memory_order_relaxed); }
  void CountDeclined() const { declined_.fetch_add(1, std::memory_order_relaxed); }
  /// By HALYARD_FORCE_KERNEL, HALYARD_DISABLE_KERNEL; see overrides.h.
  bool forced() const { return forced_; }
  bool disabled() const { return disabled_ && !forced_ && !is_reference(); }

 private:
  friend class Registry;
  const hy_kernel_desc desc_;
  const Op* const op_;
  const Source source_;
  bool forced_ = false;
  bool disabled_ = false;
  mutable std::atomic<bool> quarantined_{false};
  mutable std::atomic<uint64_t> runs_{0};
  mutable std::atomic<uint64_t> declined_{0};
  mutable std::atomic<uint64_t> failures_{0};
};

/// An op with its kernels.
class Op {
 public:
  Op(const hy_op_desc& desc, Source source);

  const hy_op_desc& desc() const { return desc_; }
  absl::string_view name() const { return desc_.name; }
  const Source& source() const { return source_; }
  /// All of them, the highest priority first; the last is the reference.
  absl::Span<const Kernel* const> kernels() const { return kernels_; }
  const Kernel& reference() const { return *kernels_.back(); }

  absl::Span<const hy_operand> operands() const {
    return absl::MakeSpan(desc_.operands, desc_.operand_count);
  }
  const hy_tensor& tensor(size_t operand, const void* args) const {
    return *hy_operand_tensor(&desc_.operands[operand], args);
  }
  hy_tensor& tensor(size_t operand, void* args) const {
    return *const_cast<hy_tensor*>(hy_operand_tensor(&desc_.operands[operand], args));
  }
  /// Operands whose types are the type tuple, in order.
  absl::Span<const uint32_t> typed() const { return typed_; }
  /// The operand that may be packed; HY_ID_NONE if there is none.
  uint32_t packable() const { return packable_; }
  /// HY_QA_* that args allow.
  uint32_t AllowedActivation(const void* args) const;

 private:
  friend class Registry;
  const hy_op_desc desc_;
  const Source source_;
  std::vector<const Kernel*> kernels_;
  std::vector<uint32_t> typed_;
  uint32_t packable_ = HY_ID_NONE;
};

/// A descriptor that was not taken.
struct Refusal {
  Source source;
  std::string what;    ///< its id or name, or its place in the table
  std::string reason;  ///< what is wrong and what to do
};

class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Takes what a table gives: layouts, then ops, then kernels. A bad descriptor is refused with a
  /// reason (`refusals`), the others stay; an op without a reference is refused.
  /// Errors   INVALID_ARGUMENT, FAILED_PRECONDITION: nothing of the table can be used.
  absl::Status Add(const hy_kernel_table& table, absl::string_view origin, bool built_in);

  absl::Span<const Op* const> ops() const { return op_list_; }
  absl::Span<const Kernel* const> kernels() const { return kernel_list_; }
  absl::Span<const Layout* const> layouts() const { return layout_list_; }
  absl::Span<const Refusal> refusals() const { return refusals_; }

  /// nullptr if there is none.
  const Op* FindOp(absl::string_view name) const;
  const Kernel* FindKernel(absl::string_view id) const;
  const Layout* FindLayout(uint32_t id) const;
  /// "canonical", the layout's name, or its number if nobody gave it.
  std::string LayoutName(uint32_t id) const;

  /// Marks kernels for HALYARD_FORCE_KERNEL and HALYARD_DISABLE_KERNEL. For overrides.h.
  void Mark(const Kernel& kernel, bool forced, bool disabled);

  /// Sets a kernel aside until the process ends, counts the failure and says so once. The reference
  /// stays in use: there is nothing behind it.
  void Quarantine(const Kernel& kernel, absl::string_view reason) const;
  /// Grows with each kernel that is set aside, so that plans know when to look again.
  uint64_t quarantine_epoch() const { return epoch_.load(std::memory_order_acquire); }

  const FallbackLog& fallbacks() const { return fallbacks_; }

 private:
  void AddLayouts(const hy_kernel_table& table, const Source& source);
  void AddOps(const hy_kernel_table& table, const Source& source);
  void AddKernels(const hy_kernel_table& table, const Source& source);
  std::string FaultOf(const hy_kernel_desc& desc, const Source& source) const;
  void Insert(const hy_kernel_desc& desc, const Source& source);
  void DropOpsWithoutReference();
  void Refuse(const Source& source, const std::string& what, const std::string& reason);

  std::vector<std::unique_ptr<Layout>> layouts_;
  std::vector<std::unique_ptr<Op>> ops_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<const Layout*> layout_list_;
  std::vector<const Op*> op_list_;
  std::vector<const Kernel*> kernel_list_;
  absl::flat_hash_map<std::string, Op*> ops_by_name_;
  absl::flat_hash_map<std::string, Kernel*> kernels_by_id_;
  absl::flat_hash_map<uint32_t, const Layout*> layouts_by_id_;
  std::vector<Refusal> refusals_;
  FallbackLog fallbacks_;
  mutable std::atomic<uint64_t> epoch_{0};
};

}  // namespace halyard::registry

#endif  // HALYARD_REGISTRY_REGISTRY_H_
