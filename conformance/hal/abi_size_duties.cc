// SPDX-License-Identifier: Apache-2.0
//
// HAL-ABI-03 to 06: the size rule of every struct that crosses the boundary, and strides.
//
// An input struct is given three ways: longer with a zero tail (the same result as exact), longer
// with a non-zero tail (UNIMPLEMENTED), and shorter, lying just before a page that cannot be read
// (the same result as with zeros in place of what is missing).
#include <algorithm>
#include <cstddef>
#include <functional>

#include "absl/strings/str_cat.h"
#include "conformance/hal/areas.h"
#include "conformance/hal/os_oracle.h"
#include "conformance/hal/work.h"

namespace halyard::conformance {
namespace {

constexpr size_t kTailBytes = 16;

/// An input struct and a call that takes it. The call undoes what it did when it was OK.
struct InputCase {
  const char* name;
  std::vector<uint8_t> record;  ///< complete, with its struct_size
  size_t short_bytes;           ///< where its last members begin, which may be left out
  std::function<hy_status(const void*)> call;
};

template <typename T>
std::vector<uint8_t> RecordOf(const T& record) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&record);
  return {bytes, bytes + sizeof record};
}

void SetSize(std::vector<uint8_t>& record, size_t bytes) {
  const auto size = static_cast<uint32_t>(bytes);
  std::memcpy(record.data(), &size, sizeof size);
}

hy_status CallWith(const InputCase& one, const std::vector<uint8_t>& record) {
  const GuardedPage page;
  void* const place = page.Before(record.size());
  std::memcpy(place, record.data(), record.size());
  return one.call(place);
}

InputCase OpenCase(HalContext& context) {
  const hy_open_desc desc = context.open_desc();
  return {"hy_open_desc", RecordOf(desc),
          desc.options.count == 0 ? offsetof(hy_open_desc, options) : sizeof desc,
          [&context](const void* given) {
            hy_device* device = nullptr;
            const hy_status status = context.api().open(
                context.port()->self(), static_cast<const hy_open_desc*>(given), &device);
            context.api().release(HY_KIND_DEVICE, device);
            return status;
          }};
}

InputCase AllocCase(HalContext& context) {
  return {"hy_alloc_desc", RecordOf(RawAlloc(5000)), offsetof(hy_alloc_desc, flags),
          [&context](const void* given) {
            hy_buffer* buffer = nullptr;
            const hy_status status = context.api().alloc(
                context.raw_device(), static_cast<const hy_alloc_desc*>(given), &buffer, nullptr);
            context.api().release(HY_KIND_BUFFER, buffer);
            return status;
          }};
}

InputCase QueryCase(HalContext& context) {
  hy_query_desc desc = Sized<hy_query_desc>();
  desc.kind = HY_KIND_DEVICE;
  desc.handle = context.raw_device();
  desc.key = HY_QUERY_CAPS;
  return {"hy_query_desc", RecordOf(desc), offsetof(hy_query_desc, name),
          [&context](const void* given) {
            uint64_t caps = 0, bytes = sizeof caps;
            return context.api().query(static_cast<const hy_query_desc*>(given), &caps, &bytes);
          }};
}

InputCase MapCase(HalContext& context, hy_buffer* buffer) {
  hy_map_desc desc = Sized<hy_map_desc>();
  desc.bytes = 100;
  desc.access = HY_MAP_READ;
  return {"hy_map_desc", RecordOf(desc), offsetof(hy_map_desc, access),
          [&context, buffer](const void* given) {
            const auto* const map = static_cast<const hy_map_desc*>(given);
            void* ptr = nullptr;
            const hy_status status = context.api().map(buffer, map, &ptr);
            if (status == HY_OK && context.api().unmap != nullptr) {
              return context.api().unmap(buffer, map, ptr);
            }
            return status;
          }};
}

