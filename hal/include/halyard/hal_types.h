// SPDX-License-Identifier: Apache-2.0
//
// The records that cross the HAL boundary, ABI 1. C11 and C++20. Include "halyard/hal.h" instead:
// it has the verbs, and the duties of whoever implements them.
//
// Every struct begins with struct_size (but hy_array and hy_fence_point, which never grow), holds
// fixed-width integers and pointers only, and grows at its end only.
#ifndef HALYARD_HAL_TYPES_H_
#define HALYARD_HAL_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#include "halyard/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HY_HAL_ABI_MAJOR 1u
#define HY_HAL_ABI_MINOR 0u

/// "No such id" or "not known", in every field that holds an id.
#define HY_ID_NONE UINT32_MAX

typedef struct hy_device hy_device;  // opaque, owned by the port, freed only by `release`
typedef struct hy_buffer hy_buffer;
typedef struct hy_team hy_team;
typedef struct hy_queue hy_queue;
typedef struct hy_fence hy_fence;

/// What a handle is; the first argument of `release`.
enum {
  HY_KIND_DEVICE = 1,
  HY_KIND_BUFFER,
  HY_KIND_TEAM,
  HY_KIND_QUEUE,
  HY_KIND_FENCE,
  HY_KIND_COUNT
};

/// An array that crosses the boundary, in or out. Records lie `stride` bytes apart.
/// In: `count` records at `data`. Out: the caller sets data, capacity and stride; the callee writes
/// min(capacity, available) records and sets `count` to how many are available. With data NULL it
/// only counts and returns OK; with a capacity below the count it returns OUT_OF_RANGE.
typedef struct hy_array {
  void* data;
  uint32_t count;
  uint32_t capacity;
  uint32_t stride;  ///< bytes
  uint32_t reserved;
} hy_array;

// --------------------------------------------------------------------------------- discovering ---

enum { HY_DEVICE_CPU_CLASS = 1, HY_DEVICE_DISCRETE = 2 };

/// One device that can be opened. Strings are NUL-terminated within their arrays.
typedef struct hy_device_info {
  uint32_t struct_size;
  uint32_t kind;     ///< HY_DEVICE_*
  char id[64];       ///< stable across runs; what `open` takes
  char name[96];     ///< for people
  char locator[64];  ///< where it sits ("pci:0000:01:00.0", "host"); may be empty
} hy_device_info;

/// One "key=value" given at open, such as a fixture or a latency. Both strings are borrowed.
typedef struct hy_option {
  uint32_t struct_size;
  uint32_t reserved;
  const char* key;
  const char* value;
} hy_option;

typedef struct hy_open_desc {
  uint32_t struct_size;
  uint32_t reserved;
  const char* id;    ///< from hy_device_info; NULL takes the first device
  hy_array options;  ///< of hy_option
} hy_open_desc;

/// Keys of `query`, and the type of the answer. All sizes in bytes.
enum {
  HY_QUERY_CAPS = 1,             ///< device: uint64_t of HY_CAP_*
  HY_QUERY_MEMORY_CLASSES = 2,   ///< device: hy_memory_class[]
  HY_QUERY_PAGE_SIZES = 3,       ///< device: uint64_t[], base page first, then ascending
  HY_QUERY_SYNC_GRANULE = 4,     ///< device: uint64_t; what sync_range rounds out to; 1 if coherent
  HY_QUERY_MIN_ALIGNMENT = 5,    ///< device: uint64_t; of every allocation
  HY_QUERY_MAX_ALLOC = 6,        ///< device: uint64_t; the largest single allocation
  HY_QUERY_QUEUE_TIER = 7,       ///< device: uint64_t; HY_QUEUE_TIER_*
  HY_QUERY_TIMESTAMP_HZ = 8,     ///< device: uint64_t; ticks per second
  HY_QUERY_VENDOR = 9,           ///< device: char[], NUL included
  HY_QUERY_DRIVER = 10,          ///< device: char[], NUL included; name and version
  HY_QUERY_NATIVE_HANDLE = 11,   ///< device, buffer, queue: uint64_t; for the vendor's own kernels
  HY_QUERY_DEVICE_ADDRESS = 12,  ///< buffer: uint64_t; address as device kernels see it
  HY_QUERY_PLACEMENT = 13,       ///< buffer: hy_placement; re-read from the system at each call
  HY_QUERY_EXTENSION = 14        ///< device: a struct named by hy_query_desc::name
};

