// SPDX-License-Identifier: Apache-2.0
//
// The kernel interface, ABI 1: what an op is, what a kernel says of itself, and how it is run.
// C11 and C++20. A plugin with kernels needs this header, ops/<op>/contract.h, and nothing to link.
//
// An op is a contract: maths, shapes, types, edge cases, error budget, in ops/<op>/contract.h. A
// kernel implements it for some types, shapes and instruction sets. Whoever runs an op has it
// checked once (hy_op_desc::validate), lets the registry pick a kernel, and runs that many times.
//
// Run is SPMD: every worker of the team calls it with its index, phase by phase; the runtime waits
// for all workers between phases, so kernels hold no barrier, lock or thread of their own.
//
// What kernels are promised: args passed validate and supports; memory stays as it is for the
// whole run; scratch is as large as asked for, 64-byte aligned, holds anything; all workers of a run
// see the same args. What they promise, each with a test in conformance level L1:
//
// [OP-RUN-01] Reads and writes only the elements of its operands, and its scratch.
// [OP-RUN-02] Never reads an output before it wrote it, whatever it holds.
// [OP-RUN-03] Returns UNIMPLEMENTED only before its first write, and then leaves outputs as they were.
// [OP-RUN-04] Keeps no state between runs; runs of one kernel may overlap in time.
// [OP-RUN-05] Works for every count of workers from 1 on, above the rows to share out as well.
// [OP-RUN-06] Restores the floating-point control state and all registers that its ABI says.
// [OP-RUN-07] Stays within the contract's error budget for its declared numerics.
// [OP-RUN-08] Gives the same bits for the same args, isa and count; with HY_KERNEL_COUNT_INVARIANT
//             for every count; with HY_KERNEL_ROW_INVARIANT a row does not depend on other rows.
// [OP-RUN-09] Refuses by supports what it cannot do, with a reason; run may rely on it.
// [OP-RUN-10] Never allocates, blocks, prints, throws, aborts, or calls into the system.
#ifndef HALYARD_KERNEL_H_
#define HALYARD_KERNEL_H_

#include "halyard/hal_types.h"
#include "halyard/isa.h"
#include "halyard/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HY_KERNEL_ABI_MAJOR 1u
#define HY_KERNEL_ABI_MINOR 0u

// ------------------------------------------------------------------------------------- reasons ---

/// Why something was refused; NUL-terminated, cut where it is too long.
typedef struct hy_why {
  char text[192];
} hy_why;

/// Writes a reason; `why` may be NULL. Returns 0, so that a predicate can return it.
static inline int hy_refuse(hy_why* why, const char* reason) {
  size_t i = 0;
  if (why == NULL) return 0;
  for (; i + 1 < sizeof why->text && reason[i] != '\0'; ++i) why->text[i] = reason[i];
  why->text[i] = '\0';
  return 0;
}

// ----------------------------------------------------------------------------------------- ops ---

// Flags of an operand. READ and WRITE together: elements that the op does not name keep what they
// hold, and those that it writes do not depend on it, so that a second run gives the same.
#define HY_OPERAND_READ 1u
#define HY_OPERAND_WRITE 2u
#define HY_OPERAND_OPTIONAL 4u  ///< may be absent
/// Constant over many runs: is shadowed on devices; the first that is TYPED too may be packed.
#define HY_OPERAND_WEIGHTS 8u
#define HY_OPERAND_TYPED 16u  ///< its type is part of the op's type tuple
#define HY_OPERAND_IN_PLACE \
  32u  ///< read operand that the (first) output may be exactly the same as

