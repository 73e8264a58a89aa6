// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "absl/strings/str_cat.h"
#include "conformance/ops/guarded_builder.h"
#include "conformance/ops/op_check.h"
#include "ops/data/pack_weights.h"

namespace halyard::conformance {
namespace {

constexpr uint64_t kAlignment = 64;

/// One shape of weights in one layout.
class RoundTrip {
 public:
  RoundTrip(const hy_layout_desc& layout, int64_t rows, int64_t cols, const char* lay)
      : layout_(layout) {
    case_.op = "layout";
    case_.dist = "random-bits";
    case_.lay = lay;
    builder_ = std::make_unique<GuardedBuilder>(&case_, GuardSide::kAfter, nullptr);
    source_ = builder_->Weights("source", layout.type, {rows, cols});
    back_ = builder_->Output("unpacked", layout.type, {rows, cols});
    what_ = absl::StrCat("[", rows, ", ", cols, "] ", lay, ": ");
  }

  void Check(std::vector<std::string>* faults) {
    if (!builder_->status().ok() || !ops::CanPack(layout_, source_)) return;
    const std::vector<uint8_t> one = Pack(1, kPoisonNan, faults);
    for (const uint32_t workers : {1u, 2u, 3u, 64u}) {
      if (Pack(workers, kPoisonNumber, faults) != one) {
        faults->push_back(absl::StrCat(what_, "packed by ", workers,
                                       " workers over other bytes it is not the same: some of it "
                                       "is not written, or depends on the count"));
        return;
      }
    }
    Unpack(one, faults);
    for (const std::string& damage : builder_->Damage()) faults->push_back(what_ + damage);
  }

 private:
  std::vector<uint8_t> Pack(uint32_t workers, uint8_t poison, std::vector<std::string>* faults) {
    const uint64_t bytes = ops::PackedBytes(layout_, source_);
    absl::StatusOr<GuardedRegion> region =
        GuardedRegion::Make("packed", bytes, kAlignment, GuardSide::kAfter);
    if (!region.ok()) return {};
    std::memset(region->base(), poison, static_cast<size_t>(bytes));
    WriteCanary(region->base() + bytes, region->slack_after());
    WriteCanary(region->base() - region->slack_before(), region->slack_before());
    for (uint32_t i = workers; i-- > 0;) {
      ops::PackWeights(layout_, source_, region->base(), i, workers);
    }
    if (FindLostCanary(region->base() + bytes, region->slack_after()) != region->slack_after() ||
        FindLostCanary(region->base() - region->slack_before(), region->slack_before()) !=
            region->slack_before()) {
      faults->push_back(what_ + "packing writes beside the bytes that it asked for");
    }
    return std::vector<uint8_t>(region->base(), region->base() + bytes);
  }

  void Unpack(const std::vector<uint8_t>& packed, std::vector<std::string>* faults) {
    absl::StatusOr<GuardedRegion> region =
        GuardedRegion::Make("packed", packed.size(), kAlignment, GuardSide::kAfter);
    if (!region.ok()) return;
    std::memcpy(region->base(), packed.data(), packed.size());
    for (uint32_t i = 0; i < 3; ++i) layout_.unpack(region->base(), &back_, i, 3);
    const auto row_bytes =
        static_cast<size_t>(hy_type_row_bytes(source_.type, hy_tensor_cols(&source_)));
    for (int64_t r = 0; r < hy_tensor_rows(&source_); ++r) {
      if (std::memcmp(hy_tensor_row(&source_, r), hy_tensor_row(&back_, r), row_bytes) == 0) {
        continue;
      }
      faults->push_back(absl::StrCat(what_, "row ", r, " is not what was packed"));
      return;
    }
  }

  const hy_layout_desc& layout_;
  ops::Case case_;
  std::unique_ptr<GuardedBuilder> builder_;
  hy_tensor source_{};
  hy_tensor back_{};
  std::string what_;
};

}  // namespace

std::vector<std::string> LayoutFaults(const hy_layout_desc& layout) {
  std::vector<std::string> faults;
  int64_t block = hy_type_facts(layout.type)->block;
  if (block == HY_BLOCK_ROW) block = 64;
  for (const int64_t rows : {1, 3, 16, 17, 37, 64}) {
    for (const int64_t blocks : {1, 2, 3, 5}) {
      for (const char* lay : {"dense", "pad64+off4"}) {
        RoundTrip(layout, rows, blocks * block, lay).Check(&faults);
      }
    }
  }
  return faults;
}

}  // namespace halyard::conformance