/// Capabilities of a device. A field or flag that names a bit here may be used only when it is set.
#define HY_CAP_COHERENT (UINT64_C(1) << 0)        ///< persistent maps need no sync_range
#define HY_CAP_PERSISTENT_MAP (UINT64_C(1) << 1)  ///< HY_MAP_PERSISTENT is accepted
#define HY_CAP_IMPORT (UINT64_C(1) << 2)          ///< import_host shares memory, does not copy
#define HY_CAP_NODE_POLICY (UINT64_C(1) << 3)     ///< node policies can be asked for
#define HY_CAP_PAGE_POLICY (UINT64_C(1) << 4)     ///< page sizes can be asked for
#define HY_CAP_ASYNC (UINT64_C(1) << 5)           ///< submit returns before the work is done
#define HY_CAP_REOPEN (UINT64_C(1) << 6)          ///< one id can be open more than once

/// Tier 0: submit runs everything before it returns and knows no fences. Tier 1: submit does not
/// block, and the port itself observes waits and signals.
enum { HY_QUEUE_TIER_INLINE = 0, HY_QUEUE_TIER_ASYNC = 1 };

typedef struct hy_query_desc {
  uint32_t struct_size;
  uint32_t kind;  ///< HY_KIND_* of `handle`
  const void* handle;
  uint32_t key;      ///< HY_QUERY_*
  uint32_t stride;   ///< of the records when the answer is an array of structs, else 0
  const char* name;  ///< of the extension, else NULL
} hy_query_desc;

#define HY_MEMORY_HOST_VISIBLE (UINT64_C(1) << 0)  ///< `map` gives a pointer into it
#define HY_MEMORY_COHERENT (UINT64_C(1) << 1)
#define HY_MEMORY_DEVICE_LOCAL (UINT64_C(1) << 2)
#define HY_MEMORY_SCRATCH (UINT64_C(1) << 3)  ///< small and fast, such as tightly coupled memory

/// One kind of memory that `alloc` gives. Class ids are labels; the first record is the default.
typedef struct hy_memory_class {
  uint32_t struct_size;
  uint32_t id;
  uint64_t flags;  ///< HY_MEMORY_*
  uint64_t bytes_total;
  uint64_t min_alignment;
  char name[32];
} hy_memory_class;

// ------------------------------------------------------------------------------------ topology ---

#define HY_PU_ALLOWED (UINT64_C(1) << 0)  ///< in the affinity mask and cpuset of this process
#define HY_PU_ONLINE (UINT64_C(1) << 1)
#define HY_PU_ISOLATED (UINT64_C(1) << 2)    ///< kept from the scheduler by the administrator
#define HY_PU_NEEDS_BIND (UINT64_C(1) << 3)  ///< usable only through the port's worker_bind

/// A processing unit: what the system schedules a thread on. Ids are labels, never indices: they
/// may be sparse, large and unordered. Unknown ids are HY_ID_NONE, unknown numbers 0.
typedef struct hy_pu {
  uint32_t struct_size;
  uint32_t os_id;
  uint32_t core_id;    ///< unique in the machine, not only in its package
  uint32_t smt_index;  ///< 0 for the first thread of a core
  uint32_t cluster_id;
  uint32_t llc_id;   ///< units with the same id share a last-level cache
  uint32_t node_id;  ///< os id of its memory node
  uint32_t package_id;
  uint32_t perf_class;  ///< 0 is the fastest class of the machine
  uint32_t capacity;    ///< 1..1024, relative to the fastest unit; 1024 if nothing is known
  uint64_t max_khz;
  uint64_t isa[2];  ///< HY_ISA_* of isa.h: what THIS unit executes
  uint64_t scratch_bytes;
  uint32_t matrix_unit_id;  ///< units with the same id share one matrix unit
  uint32_t reserved;
  uint64_t flags;  ///< HY_PU_*
} hy_pu;