/// The op can be run piece by piece along this axis, counted from the last, which is 1: in each of
/// the HY_SLICE_GROUPS groups, pieces of all operands with a SLICE of that group, all other operands
/// whole, give the same piece of the outputs. A read operand of size 1 there stays whole. For memory
/// that cannot hold whole operands: rows of matmul are group 0 (x: 2, y: 2), columns group 1 (w: 2,
/// bias: 1, y: 1).
#define HY_OPERAND_SLICE(group, axis_from_last) ((uint32_t)(axis_from_last) << (8 + 4 * (group)))
#define HY_SLICE_GROUPS 2
/// Axis of an operand in a group; 0 if it has none.
#define HY_OPERAND_SLICE_AXIS(flags, group) ((flags) >> (8 + 4 * (group)) & 15u)

/// Where a tensor lies in an op's args.
typedef struct hy_operand {
  const char* name;
  uint32_t offset;  ///< bytes, of the hy_tensor
  uint32_t flags;   ///< HY_OPERAND_*
} hy_operand;

#define HY_MAX_OPERANDS 12
#define HY_MAX_TYPES 4

/// An op. `args` below is the struct of its contract.h, whose first field is struct_size.
typedef struct hy_op_desc {
  uint32_t struct_size;
  uint32_t version;  ///< of the contract
  const char* name;  ///< "matmul"
  uint32_t args_bytes;
  uint32_t operand_count;
  const hy_operand* operands;
  /// Checks all that the contract demands of args. Threads: any; pure.
  /// Errors   INVALID_ARGUMENT with a reason that names the operand and what to do.
  hy_status (*validate)(const void* args, hy_why* why);
  /// Arithmetic operations (a multiply-add is two) of one run.
  uint64_t (*flops)(const void* args);
  /// Bytes that one run must move at least. NULL: each operand's elements once.
  uint64_t (*bytes)(const void* args);
  /// Offset in args of the uint32_t HY_QA_* that the caller allows; 0: the op has no such choice.
  uint32_t activation_offset;
  uint32_t reserved;
} hy_op_desc;

// ------------------------------------------------------------------------------------- kernels ---

/// How a matmul treats its activations; also what a caller allows, in its args.
enum {
  HY_QA_ANY = 0,         ///< in args: the kernel's choice
  HY_QA_NONE = 1,        ///< as they are
  HY_QA_BLOCK32 = 2,     ///< int8 with a scale for each 32, as `quantize` to a8_b32
  HY_QA_BLOCK256 = 3,    ///< as a8_b256
  HY_QA_TOKEN_SYM = 4,   ///< as a8_token, zero point 0
  HY_QA_TOKEN_ASYM = 5,  ///< as a8_token with a zero point
  HY_QA_COUNT
};

/// In what a kernel accumulates.
enum { HY_ACC_F32 = 0, HY_ACC_F64 = 1, HY_ACC_I32_F32 = 2, HY_ACC_F16 = 3, HY_ACC_BF16 = 4 };

#define HY_KERNEL_COUNT_INVARIANT (UINT64_C(1) << 0)
#define HY_KERNEL_ROW_INVARIANT (UINT64_C(1) << 1)
#define HY_KERNEL_FTZ (UINT64_C(1) << 2)  ///< subnormal inputs and outputs may be taken for 0
#define HY_KERNEL_REFERENCE (UINT64_C(1) << 3)

/// Ranges of priority; within one, a kernel for more specific shapes goes higher.
enum {
  HY_PRIORITY_REFERENCE = 0,
  HY_PRIORITY_GENERIC = 1000,
  HY_PRIORITY_ISA = 2000,
  HY_PRIORITY_VENDOR = 3000
};

/// The team that a kernel would run on.
typedef struct hy_kernel_target {
  uint32_t struct_size;
  uint32_t workers;
  uint64_t isa[2];        ///< HY_ISA_* that every worker executes
  uint32_t vector_bytes;  ///< of a scalable vector unit; 0 if there is none
  uint32_t reserved;
} hy_kernel_target;