InputCase ImportCase(HalContext& context) {
  alignas(4096) static uint8_t memory[8192];
  hy_import_desc desc = Sized<hy_import_desc>();
  desc.ptr = memory;
  desc.bytes = sizeof memory;
  return {"hy_import_desc", RecordOf(desc), offsetof(hy_import_desc, on_release),
          [&context](const void* given) {
            hy_buffer* buffer = nullptr;
            const hy_status status = context.api().import_host(
                context.raw_device(), static_cast<const hy_import_desc*>(given), &buffer);
            context.api().release(HY_KIND_BUFFER, buffer);
            return status;
          }};
}

InputCase TeamCase(HalContext& context) {
  hy_team_desc desc = Sized<hy_team_desc>();
  desc.count = 1;
  desc.perf_class = HY_ID_NONE;
  return {"hy_team_desc", RecordOf(desc), offsetof(hy_team_desc, name),
          [&context](const void* given) {
            hy_team* team = nullptr;
            const hy_status status = context.api().team_create(
                context.raw_device(), static_cast<const hy_team_desc*>(given), &team);
            context.api().release(HY_KIND_TEAM, team);
            return status;
          }};
}

InputCase QueueCase(HalContext& context) {
  return {"hy_queue_desc", RecordOf(Sized<hy_queue_desc>()), offsetof(hy_queue_desc, flags),
          [&context](const void* given) {
            hy_queue* queue = nullptr;
            const hy_status status = context.api().queue_create(
                context.raw_device(), static_cast<const hy_queue_desc*>(given), &queue);
            context.api().release(HY_KIND_QUEUE, queue);
            return status;
          }};
}

InputCase SubmissionCase(HalContext& context) {
  return {"hy_submission", RecordOf(Sized<hy_submission>()), offsetof(hy_submission, signals),
          [&context](const void* given) {
            hy_queue* queue = nullptr;
            if (context.api().queue_create != nullptr) {
              const hy_queue_desc desc = Sized<hy_queue_desc>();
              context.api().queue_create(context.raw_device(), &desc, &queue);
            }
            const hy_status status = context.api().submit(context.raw_device(), queue,
                                                          static_cast<const hy_submission*>(given));
            context.api().release(HY_KIND_QUEUE, queue);
            return status;
          }};
}

InputCase WaitCase(HalContext& context, std::vector<hy_fence_point>& points) {
  hy_wait_desc desc = Sized<hy_wait_desc>();
  desc.points = ArrayOf(points);
  return {"hy_wait_desc", RecordOf(desc), offsetof(hy_wait_desc, out_values),
          [&context](const void* given) {
            return context.api().fence_wait(context.raw_device(),
                                            static_cast<const hy_wait_desc*>(given));
          }};
}

/// All input structs of verbs that the port has, with the objects that they need.
class Inputs {
 public:
  explicit Inputs(HalContext& context) : api_(context.api()), buffer_(context, 4096) {
    if (context.can_reopen()) cases_.push_back(OpenCase(context));
    cases_.push_back(AllocCase(context));
    cases_.push_back(QueryCase(context));
    if (api_.map != nullptr) cases_.push_back(MapCase(context, buffer_.get()));
    if (api_.import_host != nullptr) cases_.push_back(ImportCase(context));
    if (api_.team_create != nullptr) cases_.push_back(TeamCase(context));
    if (api_.queue_create != nullptr) cases_.push_back(QueueCase(context));
    if (api_.submit != nullptr) cases_.push_back(SubmissionCase(context));
    if (api_.fence_create != nullptr) {
      HY_EXPECT_STATUS(api_.fence_create(context.raw_device(), 5, &fence_), HY_OK);
      points_ = {{fence_, 1}};
      cases_.push_back(WaitCase(context, points_));
    }
  }
  ~Inputs() { api_.release(HY_KIND_FENCE, fence_); }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  const std::vector<InputCase>& cases() const { return cases_; }

 private:
  const hy_hal_api& api_;
  RawBuffer buffer_;
  hy_fence* fence_ = nullptr;
  std::vector<hy_fence_point> points_;
  std::vector<InputCase> cases_;
};