enum { HY_NODE_DRAM = 1, HY_NODE_HBM = 2, HY_NODE_CXL = 3, HY_NODE_DEVICE = 4 };
#define HY_NODE_HAS_CPUS (UINT64_C(1) << 0)
#define HY_NODE_HAS_MEMORY (UINT64_C(1) << 1)
#define HY_NODE_ALLOWED (UINT64_C(1) << 2)  ///< in the cpuset's memory nodes

typedef struct hy_node {
  uint32_t struct_size;
  uint32_t os_id;
  uint32_t kind;  ///< HY_NODE_*, 0 unknown
  uint32_t reserved;
  uint64_t bytes_total;
  uint64_t bytes_free;
  uint64_t read_mb_per_s;  ///< as the firmware tells; 0 unknown
  uint64_t read_latency_ns;
  uint64_t flags;
} hy_node;

enum { HY_CACHE_DATA = 1, HY_CACHE_INSTRUCTION = 2, HY_CACHE_UNIFIED = 3 };

/// One cache. Which units share it: those whose hy_pu names it, or, for inner levels, `first_pu`
/// and the `pu_count` units that the port lists with the same core or cluster.
typedef struct hy_cache {
  uint32_t struct_size;
  uint32_t level;
  uint32_t kind;      ///< HY_CACHE_*
  uint32_t first_pu;  ///< lowest os id of the units that share it; with level and kind its name
  uint32_t pu_count;
  uint32_t line_bytes;
  uint64_t bytes;
} hy_cache;

/// Relative latency as the firmware tells, 10 for a node to itself.
typedef struct hy_distance {
  uint32_t struct_size;
  uint32_t from_node;
  uint32_t to_node;
  uint32_t value;
} hy_distance;

/// Pages of one size on one node.
typedef struct hy_page_pool {
  uint32_t struct_size;
  uint32_t node_id;  ///< HY_ID_NONE: of the whole machine
  uint64_t page_bytes;
  uint64_t total;  ///< pages reserved
  uint64_t free;
} hy_page_pool;

/// What bound the processor budget, for `hy_topology::limits`.
#define HY_LIMIT_ONLINE (UINT64_C(1) << 0)
#define HY_LIMIT_AFFINITY (UINT64_C(1) << 1)
#define HY_LIMIT_CPUSET (UINT64_C(1) << 2)
#define HY_LIMIT_QUOTA (UINT64_C(1) << 3)

enum {
  HY_SOURCE_UNKNOWN = 0,
  HY_SOURCE_SYSFS = 1,
  HY_SOURCE_PROCFS = 2,
  HY_SOURCE_PORT = 3,
  HY_SOURCE_FIXTURE = 4
};

#define HY_TOPOLOGY_ALL (UINT64_C(1) << 0)  ///< also the units that this process may not use

typedef struct hy_topology {
  uint32_t struct_size;
  uint32_t source;            ///< out: HY_SOURCE_*
  uint64_t flags;             ///< in: HY_TOPOLOGY_*
  hy_array pus;               ///< out, of hy_pu
  hy_array nodes;             ///< out, of hy_node
  hy_array caches;            ///< out, of hy_cache
  hy_array distances;         ///< out, of hy_distance
  hy_array page_pools;        ///< out, of hy_page_pool
  uint64_t budget_millicpus;  ///< out: min(allowed units, quota) * 1000
  uint64_t quota_millicpus;   ///< out: 0 if there is none
  uint64_t limits;            ///< out: HY_LIMIT_* that made the budget smaller than the machine
} hy_topology;

