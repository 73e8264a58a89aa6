// SPDX-License-Identifier: Apache-2.0
//
// The hardware abstraction layer of Halyard, ABI 1: the 20 verbs that a chip port implements.
// C11 and C++20; includes nothing but <stdint.h>, <stddef.h> and <string.h>.
//
// A port exports ONE symbol, `halyard_hal_get` (HALYARD_HAL_DEFINE of hal_port.h writes it), that
// returns a static table. Seven verbs make a port: enumerate, open, query, alloc, timestamp,
// release, and map or submit. Every other slot may be NULL: the core then uses its default.
//
// Lines that begin with an id in brackets, such as [HAL-MEM-03], are duties of the port. Each has
// a test of the same name in conformance/hal; docs/hal_contract.md is generated from them. Lines
// that begin with "Core:" are what the core guarantees to the port in return.
#ifndef HALYARD_HAL_H_
#define HALYARD_HAL_H_

#include "halyard/hal_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ----------------------------------------------------------------------------- the ABI itself ---
//
// [HAL-ABI-01] The exported entry returns NULL, with a reason, to a host of another major version.
// [HAL-ABI-02] The table's major version is HY_HAL_ABI_MAJOR; its struct_size covers the 20 verbs.
// [HAL-ABI-03] An input struct with a tail that the port does not know is refused with
//              UNIMPLEMENTED if any byte of the tail is non-zero, and accepted if all are zero.
// [HAL-ABI-04] An input struct shorter than the port knows is read as if the missing tail were
//              zero; no byte beyond struct_size is read.
// [HAL-ABI-05] Into an output struct the port writes at most the caller's struct_size bytes, zeroes
//              what it does not know, and leaves struct_size as it was.
// [HAL-ABI-06] Records of an array lie `stride` bytes apart, also when that is more than a record;
//              the bytes between records stay as they were.
// [HAL-ABI-07] A slot that the port leaves NULL is served by the core: every verb works on a port.
// [HAL-ABI-08] The needed verbs are present: enumerate, open, query, alloc, timestamp, release, and
//              map or submit.
// [HAL-ABI-09] A plugin exports halyard_hal_get and no other symbol, but halyard_kernels_query.
// [HAL-ABI-10] Loading a plugin runs nothing that the base ISA lacks and starts no thread.
// [HAL-ABI-11] Asking for the table again gives the same table.
//
// Discipline that holds for every verb:
// [HAL-ERR-01] A NULL where a pointer is needed is INVALID_ARGUMENT, not a crash.
// [HAL-ERR-02] A verb returns only HY_OK and the codes that it documents.
// [HAL-ERR-03] On an error the out-handle is NULL and nothing is left allocated.
// [HAL-ERR-04] When host memory runs out at any point, the verb says RESOURCE_EXHAUSTED and the
//              same call works again later.
// [HAL-ERR-05] A port writes nothing to standard output or standard error.
// [HAL-ERR-06] A port installs no signal handler and changes no affinity, memory policy, rounding
//              mode or locale of the calling thread.
// [HAL-ERR-07] Ranges are checked without overflow: offset + bytes that wraps is OUT_OF_RANGE.
// [HAL-ERR-08] Unknown enumerators and flags are INVALID_ARGUMENT or UNIMPLEMENTED, never ignored.
// [HAL-ERR-09] query, alloc, import_host, map, unmap, timestamp and the fence verbs may be called
//              from several threads at once on one device.
// [HAL-ERR-10] A process ends cleanly with everything still open, from main or from exit.
//
// Core: the services pointer is the same at every call in a process and stays valid to its end.
// Core: a plugin is never unloaded. Handles are given to the verbs of the table they came from.
// Core: one queue is never submitted to from two threads at once; one team never runs twice at once.
// Core: children are released before their device; nothing is released while submitted work uses it.
// Core: ranges are within their buffer, conflicting maps do not overlap, and no range is mapped
//       while submitted work may touch it; but for a port without submit the core maps in order to
//       copy, which may overlap a persistent map. A port may check too; it need not.