/// An output struct and a call that fills it.
struct OutputCase {
  const char* name;
  size_t bytes;        ///< of the struct
  size_t short_bytes;  ///< a size that still holds something
  bool is_input_too;   ///< then an unknown tail must come as zeros
  std::function<hy_status(void*)> call;
};

std::vector<OutputCase> Outputs(HalContext& context) {
  const hy_hal_api& api = context.api();
  std::vector<OutputCase> cases;
  cases.push_back({"hy_timestamp", sizeof(hy_timestamp), offsetof(hy_timestamp, hz), false,
                   [&context](void* out) {
                     return context.api().timestamp(context.raw_device(),
                                                    static_cast<hy_timestamp*>(out));
                   }});
  cases.push_back({"hy_placement", sizeof(hy_placement), offsetof(hy_placement, reasons), false,
                   [&context](void* out) {
                     const hy_alloc_desc desc = RawAlloc(5000);
                     hy_buffer* buffer = nullptr;
                     const hy_status status = context.api().alloc(
                         context.raw_device(), &desc, &buffer, static_cast<hy_placement*>(out));
                     context.api().release(HY_KIND_BUFFER, buffer);
                     return status;
                   }});
  if (api.topology != nullptr) {
    cases.push_back({"hy_topology", sizeof(hy_topology), offsetof(hy_topology, quota_millicpus),
                     true, [&context](void* out) {
                       return context.api().topology(context.raw_device(),
                                                     static_cast<hy_topology*>(out));
                     }});
  }
  if (api.worker_bind != nullptr) {
    cases.push_back(
        {"hy_worker_report", sizeof(hy_worker_report), offsetof(hy_worker_report, scratch), true,
         [&context](void* out) {
           hy_status status = HY_OK;
           OnNewThread([&] {
             const uint32_t unit = os::CurrentUnit().value_or(0);
             auto* const report = static_cast<hy_worker_report*>(out);
             status = context.api().worker_bind(context.raw_device(), unit, HY_BIND_ENTER, report);
             if (status != HY_OK) return;
             hy_worker_report leave = Sized<hy_worker_report>();
             context.api().worker_bind(context.raw_device(), unit, HY_BIND_LEAVE, &leave);
           });
           return status;
         }});
  }
  return cases;
}

}  // namespace

HY_DUTY("HAL-ABI-03", UnknownTailsMustBeZero, .in_validate = false) {
  const Inputs inputs(context);
  for (const InputCase& one : inputs.cases()) {
    SCOPED_TRACE(one.name);
    const hy_status exact = CallWith(one, one.record);
    if (exact == HY_UNIMPLEMENTED) continue;  // the verb itself is left to the core
    EXPECT_EQ(exact, HY_OK) << one.name << ": " << hy_status_name(exact);
    std::vector<uint8_t> longer = one.record;
    longer.resize(longer.size() + kTailBytes);
    SetSize(longer, longer.size());
    const hy_status zeros = CallWith(one, longer);
    EXPECT_EQ(zeros, exact) << one.name << ", zero tail: " << hy_status_name(zeros);
    for (const size_t place : {one.record.size(), longer.size() - 1}) {
      std::vector<uint8_t> unknown = longer;
      unknown[place] = 1;
      const hy_status refused = CallWith(one, unknown);
      EXPECT_EQ(refused, HY_UNIMPLEMENTED)
          << one.name << ", a byte set at " << place << ": " << hy_status_name(refused);
    }
  }
}

HY_DUTY("HAL-ABI-04", ShorterStructsAreReadAsIfZero, .in_validate = false) {
  const Inputs inputs(context);
  for (const InputCase& one : inputs.cases()) {
    SCOPED_TRACE(one.name);
    std::vector<uint8_t> zeroed = one.record;
    std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(one.short_bytes), zeroed.end(),
              uint8_t{0});
    const hy_status expected = CallWith(one, zeroed);
    std::vector<uint8_t> shorter(zeroed.begin(),
                                 zeroed.begin() + static_cast<std::ptrdiff_t>(one.short_bytes));
    SetSize(shorter, shorter.size());
    // A read beyond it is a SIGSEGV: it ends at a page that cannot be touched.
    const hy_status got = CallWith(one, shorter);
    EXPECT_EQ(got, expected) << one.name << " of " << one.short_bytes
                             << " bytes: " << hy_status_name(got) << ", with zeros "
                             << hy_status_name(expected);
  }
}