// -------------------------------------------------------------------------------------- memory ---

enum { HY_NODES_DEFAULT = 0, HY_NODES_LOCAL = 1, HY_NODES_BIND = 2, HY_NODES_INTERLEAVE = 3 };
enum { HY_PREFER = 0, HY_REQUIRE = 1 };
enum {
  HY_USE_GENERAL = 0,
  HY_USE_WEIGHTS = 1,
  HY_USE_KV = 2,
  HY_USE_ACTIVATIONS = 3,
  HY_USE_STAGING = 4,
  HY_USE_SCRATCH = 5
};

#define HY_ALLOC_PREFAULT (UINT64_C(1) << 0)  ///< all pages are there when alloc returns
#define HY_ALLOC_ZERO (UINT64_C(1) << 1)
#define HY_ALLOC_IMMUTABLE (UINT64_C(1) << 2)  ///< written once, then only read

/// Entries of a page preference list that are not sizes.
#define HY_PAGE_BASE UINT64_C(0)         ///< the base page, whatever its size
#define HY_PAGE_TRANSPARENT UINT64_C(1)  ///< let the kernel back it with transparent huge pages

typedef struct hy_alloc_desc {
  uint32_t struct_size;
  uint32_t memory_class;  ///< id from HY_QUERY_MEMORY_CLASSES; HY_ID_NONE takes the first
  uint64_t bytes;
  uint64_t alignment;      ///< a power of two; 0 takes the device's least
  uint32_t node_policy;    ///< HY_NODES_*; needs HY_CAP_NODE_POLICY unless DEFAULT
  uint32_t node_strength;  ///< HY_PREFER or HY_REQUIRE
  hy_array nodes;          ///< of uint32_t node os ids
  hy_array pages;          ///< of uint64_t page sizes or HY_PAGE_*, most wanted first; empty: BASE
  uint32_t page_strength;  ///< HY_PREFER ends the list with BASE; HY_REQUIRE does not
  uint32_t usage;          ///< HY_USE_*; a hint
  uint64_t flags;          ///< HY_ALLOC_*
} hy_alloc_desc;

/// Why a wish was not met, for `hy_placement::reasons`.
#define HY_REASON_POOL_EMPTY (UINT64_C(1) << 0)        ///< no free page of that size
#define HY_REASON_SIZE_UNSUPPORTED (UINT64_C(1) << 1)  ///< the kernel has no such page size
#define HY_REASON_POLICY_DENIED (UINT64_C(1) << 2)     ///< no permission, or no such system call
#define HY_REASON_NODE_ABSENT (UINT64_C(1) << 3)       ///< offline, not allowed or without memory
#define HY_REASON_LIMIT (UINT64_C(1) << 4)             ///< a cgroup or rlimit
#define HY_REASON_EMULATED (UINT64_C(1) << 5)          ///< the system says yes and does nothing
#define HY_REASON_FELL_BACK (UINT64_C(1) << 6)         ///< a later entry of the list was taken

#define HY_KNOWN_PAGES (UINT64_C(1) << 0)
#define HY_KNOWN_NODES (UINT64_C(1) << 1)

typedef struct hy_node_bytes {
  uint32_t node_id;
  uint32_t reserved;
  uint64_t bytes;
} hy_node_bytes;

/// What was obtained, as the system says. What could not be read back is unknown, never guessed.
typedef struct hy_placement {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t known;           ///< HY_KNOWN_*: which of the fields below hold
  uint64_t page_bytes;      ///< the page size that most of it has
  uint64_t huge_bytes;      ///< bytes in pages above the base size
  uint64_t resident_bytes;  ///< bytes present in memory now
  uint64_t reasons;         ///< HY_REASON_*
  hy_array nodes;           ///< out, of hy_node_bytes, by sampling where the buffer is large
} hy_placement;

#define HY_IMPORT_READ_ONLY (UINT64_C(1) << 0)

