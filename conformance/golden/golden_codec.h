// SPDX-License-Identifier: Apache-2.0
//
// What an op must give for some args, as bytes: an entry of a golden pack.
#ifndef HALYARD_CONFORMANCE_GOLDEN_GOLDEN_CODEC_H_
#define HALYARD_CONFORMANCE_GOLDEN_GOLDEN_CODEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "reference/reference.h"

namespace halyard::conformance {

/// What kernels of those numerics must give.
struct GoldenExpectation {
  reference::Numerics numerics;
  reference::Expected expected;
};

/// The expectations of one set of args. Little-endian; each bit of a double is kept. Bytes of
/// ExpectedOutput::bytes are taken as they are: see ToLittleEndian.
std::string EncodeExpectations(absl::Span<const GoldenExpectation> all);
/// Errors   INVALID_ARGUMENT: the bytes are no such entry. Any bytes may be given.
absl::StatusOr<std::vector<GoldenExpectation>> DecodeExpectations(absl::string_view bytes);

/// By zstd.
std::string CompressEntry(absl::string_view bytes);
/// `size`: of what was compressed. Errors   INVALID_ARGUMENT: the bytes do not give as many.
absl::StatusOr<std::string> DecompressEntry(absl::string_view bytes, size_t size);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GOLDEN_GOLDEN_CODEC_H_
