// SPDX-License-Identifier: Apache-2.0
#include "conformance/golden/golden_codec.h"

#include <zstd.h>

#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "conformance/golden/golden_bytes.h"

namespace halyard::conformance {
namespace {

using reference::Expected;
using reference::ExpectedOutput;

// Of 1 to 22: higher ones take much longer for a percent or two.
constexpr int kLevel = 9;
// More than any case has; less than would exhaust a small machine.
constexpr size_t kMostBytes = size_t{1} << 30;

// First all lowest bytes, then the next: exponents and low zeros stand together, which compresses.
void PutDoubles(const std::vector<double>& values, std::string* out) {
  PutInteger(values.size(), 8, out);
  for (size_t plane = 0; plane < 8; ++plane) {
    for (const double value : values) {
      out->push_back(static_cast<char>(std::bit_cast<uint64_t>(value) >> (8 * plane)));
    }
  }
}

std::vector<double> TakeDoubles(ByteReader* reader) {
  const size_t count = reader->Count(8);
  const absl::string_view bytes = reader->Take(uint64_t{8} * count);
  std::vector<double> values(bytes.size() / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = 0;
    for (size_t plane = 0; plane < 8; ++plane) {
      bits |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[plane * count + i])) << (8 * plane);
    }
    values[i] = std::bit_cast<double>(bits);
  }
  return values;
}

void PutBytes(const std::vector<uint8_t>& bytes, std::string* out) {
  PutInteger(bytes.size(), 8, out);
  out->append(bytes.begin(), bytes.end());
}

std::vector<uint8_t> TakeBytes(ByteReader* reader) {
  const absl::string_view bytes = reader->Take(reader->Count(1));
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

void PutOutput(const ExpectedOutput& output, std::string* out) {
  PutInteger(output.operand, 4, out);
  PutInteger(output.exact ? 1 : 0, 1, out);
  PutDoubles(output.value, out);
  PutDoubles(output.bound, out);
  PutBytes(output.bytes, out);
  PutBytes(output.untouched, out);
  PutInteger(output.alternatives.size(), 8, out);
  for (const std::vector<double>& others : output.alternatives) PutDoubles(others, out);
}

ExpectedOutput TakeOutput(ByteReader* reader) {
  ExpectedOutput output(reader->Word());
  output.exact = reader->Integer(1) != 0;
  output.value = TakeDoubles(reader);
  output.bound = TakeDoubles(reader);
  output.bytes = TakeBytes(reader);
  output.untouched = TakeBytes(reader);
  output.alternatives.resize(reader->Count(8));
  for (std::vector<double>& others : output.alternatives) others = TakeDoubles(reader);
  return output;
}

// Judges go through the arrays side by side.
bool IsConsistent(const ExpectedOutput& output) {
  const size_t elements = output.value.size();
  return (output.bound.empty() || output.bound.size() == elements) &&
         (output.exact || output.bound.size() == elements) &&
         (output.untouched.empty() || elements == 0 || output.untouched.size() == elements);
}

GoldenExpectation TakeExpectation(ByteReader* reader, bool* inout_ok) {
  GoldenExpectation one;
  one.numerics.activation = reader->Word();
  one.numerics.accumulator = reader->Word();
  one.numerics.flags = reader->Integer(8);
  one.expected.status = static_cast<hy_status>(reader->Word());
  one.expected.terms_sampled = reader->Integer(8);
  one.expected.terms_visible = reader->Integer(8);
  for (uint32_t left = reader->Word(); left > 0 && reader->ok(); --left) {
    one.expected.outputs.push_back(TakeOutput(reader));
    *inout_ok = *inout_ok && IsConsistent(one.expected.outputs.back());
  }
  return one;
}

}  // namespace

std::string EncodeExpectations(absl::Span<const GoldenExpectation> all) {
  std::string out;
  PutInteger(all.size(), 4, &out);
  for (const auto& [numerics, expected] : all) {
    PutInteger(numerics.activation, 4, &out);
    PutInteger(numerics.accumulator, 4, &out);
    PutInteger(numerics.flags, 8, &out);
    PutInteger(static_cast<uint32_t>(expected.status), 4, &out);
    PutInteger(expected.terms_sampled, 8, &out);
    PutInteger(expected.terms_visible, 8, &out);
    PutInteger(expected.outputs.size(), 4, &out);
    for (const ExpectedOutput& output : expected.outputs) PutOutput(output, &out);
  }
  return out;
}

absl::StatusOr<std::vector<GoldenExpectation>> DecodeExpectations(absl::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<GoldenExpectation> all;
  bool consistent = true;
  for (uint32_t left = reader.Word(); left > 0 && reader.ok(); --left) {
    all.push_back(TakeExpectation(&reader, &consistent));
  }
  if (!reader.ok() || !reader.at_end() || !consistent) {
    return absl::InvalidArgumentError(
        "an entry of the golden pack is not one: write the pack again");
  }
  return all;
}

std::string CompressEntry(absl::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);  // cannot be: the room is enough
  return out;
}

absl::StatusOr<std::string> DecompressEntry(absl::string_view bytes, size_t size) {
  if (size > kMostBytes || ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) {
    return absl::InvalidArgumentError("an entry of the golden pack has another length");
  }
  std::string out(size, '\0');
  const size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("an entry of the golden pack cannot be decompressed: ",
                     ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "it is shorter"));
  }
  return out;
}

}  // namespace halyard::conformance