typedef struct hy_import_desc {
  uint32_t struct_size;
  uint32_t reserved;
  void* ptr;                          ///< borrowed until `on_release`; any alignment
  uint64_t bytes;                     ///< any size but 0
  uint64_t flags;                     ///< HY_IMPORT_*
  void (*on_release)(void* context);  ///< called once, after the last use; may be NULL
  void* context;
} hy_import_desc;

#define HY_MAP_READ (UINT64_C(1) << 0)
#define HY_MAP_WRITE (UINT64_C(1) << 1)
#define HY_MAP_DISCARD (UINT64_C(1) << 2)     ///< with WRITE: the old contents are not needed
#define HY_MAP_PERSISTENT (UINT64_C(1) << 3)  ///< stays while the device works; see sync_range

typedef struct hy_map_desc {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t offset;
  uint64_t bytes;
  uint64_t access;  ///< HY_MAP_*
} hy_map_desc;

enum { HY_SYNC_TO_DEVICE = 1, HY_SYNC_FROM_DEVICE = 2 };

// ------------------------------------------------------------------------------------- threads ---

#define HY_TEAM_ALLOW_OVERSUB (UINT64_C(1) << 0)  ///< more workers than the budget are wanted

/// Runs once on every worker of a team, with index 0..count-1.
typedef void (*hy_worker_fn)(void* context, uint32_t index, uint32_t count);

typedef struct hy_team_desc {
  uint32_t struct_size;
  uint32_t count;  ///< workers; 0 takes one for each listed unit, else one a core of the budget
  hy_array pus;    ///< of uint32_t os ids, one a worker, reused in turn; empty: the port picks
  uint32_t perf_class;  ///< with no list: only units of this class; HY_ID_NONE any
  uint32_t reserved;
  uint64_t spin_ns;  ///< how long an idle worker spins before it sleeps; 0 the default
  uint64_t flags;    ///< HY_TEAM_*
  const char* name;  ///< for debuggers, borrowed during the call; may be NULL
} hy_team_desc;

#define HY_WORKER_BOUND (UINT64_C(1) << 0)  ///< the system confirmed a mask of this one unit
#define HY_WORKER_MASK_KNOWN (UINT64_C(1) << 1)
#define HY_WORKER_PU_KNOWN (UINT64_C(1) << 2)  ///< last_pu was read on the worker

/// Where a worker is, as the system says, read on the worker itself.
typedef struct hy_worker_report {
  uint32_t struct_size;
  uint32_t index;
  uint32_t requested_pu;  ///< HY_ID_NONE if none was asked for
  uint32_t last_pu;
  uint32_t node_id;
  hy_status bind_status;   ///< of the bind call: a worker that could not be bound runs unbound
  uint64_t flags;          ///< HY_WORKER_*
  uint64_t* mask;          ///< in: where to put the effective mask, or NULL
  uint32_t mask_capacity;  ///< in: words of 64 bits
  uint32_t mask_words;     ///< out: words that the mask has
  uint64_t isa[2];         ///< what this worker may execute: the intersection over its mask
  void* scratch;           ///< private fast memory of the unit, or NULL; valid until LEAVE
  uint64_t scratch_bytes;
} hy_worker_report;

enum { HY_BIND_ENTER = 1, HY_BIND_LEAVE = 2 };

// --------------------------------------------------------------------------- queues and fences ---

typedef struct hy_queue_desc {
  uint32_t struct_size;
  int32_t priority;  ///< higher first; a hint
  uint64_t flags;    ///< none in ABI 1.0
} hy_queue_desc;

/// A value of a timeline. A binary event is value 1 of a fence made with 0.
typedef struct hy_fence_point {
  hy_fence* fence;
  uint64_t value;
} hy_fence_point;

enum { HY_OP_COPY = 1, HY_OP_FILL = 2, HY_OP_HOST_CALL = 3, HY_OP_BARRIER = 4 };