/// What one worker is given.
typedef struct hy_kernel_context {
  uint32_t struct_size;
  uint32_t index;  ///< 0..count-1
  uint32_t count;  ///< workers
  uint32_t phase;  ///< 0..phases-1
  void* scratch;   ///< one block for all workers, kept over the phases of one run
  uint64_t scratch_bytes;
  /// Shared by all workers, 0 when a phase begins: for hy_claim.
  uint64_t* ticket;
  const int64_t* params;  ///< values of hy_kernel_desc::params, in their order
} hy_kernel_context;

/// A tuning parameter: the values it may take are `values[0..value_count)`, first the default.
typedef struct hy_tuning_param {
  const char* name;
  const int64_t* values;
  uint32_t value_count;
  uint32_t reserved;
} hy_tuning_param;

#define HY_MAX_PARAMS 8

/// A kernel. All pointers stay valid for the life of the process.
typedef struct hy_kernel_desc {
  uint32_t struct_size;
  uint32_t contract_version;
  const char* id;  ///< "matmul/f32.q8_0.f32/x86_avx2@halyard": op/types/variant@provider
  const char* op;  ///< "matmul"
  uint32_t types[HY_MAX_TYPES];  ///< of the op's TYPED operands in their order; NONE: any
  uint64_t isa[2];               ///< HY_ISA_* it needs
  /// HY_QA_* that it computes in. ANY: the op has no such choice, or it follows the args.
  uint32_t activation;
  uint32_t accumulator;  ///< HY_ACC_*
  int32_t priority;      ///< HY_PRIORITY_* + 0..999
  uint32_t layout;       ///< that the WEIGHTS operand must have
  uint32_t phases;       ///< 1..8
  uint32_t param_count;
  uint64_t flags;  ///< HY_KERNEL_*
  const hy_tuning_param* params;
  /// Whether it can run args on that team; if not, why says what stands against it. Pure. Data
  /// pointers may be NULL: a plan is made before memory is. NULL: whatever types and isa admit.
  int (*supports)(const void* args, const hy_kernel_target* target, hy_why* why);
  /// Scratch for one run on that many workers. NULL: none.
  uint64_t (*scratch_bytes)(const void* args, uint32_t workers);
  /// One worker's share of one phase.
  /// Errors   UNIMPLEMENTED: before any write; OUT_OF_RANGE, INVALID_ARGUMENT: the data (not the
  ///          kernel) is wrong, as the contract says; any other: the kernel failed, is set aside, and
  ///          the op is run again on the reference.
  hy_status (*run)(const void* args, const hy_kernel_context* context);
} hy_kernel_desc;

/// A packed layout of weights: the same numbers in an order that kernels like. Ids of Halyard lie
/// below 0x10000; vendors take any number above, which the registry refuses if it is taken. A tensor
/// of a rank above 2 is packed matrix by matrix, hy_round_up(packed_bytes, 64) bytes apart.
typedef struct hy_layout_desc {
  uint32_t struct_size;
  uint32_t id;
  const char* name;  ///< "q8_0/r16k4@halyard"
  uint32_t type;     ///< of what is packed
  uint32_t reserved;
  /// Whether a [rows, cols] matrix can be packed so.
  int (*supports)(int64_t rows, int64_t cols, hy_why* why);
  uint64_t (*packed_bytes)(int64_t rows, int64_t cols);
  /// Packs rows of a canonical [rows, cols] tensor to `packed` (64-byte aligned, packed_bytes). SPMD:
  /// worker `index` of `count` does its share. Exact: unpack gives back each number's bits.
  void (*pack)(const hy_tensor* canonical, void* packed, uint32_t index, uint32_t count);
  void (*unpack)(const void* packed, const hy_tensor* canonical, uint32_t index, uint32_t count);
} hy_layout_desc;

/// What a plugin gives. Arrays of pointers, never NULL inside.
typedef struct hy_kernel_table {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  const char* provider;  ///< "acme"; the part after '@' of its ids
  const hy_kernel_desc* const* kernels;
  uint64_t kernel_count;
  const hy_layout_desc* const* layouts;
  uint64_t layout_count;
  const hy_op_desc* const* ops;  ///< private ops, each with a kernel of HY_KERNEL_REFERENCE
  uint64_t op_count;
} hy_kernel_table;

