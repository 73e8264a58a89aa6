// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a case in guarded memory. What a kernel must not touch is known byte by byte, and can be
// looked at after each run.
#ifndef HALYARD_CONFORMANCE_OPS_GUARDED_BUILDER_H_
#define HALYARD_CONFORMANCE_OPS_GUARDED_BUILDER_H_

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "conformance/ops/guarded_memory.h"
#include "ops/case.h"
#include "ops/data/distribution.h"
#include "ops/data/layout.h"

namespace halyard::conformance {

/// Bytes that outputs hold before a run: NaN in every float type, or plain numbers.
inline constexpr uint8_t kPoisonNan = 0xff;
inline constexpr uint8_t kPoisonNumber = 0x41;

class GuardedBuilder : public ops::CaseBuilder {
 public:
  /// `layout`: what the kernel wants of weights; NULL: canonical. `twin`: a builder of the same case
  /// that was built before, whose data is copied instead of made again. All are borrowed.
  GuardedBuilder(const ops::Case* c, GuardSide side, const hy_layout_desc* layout,
                 const GuardedBuilder* twin = nullptr);

  hy_tensor Input(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                  absl::string_view dist = "") override;
  hy_tensor Weights(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                    absl::string_view dist = "") override;
  hy_tensor Ints(absl::string_view name, absl::Span<const int64_t> shape,
                 absl::Span<const int32_t> values) override;
  hy_tensor Floats(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                   absl::Span<const float> values) override;
  hy_tensor Output(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape) override;
  hy_tensor InOut(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape) override;
  hy_tensor InPlace(absl::string_view name, const hy_tensor& in) override;

  /// Weights that were given out before, once more in a layout that can hold them.
  hy_tensor Packed(const hy_tensor& weights, const hy_layout_desc& layout);

  /// Weights are to be those of another builder, by name, which is quicker than to make them again.
  /// Borrowed while this one is built.
  void ShareWeights(const GuardedBuilder* from) { weights_from_ = from; }

  /// Gives the data that another builder's operand of this name holds before a run to the one here,
  /// of the same shape. Reset puts back no other data from then on.
  void TakeData(absl::string_view name, const GuardedBuilder& from);

  /// The first thing that was wrong while building. Errors: INVALID_ARGUMENT: distribution or lay;
  /// RESOURCE_EXHAUSTED: no address space; UNIMPLEMENTED: the layout cannot hold these weights.
  const absl::Status& status() const { return status_; }

  /// Makes the memory as before a run, with another poison if wanted.
  void Reset(uint8_t poison);

  /// What was touched that should not have been: inputs that changed, gaps and edges that were
  /// written. Empty if nothing was.
  std::vector<std::string> Damage() const;

  /// The canonical form of a packed tensor; `view` itself if it is canonical.
  hy_tensor Canonical(const hy_tensor& view) const;

  /// Bytes of a row of `view` as they were before the run.
  std::vector<uint8_t> RowBefore(const hy_tensor& view, int64_t row) const;

  /// Digest of each operand's data before a run, as "x=0123456789abcdef".
  std::vector<std::string> InputDigests() const;

 private:
  struct Block {
    GuardedRegion region;
    std::string name;
    hy_tensor tensor{};     // as it is given out
    bool restored = false;  // may be written: in place, or in part
    bool output = false;
    int packed_from = -1;        // number of the block that holds the canonical form
    std::vector<uint8_t> image;  // rows without gaps; packed: all bytes; not of outputs
  };

  Block* Add(absl::string_view name, const hy_tensor& shape, int64_t offset, uint64_t bytes,
             int64_t alignment);
  Block* Place(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape);
  hy_tensor Filled(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                   absl::string_view dist, ops::Role role);
  void Fail(const absl::Status& status);
  bool CopyFromTwin(Block* block);
  bool CopyWeights(Block* block);
  static void TakeImage(Block* block);
  static void PutImage(const Block& block);
  static uint64_t RowBytes(const Block& block);
  const Block* Find(const void* data) const;
  void GapDamage(const Block& block, std::vector<std::string>* out) const;

  const GuardSide side_;
  const hy_layout_desc* const layout_;
  const GuardedBuilder* const twin_;
  const GuardedBuilder* weights_from_ = nullptr;
  ops::Lay lay_;
  std::deque<Block> blocks_;
  uint8_t poison_ = kPoisonNan;
  absl::Status status_;
};

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_OPS_GUARDED_BUILDER_H_
