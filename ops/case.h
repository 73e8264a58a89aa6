// SPDX-License-Identifier: Apache-2.0
//
// Cases of an op: shapes, types and data that say something, shared by parity, conformance, bench and
// tuner. Each op lists its own in cases.cc; whoever runs one supplies the memory.
#ifndef HALYARD_OPS_CASE_H_
#define HALYARD_OPS_CASE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "halyard/kernel.h"

namespace halyard::ops {

/// One case. Its text (CaseText) is complete: it can be made again from that alone, e.g.
///   matmul/f32.q4_k.f32/M=37,N=3,K=768/dist=lossless/lay=pad64+off4/seed=17
struct Case {
  std::string op;
  std::vector<uint32_t> types;                        ///< the op's type tuple
  std::vector<std::pair<std::string, int64_t>> dims;  ///< sizes and options, in the op's order
  std::string dist = "uniform";  ///< of the inputs; see ops/data/distribution.h
  std::string lay = "dense";  ///< dense, or joined by '+': padN (row gaps of N bytes), offN (base
                              ///< N bytes off alignment), inplace, packed
  uint64_t seed = 1;
  /// Edges of the catalogue that it covers ("X01"); derived from the case, not part of the text.
  std::vector<std::string> edges;

  int64_t dim(absl::string_view name, int64_t otherwise = 0) const;
};

std::string CaseText(const Case& c);
/// Errors   INVALID_ARGUMENT: what is wrong with the text.
absl::StatusOr<Case> ParseCase(absl::string_view text);

/// How much of the list is wanted. Each tier holds the ones before it.
enum class Tier { kQuick, kStandard, kFull };

/// Supplies a case's tensors: guarded and poisoned memory in conformance, plain in bench, device
/// buffers on a device. Filling follows the case's dist, seed and the operand's name, so that a
/// smaller shape holds the same numbers.
class CaseBuilder {
 public:
  virtual ~CaseBuilder() = default;
  /// An input by the case's distribution, or by `dist` if given. Strides follow the case's `lay`.
  virtual hy_tensor Input(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                          absl::string_view dist = "") = 0;
  /// As Input, for weights: packed if the kernel under test wants a layout and `lay` says packed.
  virtual hy_tensor Weights(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                            absl::string_view dist = "") = 0;
  /// An input that holds given values.
  virtual hy_tensor Ints(absl::string_view name, absl::Span<const int64_t> shape,
                         absl::Span<const int32_t> values) = 0;
  virtual hy_tensor Floats(absl::string_view name, uint32_t type, absl::Span<const int64_t> shape,
                           absl::Span<const float> values) = 0;
  /// A large f32 table of which only some parts matter: those named, along the outermost axis, hold
  /// `values`, part after part. The others hold NaNs, or are memory that is not to be touched.
  virtual hy_tensor SparseFloats(absl::string_view name, absl::Span<const int64_t> shape,
                                 absl::Span<const int64_t> parts, absl::Span<const float> values);
  /// An output, poisoned.
  virtual hy_tensor Output(absl::string_view name, uint32_t type,
                           absl::Span<const int64_t> shape) = 0;
  /// An operand that is read and written in part, such as KV pages: filled as an input.
  virtual hy_tensor InOut(absl::string_view name, uint32_t type,
                          absl::Span<const int64_t> shape) = 0;
  /// `out` shares the memory of `in`: for in-place cases. Give the result of Output to neither.
  virtual hy_tensor InPlace(absl::string_view name, const hy_tensor& in) = 0;
  const Case& the_case() const { return *case_; }

 protected:
  explicit CaseBuilder(const Case* c) : case_(c) {}
  const Case* case_;
};

/// One op's cases.
struct OpCases {
  const char* op;
  /// Appends the cases of a tier. Deterministic; the order is part of the list's version.
  void (*enumerate)(Tier tier, std::vector<Case>* out);
  /// Fills args (zeroed, args_bytes large) for a case.
  /// Errors   INVALID_ARGUMENT: the case names dims or types that the op does not have.
  absl::Status (*build)(const Case& c, CaseBuilder& builder, void* args);
};

}  // namespace halyard::ops

/// Defines `halyard_cases_NAME`, which the generated table lists.
#define HALYARD_CASES(NAME, ENUMERATE, BUILD)              \
  extern const halyard::ops::OpCases halyard_cases_##NAME; \
  const halyard::ops::OpCases halyard_cases_##NAME = {#NAME, ENUMERATE, BUILD};

#endif  // HALYARD_OPS_CASE_H_