HY_DUTY("HAL-ABI-04", ASizeOfNothingIsRefused, .in_validate = false) {
  const Inputs inputs(context);
  for (const InputCase& one : inputs.cases()) {
    for (const size_t bytes : {0u, 3u}) {
      std::vector<uint8_t> record = one.record;
      SetSize(record, bytes);
      HY_EXPECT_STATUS(CallWith(one, record), HY_INVALID_ARGUMENT);
    }
  }
}

HY_DUTY("HAL-ABI-05", OutputsStayWithinTheCallersSize, .in_validate = false) {
  for (const OutputCase& one : Outputs(context)) {
    SCOPED_TRACE(one.name);
    for (const size_t given : {one.bytes, one.short_bytes, one.bytes + kTailBytes}) {
      // Behind the struct lies a page that cannot be written; before its end, a pattern.
      const GuardedPage page;
      const size_t room = given + 8;
      auto* const out = static_cast<uint8_t*>(page.Before(room));
      std::fill_n(out, room, uint8_t{0});
      const auto size = static_cast<uint32_t>(given);
      std::memcpy(out, &size, sizeof size);
      if (given > one.bytes && !one.is_input_too) {
        std::fill(out + one.bytes, out + given, uint8_t{0x5a});
      }
      std::fill(out + given, out + room, uint8_t{0xa5});
      const hy_status status = one.call(out);
      if (status == HY_UNIMPLEMENTED && given == one.bytes) break;
      EXPECT_TRUE(status == HY_OK || status == HY_OUT_OF_RANGE) << hy_status_name(status);
      uint32_t size_after = 0;
      std::memcpy(&size_after, out, sizeof size_after);
      EXPECT_EQ(size_after, given) << "struct_size was changed";
      EXPECT_EQ(FirstDifference(Bytes(out + given, out + room), Bytes(8, 0xa5)), "")
          << "written beyond the " << given << " bytes of the caller";
      if (given <= one.bytes) continue;
      EXPECT_EQ(FirstDifference(Bytes(out + one.bytes, out + given), Bytes(kTailBytes, 0)), "")
          << "what the port does not know is not zeroed";
    }
  }
}