/// The exported entry of a plugin with kernels, "halyard_kernels_get". It may be in the library of a
/// port or in one of its own. NULL with a HY_REFUSED_* in out_reason if the versions do not fit.
typedef const hy_kernel_table* (*hy_kernels_get_fn)(uint32_t host_major, uint32_t host_minor,
                                                    uint32_t* out_reason);
#define HY_KERNELS_GET_NAME "halyard_kernels_get"

#if defined(__cplusplus)
#define HY_KERNELS_LINKAGE extern "C"
#else
#define HY_KERNELS_LINKAGE
#endif
#if defined(__GNUC__)
#define HY_KERNELS_EXPORT HY_KERNELS_LINKAGE __attribute__((visibility("default")))
#else
#define HY_KERNELS_EXPORT HY_KERNELS_LINKAGE
#endif

/// Name of the entry. What is linked into one program is named apart by its build.
#ifndef HALYARD_KERNELS_ENTRY
#define HALYARD_KERNELS_ENTRY halyard_kernels_get
#endif

/// Writes the exported entry. `table` is the plugin's `static const hy_kernel_table`.
#define HALYARD_KERNELS_DEFINE(table)                                                \
  HY_KERNELS_EXPORT const hy_kernel_table* HALYARD_KERNELS_ENTRY(                    \
      uint32_t host_major, uint32_t host_minor, uint32_t* out_reason);               \
  HY_KERNELS_EXPORT const hy_kernel_table* HALYARD_KERNELS_ENTRY(                    \
      uint32_t host_major, uint32_t host_minor, uint32_t* out_reason) {              \
    const uint32_t fits = host_major == HY_KERNEL_ABI_MAJOR;                         \
    (void)host_minor;                                                                \
    if (out_reason != NULL) *out_reason = fits ? HY_REFUSED_NONE : HY_REFUSED_MAJOR; \
    return fits ? &(table) : NULL;                                                   \
  }

// ----------------------------------------------------------------------------- helpers, inline ---

/// Word `word` of an isa mask with one bit set, as a constant expression.
#define HY_ISA_WORD(bit, word) ((bit) / 64 == (word) ? UINT64_C(1) << ((bit) % 64) : UINT64_C(0))

/// Worker `index`'s share of `total` items in whole grains: [*begin, *end), empty for late workers.
static inline void hy_split(int64_t total, int64_t grain, uint32_t index, uint32_t count,
                            int64_t* begin, int64_t* end) {
  const int64_t grains = (total + grain - 1) / grain;
  const int64_t base = grains / count;
  const int64_t extra = grains % count;
  const int64_t i = (int64_t)index;
  int64_t first = i * base + (i < extra ? i : extra);
  int64_t last = first + base + (i < extra ? 1 : 0);
  first *= grain;
  last *= grain;
  *begin = first < total ? first : total;
  *end = last < total ? last : total;
}

#if defined(__GNUC__)
/// The next `grain` of `total` items that no worker has taken yet; 0 when all are taken. Faster
/// workers so do more; results may not depend on who takes what.
static inline int hy_claim(const hy_kernel_context* context, int64_t total, int64_t grain,
                           int64_t* begin, int64_t* end) {
  const int64_t at =
      (int64_t)__atomic_fetch_add(context->ticket, (uint64_t)grain, __ATOMIC_RELAXED);
  if (at >= total) return 0;
  *begin = at;
  *end = total - at < grain ? total : at + grain;
  return 1;
}
#endif

/// Tensor of an operand.
static inline const hy_tensor* hy_operand_tensor(const hy_operand* operand, const void* args) {
  return (const hy_tensor*)(const void*)((const unsigned char*)args + operand->offset);
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_KERNEL_H_