/// One operation of a submission. A copy names each side by a buffer or by a host pointer, not
/// both; two host pointers are refused. Within a submission, operations run in their order.
typedef struct hy_op {
  uint32_t struct_size;
  uint32_t kind;  ///< HY_OP_*
  hy_buffer* src;
  hy_buffer* dst;
  const void* src_host;
  void* dst_host;
  uint64_t src_offset;
  uint64_t dst_offset;
  uint64_t bytes;
  uint32_t pattern;        ///< FILL: repeated from dst_offset on, in the host's byte order
  uint32_t pattern_bytes;  ///< FILL: 1, 2 or 4
  hy_status (*call)(void* context);  ///< HOST_CALL: may signal fences, may not wait on its queue
  void* context;
} hy_op;

typedef struct hy_submission {
  uint32_t struct_size;
  uint32_t reserved;
  hy_array waits;    ///< of hy_fence_point
  hy_array ops;      ///< of hy_op; may be empty
  hy_array signals;  ///< of hy_fence_point
} hy_submission;

enum { HY_WAIT_ALL = 0, HY_WAIT_ANY = 1 };
#define HY_DEADLINE_POLL UINT64_C(0)
#define HY_DEADLINE_NEVER UINT64_MAX

typedef struct hy_wait_desc {
  uint32_t struct_size;
  uint32_t mode;         ///< HY_WAIT_*
  hy_array points;       ///< of hy_fence_point
  uint64_t deadline_ns;  ///< absolute, CLOCK_MONOTONIC, or HY_DEADLINE_*
  uint64_t* out_values;  ///< NULL, or one for each point: the value reached
} hy_wait_desc;

/// Device and host clock, read next to each other.
typedef struct hy_timestamp {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t ticks;           ///< of the device's clock
  uint64_t host_ns;         ///< CLOCK_MONOTONIC_RAW
  uint64_t hz;              ///< ticks per second
  uint64_t uncertainty_ns;  ///< how far apart the two may have been read
} hy_timestamp;

// --------------------------------------------------------------------------- what the host gives ---

enum { HY_LOG_DEBUG = 0, HY_LOG_INFO = 1, HY_LOG_WARNING = 2, HY_LOG_ERROR = 3 };

/// Services of the core for ports, so that a plugin links nothing of it. Any thread may call them.
typedef struct hy_host_services {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  /// Keeps `message` for the caller of the verb, on this thread, and returns `status`.
  hy_status (*report)(hy_status status, const char* message);
  /// Writes to the log that the program chose; ports never print.
  void (*log)(uint32_t level, const char* message);
  /// Small host memory, 16-byte aligned or as asked (a power of two). NULL if there is none.
  void* (*memory_alloc)(uint64_t bytes, uint64_t alignment);
  void (*memory_free)(void* ptr);
  /// Pages by the ladder: each entry of desc->pages, with reservation, node policy before touch and
  /// prefault with an error. Errors as `alloc`. Free with pages_free.
  hy_status (*pages_alloc)(const hy_alloc_desc* desc, void** out_ptr, hy_placement* out_placement);
  hy_status (*pages_free)(void* ptr);
  /// Reads back the placement of any range of this process. FELL_BACK and such are not known here.
  hy_status (*pages_query)(const void* ptr, uint64_t bytes, hy_placement* out_placement);
  /// What the core reads from the system, as `topology` would give it: to start from, and amend.
  hy_status (*topology_read)(hy_topology* inout_topology);
  /// The default of `worker_bind`: affinity and readback on the calling thread.
  hy_status (*worker_bind)(uint32_t pu, uint32_t mode, hy_worker_report* out_report);
  /// The default of `timestamp`: the host's clock in nanoseconds.
  hy_status (*timestamp)(hy_timestamp* out_timestamp);
} hy_host_services;

/// Why the entry gave no table.
enum {
  HY_REFUSED_NONE = 0,
  HY_REFUSED_MAJOR = 1,
  HY_REFUSED_MINOR = 2,
  HY_REFUSED_SERVICES = 3,
  HY_REFUSED_PLATFORM = 4
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_HAL_TYPES_H_