HY_DUTY("HAL-ABI-06", RecordsLieAStrideApart) {
  const hy_hal_api& api = context.api();
  constexpr uint8_t kGap = 0xb7;
  const auto check_gaps = [&](const char* name, const Bytes& bytes, size_t record, size_t stride) {
    for (size_t at = 0; at + stride <= bytes.size(); at += stride) {
      const Bytes gap(bytes.begin() + static_cast<std::ptrdiff_t>(at + record),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + stride));
      EXPECT_EQ(FirstDifference(gap, Bytes(gap.size(), kGap)), "") << name << " at " << at;
    }
  };
  {
    constexpr size_t kStride = sizeof(hy_device_info) + 40;
    hy_array count{nullptr, 0, 0, kStride, 0};
    ASSERT_EQ(api.enumerate(context.port()->self(), &count), HY_OK);
    Bytes bytes(count.count * kStride, kGap);
    hy_array devices{bytes.data(), 0, count.count, kStride, 0};
    ASSERT_EQ(api.enumerate(context.port()->self(), &devices), HY_OK);
    check_gaps("hy_device_info", bytes, sizeof(hy_device_info), kStride);
    hy_device_info last;
    std::memcpy(&last, bytes.data() + (devices.count - 1) * kStride, sizeof last);
    EXPECT_NE(last.id[0], '\0') << "the last record does not lie at its stride";
  }
  {
    constexpr uint32_t kStride = sizeof(hy_memory_class) + 24;
    hy_query_desc desc = Sized<hy_query_desc>();
    desc.kind = HY_KIND_DEVICE;
    desc.handle = context.raw_device();
    desc.key = HY_QUERY_MEMORY_CLASSES;
    desc.stride = kStride;
    uint64_t size = 0;
    HY_ASSERT_OK(absl::Status(static_cast<absl::StatusCode>(api.query(&desc, nullptr, &size)), ""));
    const auto& classes = context.device().memory_classes();
    ASSERT_EQ(size, classes.size() * kStride) << "the size is counted in strides";
    Bytes bytes(static_cast<size_t>(size), kGap);
    HY_EXPECT_STATUS(api.query(&desc, bytes.data(), &size), HY_OK);
    check_gaps("hy_memory_class", bytes, sizeof(hy_memory_class), kStride);
    for (size_t i = 0; i < classes.size(); ++i) {
      hy_memory_class one;
      std::memcpy(&one, bytes.data() + i * kStride, sizeof one);
      EXPECT_EQ(one.id, classes[i].id);
    }
  }
  if (api.topology != nullptr) {
    constexpr uint32_t kStride = sizeof(hy_pu) + 16;
    hy_topology topology = Sized<hy_topology>();
    const hy_status counted = api.topology(context.raw_device(), &topology);
    if (counted == HY_UNIMPLEMENTED) return;
    ASSERT_EQ(counted, HY_OK);
    const uint32_t count = topology.pus.count;
    Bytes bytes(count * kStride, kGap);
    topology.pus = {bytes.data(), 0, count, kStride, 0};
    ASSERT_EQ(api.topology(context.raw_device(), &topology), HY_OK);
    ASSERT_EQ(topology.pus.count, count);
    check_gaps("hy_pu", bytes, sizeof(hy_pu), kStride);
  }
}

HY_DUTY("HAL-ABI-06", InputRecordsLieAStrideApart, .in_validate = false) {
  const hy_hal_api& api = context.api();
  if (api.submit == nullptr) GTEST_SKIP() << "the port takes no arrays of structs";
  const RawBuffer buffer(context, 64);
  // Two fills in records that are longer than the port knows, with a zero tail.
  struct LongOp {
    hy_op op;
    uint64_t tail[3];
  };
  LongOp ops[2];
  std::memset(ops, 0, sizeof ops);
  for (uint32_t i = 0; i < 2; ++i) {
    hy_op& op = ops[i].op;
    op.struct_size = sizeof(LongOp);
    op.kind = HY_OP_FILL;
    op.dst = buffer.get();
    op.dst_offset = i * 32;
    op.bytes = 32;
    op.pattern = 0x10 + i;
    op.pattern_bytes = 1;
  }
  hy_queue* queue = nullptr;
  if (api.queue_create != nullptr) {
    const hy_queue_desc desc = Sized<hy_queue_desc>();
    ASSERT_EQ(api.queue_create(context.raw_device(), &desc, &queue), HY_OK);
  }
  hy_submission work = Sized<hy_submission>();
  work.ops = {ops, 2, 2, sizeof(LongOp), 0};
  const hy_status status = api.submit(context.raw_device(), queue, &work);
  ops[1].tail[1] = 9;
  const hy_status unknown = api.submit(context.raw_device(), queue, &work);
  HY_EXPECT_STATUS(api.release(HY_KIND_QUEUE, queue), HY_OK);
  if (status == HY_UNIMPLEMENTED) GTEST_SKIP() << "the port submits copies only";
  EXPECT_EQ(status, HY_OK) << hy_status_name(status);
  EXPECT_EQ(unknown, HY_UNIMPLEMENTED)
      << "a record with an unknown tail: " << hy_status_name(unknown);
}

DutyTable AbiSizeDuties() {
  static constexpr DutyTest kTests[] = {UnknownTailsMustBeZero,  ShorterStructsAreReadAsIfZero,
                                        ASizeOfNothingIsRefused, OutputsStayWithinTheCallersSize,
                                        RecordsLieAStrideApart,  InputRecordsLieAStrideApart};
  return kTests;
}

}  // namespace halyard::conformance