typedef struct hy_hal_api {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  const char* name;     ///< of the port: lower case, digits and underscores
  const char* version;  ///< of the port
  const char* vendor;

  // --------------------------------------------------------------------------------- discover ---

  /// Lists the devices that can be opened. `self` is this table, so that wrappers find their state.
  /// [HAL-DEV-01] Works, and counts zero, on a machine without any device.
  /// [HAL-DEV-02] Ids are non-empty, unique and the same at each call.
  /// Owns     fills the caller's array. Threads: any.
  /// Errors   OUT_OF_RANGE: capacity too small; `count` says how many.
  hy_status (*enumerate)(const struct hy_hal_api* self,
                         hy_array* inout_devices /* hy_device_info */);

  /// Opens a device; may be slow.
  /// [HAL-DEV-03] An id that is not there is NOT_FOUND; options that it does not know are
  ///              INVALID_ARGUMENT.
  /// [HAL-DEV-04] Opening and closing a thousand times leaves no memory, descriptor or thread behind.
  /// [HAL-DEV-05] A second open of one id works if HY_CAP_REOPEN is set, else ALREADY_EXISTS.
  /// Owns     returns owned; `release` frees it. Threads: any.
  /// Errors   NOT_FOUND, ALREADY_EXISTS, INVALID_ARGUMENT, UNAVAILABLE: absent, tests skip;
  ///          PERMISSION_DENIED, RESOURCE_EXHAUSTED, DATA_LOSS, UNIMPLEMENTED.
  hy_status (*open)(const struct hy_hal_api* self, const hy_open_desc* desc,
                    hy_device** out_device);

  /// Answers a question about an object. With buffer NULL it gives the size of the answer alone.
  /// [HAL-QRY-01] CAPS, MEMORY_CLASSES, MIN_ALIGNMENT, MAX_ALLOC and VENDOR are answered by all.
  /// [HAL-QRY-02] An unknown key is UNIMPLEMENTED and writes nothing.
  /// [HAL-QRY-03] A short buffer is OUT_OF_RANGE with the size needed, and writes nothing.
  /// [HAL-QRY-04] Two calls give the same answer, but for PLACEMENT.
  /// [HAL-QRY-05] Answers fit together: the least alignment is a power of two, class ids are
  ///              unique, a coherent device has coherent classes.
  /// Units    bytes. Threads: any.
  /// Errors   UNIMPLEMENTED, OUT_OF_RANGE, INVALID_ARGUMENT: wrong kind for the key.
  hy_status (*query)(const hy_query_desc* desc, void* buffer, uint64_t* inout_bytes);

  /// Describes the processing units, memory nodes, caches, distances and page pools near a device.
  /// Default  the core's reader of the operating system's tables.
  /// [HAL-TOP-01] Units, nodes and caches agree with each other: ids named by one exist in another.
  /// [HAL-TOP-02] The allowed units are those of this thread's affinity mask, as the system says.
  /// [HAL-TOP-03] The budget is at least 1 millicpu, at most 1000 for each allowed unit, and within
  ///              the quota.
  /// [HAL-TOP-04] The fastest class is 0, capacities lie in 1..1024, units of a class have one
  ///              capacity.
  /// [HAL-TOP-05] The ISA of each unit is what the running processor can execute.
  /// [HAL-TOP-06] Without HY_TOPOLOGY_ALL only allowed units are listed; with it all online ones.
  /// Errors   OUT_OF_RANGE, UNIMPLEMENTED, INVALID_ARGUMENT. Threads: any.
  hy_status (*topology)(hy_device* device, hy_topology* inout_topology);

  // ----------------------------------------------------------------------------------- memory ---

  /// Allocates memory of a class, near the nodes and with the pages that were asked for.
  /// [HAL-MEM-01] Zero bytes, an alignment that is no power of two, or a size above MAX_ALLOC is
  ///              refused: INVALID_ARGUMENT, or RESOURCE_EXHAUSTED for the size.
  /// [HAL-MEM-02] The memory is aligned as asked, up to a page at least, and as MIN_ALIGNMENT says.
  /// [HAL-MEM-03] With ZERO every byte reads 0.
  /// [HAL-MEM-04] With PREFAULT every page is there on return, or the call fails: a touch never
  ///              raises SIGBUS.
  /// [HAL-MEM-05] The placement given back, and by query PLACEMENT, is what the system says; what
  ///              cannot be read back is unknown.
  /// [HAL-MEM-06] A preferred wish that is not met succeeds, says FELL_BACK and why.
  /// [HAL-MEM-07] A required wish that cannot be met is an error, and nothing is allocated.
  /// [HAL-MEM-08] A node that does not exist is never reported as obtained.
  /// [HAL-MEM-09] Huge pages are reported only if the system has given huge pages.
  /// [HAL-MEM-10] Every class of the table can be allocated and every byte of it reached, by map or
  ///              by copy.
  /// [HAL-MEM-11] Buffers do not overlap.
  /// Owns     returns owned. Threads: any. `out_placement` may be NULL.
  /// Errors   INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED: no such class or policy;
  ///          PERMISSION_DENIED and NOT_FOUND only for a required wish. DATA_LOSS.
  hy_status (*alloc)(hy_device* device, const hy_alloc_desc* desc, hy_buffer** out_buffer,
                     hy_placement* out_placement);

  /// Makes a buffer of the caller's memory without a copy, or refuses.
  /// Default  the core copies into a new buffer and says so.
  /// [HAL-IMP-01] The buffer and the memory are one: a write to either is seen in the other.
  /// [HAL-IMP-02] on_release is called once, after the last use, and not at all if the call failed.
  /// [HAL-IMP-03] Sizes and addresses that are no multiple of anything are taken or refused cleanly.
  /// [HAL-IMP-04] A read-only import is never written to, and refuses a map with WRITE.
  /// Owns     borrows ptr until on_release. Threads: any.
  /// Errors   UNIMPLEMENTED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, DATA_LOSS.
  hy_status (*import_host)(hy_device* device, const hy_import_desc* desc, hy_buffer** out_buffer);

  /// Gives a host pointer to a range. Scoped maps are coherent by themselves: a READ map sees all
  /// work completed before it, and what was written is seen by work submitted after `unmap`.
  /// Default  staging memory, filled and written back by `submit` of copies.
  /// [HAL-MAP-01] The pointer is that of the offset asked for, at any offset and length.
  /// [HAL-MAP-02] A range that leaves the buffer is OUT_OF_RANGE, zero bytes INVALID_ARGUMENT.
  /// [HAL-MAP-03] A map without WRITE is not written back: where it is a copy, the buffer stays.
  /// [HAL-MAP-04] DISCARD leaves the bytes outside the range as they were.
  /// [HAL-MAP-05] A map with READ sees what completed submissions and earlier unmaps wrote.
  /// [HAL-MAP-06] Disjoint ranges can be mapped at once, also within one granule.
  /// Owns     the pointer is borrowed until the matching unmap. Threads: any.
  /// Errors   OUT_OF_RANGE, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED: the core stages;
  ///          PERMISSION_DENIED: write to a read-only import. DATA_LOSS.
  hy_status (*map)(hy_buffer* buffer, const hy_map_desc* desc, void** out_ptr);

  /// Ends a map. `desc` and `ptr` are those of the map.
  /// [HAL-MAP-07] After unmap of a WRITE map, submitted work and later maps see the bytes.
  /// Errors   INVALID_ARGUMENT, DATA_LOSS. Threads: any.
  hy_status (*unmap)(hy_buffer* buffer, const hy_map_desc* desc, void* ptr);

  /// Hands a range of a persistent map over. TO_DEVICE: before the device reads or writes it.
  /// FROM_DEVICE: before the host reads it. Rounded out to the sync granule.
  /// [HAL-SYN-01] After TO_DEVICE the device sees what the host wrote.
  /// [HAL-SYN-02] After FROM_DEVICE the host sees what the device wrote.
  /// [HAL-SYN-03] Neither direction loses bytes that share a granule with the range and were handed
  ///              over before.
  /// [HAL-SYN-04] A device that says COHERENT needs no sync_range for either.
  /// Errors   OUT_OF_RANGE, INVALID_ARGUMENT, DATA_LOSS. Threads: any.
  hy_status (*sync_range)(hy_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t direction);

  // ---------------------------------------------------------------------------------- threads ---

  /// Starts a team of persistent workers that are all live at once.
  /// Default  the core's pinned threads, each entered through worker_bind.
  /// [HAL-TEAM-01] Every worker runs fn exactly once a run, with its own index below count.
  /// [HAL-TEAM-02] All workers are live at once: a barrier inside fn completes, with as many workers
  ///               as the budget and, with ALLOW_OVERSUB, with twice as many.
  /// [HAL-TEAM-03] More workers than the budget without the flag is OUT_OF_RANGE.
  /// [HAL-TEAM-04] Workers are named by unit ids, sparse ids too; a unit that is not allowed is
  ///               NOT_FOUND or runs unbound and says so.
  /// Owns     returns owned. Threads: any.
  /// Errors   OUT_OF_RANGE, NOT_FOUND, RESOURCE_EXHAUSTED, INVALID_ARGUMENT, UNIMPLEMENTED.
  hy_status (*team_create)(hy_device* device, const hy_team_desc* desc, hy_team** out_team);

  /// Runs fn on every worker and returns when all have returned.
  /// [HAL-TEAM-05] What the caller wrote before is seen by fn; what fn wrote is seen after.
  /// [HAL-TEAM-06] A run inside a run of the same team is FAILED_PRECONDITION; of another it works.
  /// [HAL-TEAM-07] A hundred thousand empty runs complete.
  /// Errors   FAILED_PRECONDITION, INVALID_ARGUMENT. Threads: one at a time for each team.
  hy_status (*team_run)(hy_team* team, hy_worker_fn fn, void* context);

  /// Says where each worker is, as the system says.
  /// [HAL-TEAM-08] Mask and unit are read on the worker after binding and agree with what the worker
  ///               itself sees; unknown is legal, an echo of the request is not.
  /// [HAL-TEAM-09] The ISA of a worker holds only what all units of its mask execute.
  /// Errors   OUT_OF_RANGE, INVALID_ARGUMENT, UNIMPLEMENTED. Threads: not during a run.
  hy_status (*team_readback)(hy_team* team, hy_array* inout_workers /* hy_worker_report */);

  /// Called on the worker's own thread when it starts (ENTER) and before it ends (LEAVE): binds it,
  /// takes the unit's scratch memory, tells the vendor's power and scheduling hooks.
  /// Default  the affinity call of the system, and a readback.
  /// [HAL-BND-01] After ENTER the system's mask of this thread is what the report says.
  /// [HAL-BND-02] LEAVE undoes ENTER: mask and scratch are as before.
  /// [HAL-BND-03] A unit that is not there is NOT_FOUND, and the thread stays as it was.
  /// Errors   NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT, UNIMPLEMENTED. Threads: the worker.
  hy_status (*worker_bind)(hy_device* device, uint32_t pu, uint32_t mode,
                           hy_worker_report* inout_report);

  // ------------------------------------------------------------------------- queues and fences ---

  /// Makes an in-order queue. Default: a software queue of the core, with a thread of its own.
  /// Owns     returns owned. Errors: RESOURCE_EXHAUSTED, INVALID_ARGUMENT. Threads: any.
  hy_status (*queue_create)(hy_device* device, const hy_queue_desc* desc, hy_queue** out_queue);

  /// Runs operations in order after the waits, then signals. `queue` is NULL for a port without
  /// queue_create. Tier 0 ports do the operations before they return and are given no fences.
  /// [HAL-QUE-01] Submissions of one queue take effect in their order; so do operations of one.
  /// [HAL-QUE-02] Copies to, from and within a device move exactly the bytes asked for, any offset.
  /// [HAL-QUE-03] FILL repeats its pattern of 1, 2 or 4 bytes over exactly the range.
  /// [HAL-QUE-04] A failed operation, or a wait that fails, fails every signal of its submission; each
  ///              wait on those sees it, and no later operation of that submission has run.
  /// [HAL-QUE-05] A refused submission (an error returned) has done nothing and signals nothing.
  /// [HAL-QUE-06] HOST_CALL runs once, in its place; a status other than OK is a failed operation.
  /// [HAL-QUE-07] More submissions than any depth complete or say RESOURCE_EXHAUSTED and lose none.
  /// [HAL-QUE-08] Tier 1 does not block the caller on waits that are not met.
  /// Errors   INVALID_ARGUMENT, OUT_OF_RANGE, UNIMPLEMENTED: an operation of another kind than COPY;
  ///          RESOURCE_EXHAUSTED, DATA_LOSS. For tier 0 also what a HOST_CALL returned.
  hy_status (*submit)(hy_device* device, hy_queue* queue, const hy_submission* submission);

  /// Makes a timeline fence. Default: the core's. A port has all three fence verbs or none.
  /// [HAL-FEN-01] The value only grows; gaps are legal; a wait for v holds from any value >= v on.
  /// Owns     returns owned. Errors: RESOURCE_EXHAUSTED. Threads: any.
  hy_status (*fence_create)(hy_device* device, uint64_t initial_value, hy_fence** out_fence);

  /// Waits for points of timelines.
  /// [HAL-FEN-02] A wait before its signal completes when the signal comes, from any thread.
  /// [HAL-FEN-03] A wait for v completes with v, whatever a later value still waits for.
  /// [HAL-FEN-04] ALL and ANY hold as they say; out_values are values reached.
  /// [HAL-FEN-05] A deadline of 0 polls; a deadline that passes is DEADLINE_EXCEEDED, not earlier.
  /// [HAL-FEN-06] A wait on a fence that failed returns its failure, at once and each time.
  /// Errors   DEADLINE_EXCEEDED, the failure of a fence, INVALID_ARGUMENT. Threads: any.
  hy_status (*fence_wait)(hy_device* device, const hy_wait_desc* desc);

  /// Signals from the host, or fails the fence with a status other than OK.
  /// [HAL-FEN-07] A value that is not above the present one is INVALID_ARGUMENT and changes nothing.
  /// [HAL-FEN-08] The first failure stays; later signals and failures are FAILED_PRECONDITION.
  /// [HAL-FEN-09] What a thread wrote before it signals is seen by whoever waited for the value.
  /// Errors   INVALID_ARGUMENT, FAILED_PRECONDITION. Threads: any.
  hy_status (*fence_signal)(hy_fence* fence, uint64_t value, hy_status status);

  // ------------------------------------------------------------------------------ time and end ---

  /// Reads the device's and the host's clock next to each other.
  /// [HAL-TIM-01] Ticks never go back, on one thread, across threads and across units.
  /// [HAL-TIM-02] Ticks over hz agree with the host's clock within 0.1 percent.
  /// [HAL-TIM-03] The host's time lies between two reads of CLOCK_MONOTONIC_RAW around the call.
  /// Errors   DATA_LOSS. Threads: any.
  hy_status (*timestamp)(hy_device* device, hy_timestamp* out_timestamp);

  /// Frees an object. NULL is OK.
  /// [HAL-REL-01] NULL of any kind is OK; a kind that does not exist is INVALID_ARGUMENT.
  /// [HAL-REL-02] Objects may be released in any order, the device last.
  /// [HAL-REL-03] Nothing is left behind: memory, mappings, descriptors and threads.
  /// Errors   INVALID_ARGUMENT. Threads: any, for each object once.
  hy_status (*release)(uint32_t kind, void* handle);
} hy_hal_api;

/// Size of the table as of ABI 1.0; a port's table is at least this long.
#define HY_HAL_API_SIZE_V1_0 ((uint32_t)(offsetof(hy_hal_api, release) + sizeof(void*)))

/// The exported entry. NULL with a HY_REFUSED_* reason when the versions do not fit.
typedef const hy_hal_api* (*hy_hal_get_fn)(uint32_t host_major, uint32_t host_minor,
                                           const hy_host_services* services, uint32_t* out_reason);
#define HY_HAL_GET_NAME "halyard_hal_get"

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALYARD_HAL_H_
