// SPDX-License-Identifier: Apache-2.0
//
// Packs and unpacks the layouts of packed_form.h: moves of bytes, so that each bit comes back.
#include <algorithm>
#include <cstring>

#include "base/quant/little_endian.h"
#include "halyard/kernel.h"
#include "ops/matmul/packed_form.h"

namespace halyard::ops {
namespace {

constexpr int kRows = HYK_TILE_ROWS;
constexpr int64_t kMostCodeBytes = 192;  // of one row in one block

// A field of a block that all rows have side by side.
struct Field {
  int64_t offset;  // in a block of the format
  int64_t bytes;
  int64_t count;  // such fields, one after another
};

// How a format's blocks become packed ones.
struct Form {
  hyk_packed_form (*sizes)();
  uint32_t type;
  uint32_t id;
  const char* name;
  int64_t first_code;  // offset in a block of the format
  Field field[3];
  /// Codes of one row and block, `bytes` of them, to the bytes of its words, and back.
  void (*to_words)(const uint8_t* codes, int64_t bytes, uint8_t* words);
  void (*from_words)(const uint8_t* words, int64_t bytes, uint8_t* codes);
};

void Copy(const uint8_t* from, int64_t bytes, uint8_t* to) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

// Adds 128 to codes, or takes it off.
void Bias(const uint8_t* from, int64_t bytes, uint8_t* to) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(from[i] ^ 0x80);
}

// q4_K pairs columns 32 apart, words 16 apart.
void Q4KToWords(const uint8_t* codes, int64_t, uint8_t* words) {
  for (int c = 0; c < 4; ++c, codes += 32, words += 32) {
    for (int j = 0; j < 16; ++j) {
      words[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[16 + j] & 15) << 4);
      words[16 + j] = static_cast<uint8_t>(codes[j] >> 4 | (codes[16 + j] & 0xf0));
    }
  }
}
void Q4KFromWords(const uint8_t* words, int64_t, uint8_t* codes) {
  for (int c = 0; c < 4; ++c, codes += 32, words += 32) {
    for (int j = 0; j < 16; ++j) {
      codes[j] = static_cast<uint8_t>((words[j] & 15) | (words[16 + j] & 15) << 4);
      codes[16 + j] = static_cast<uint8_t>(words[j] >> 4 | (words[16 + j] & 0xf0));
    }
  }
}

// Six-bit codes of 128 columns of q6_K, from its planes of nibbles and pairs, and back.
void SixBits(const uint8_t* nibbles, const uint8_t* pairs, uint8_t* codes) {
  for (int l = 0; l < 32; ++l) {
    codes[l] = static_cast<uint8_t>((nibbles[l] & 15) | (pairs[l] & 3) << 4);
    codes[32 + l] = static_cast<uint8_t>((nibbles[32 + l] & 15) | (pairs[l] & 12) << 2);
    codes[64 + l] = static_cast<uint8_t>(nibbles[l] >> 4 | (pairs[l] & 0x30));
    codes[96 + l] = static_cast<uint8_t>(nibbles[32 + l] >> 4 | (pairs[l] & 0xc0) >> 2);
  }
}
void PlanesOf(const uint8_t* codes, uint8_t* nibbles, uint8_t* pairs) {
  for (int l = 0; l < 32; ++l) {
    nibbles[l] = static_cast<uint8_t>((codes[l] & 15) | (codes[64 + l] & 15) << 4);
    nibbles[32 + l] = static_cast<uint8_t>((codes[32 + l] & 15) | (codes[96 + l] & 15) << 4);
    pairs[l] = static_cast<uint8_t>(codes[l] >> 4 | (codes[32 + l] >> 4) << 2 |
                                    (codes[64 + l] >> 4) << 4 | (codes[96 + l] >> 4) << 6);
  }
}

// The same codes of 32 columns, in words.
void SixBitsToWords(const uint8_t* codes, uint8_t* words) {
  for (int j = 0; j < 16; ++j)
    words[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[16 + j] & 15) << 4);
  for (int j = 0; j < 8; ++j) {
    const uint8_t* at = codes + j / 4 * 8 + j % 4;
    words[16 + j] = static_cast<uint8_t>(at[0] >> 4 | (at[4] >> 4) << 2 | (at[16] >> 4) << 4 |
                                         (at[20] >> 4) << 6);
  }
}
void SixBitsFromWords(const uint8_t* words, uint8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    const uint8_t* bits = words + 16 + j / 8 * 4 + j % 4;
    const int place = j / 4 % 2 * 2;
    codes[j] = static_cast<uint8_t>((words[j] & 15) | (*bits >> place & 3) << 4);
    codes[16 + j] = static_cast<uint8_t>(words[j] >> 4 | (*bits >> (place + 4) & 3) << 4);
  }
}

void Q6KToWords(const uint8_t* block, int64_t, uint8_t* words) {
  uint8_t codes[128];
  for (int half = 0; half < 2; ++half) {
    SixBits(block + 64 * half, block + 128 + 32 * half, codes);
    for (int i = 0; i < 4; ++i, words += 24) SixBitsToWords(codes + 32 * i, words);
  }
}
void Q6KFromWords(const uint8_t* words, int64_t, uint8_t* block) {
  uint8_t codes[128];
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i, words += 24) SixBitsFromWords(words, codes + 32 * i);
    PlanesOf(codes, block + 64 * half, block + 128 + 32 * half);
  }
}

constexpr Form kQ8_0 = {hyk_packed_q8_0,
                        HY_TYPE_Q8_0,
                        HYK_LAYOUT_Q8_0_R16,
                        "q8_0/r16@halyard",
                        2,
                        {{0, 2, 1}},
                        Bias,
                        Bias};
constexpr Form kQ4_0 = {hyk_packed_q4_0,
                        HY_TYPE_Q4_0,
                        HYK_LAYOUT_Q4_0_R16,
                        "q4_0/r16@halyard",
                        2,
                        {{0, 2, 1}},
                        Copy,
                        Copy};
constexpr Form kQ4_1 = {hyk_packed_q4_1,
                        HY_TYPE_Q4_1,
                        HYK_LAYOUT_Q4_1_R16,
                        "q4_1/r16@halyard",
                        4,
                        {{0, 2, 1}, {2, 2, 1}},
                        Copy,
                        Copy};
constexpr Form kQ4_K = {hyk_packed_q4_k,    HY_TYPE_Q4_K, HYK_LAYOUT_Q4_K_R16,
                        "q4_k/r16@halyard", 16,           {{0, 2, 1}, {2, 2, 1}, {4, 1, 12}},
                        Q4KToWords,         Q4KFromWords};
constexpr Form kQ6_K = {hyk_packed_q6_k,
                        HY_TYPE_Q6_K,
                        HYK_LAYOUT_Q6_K_R16,
                        "q6_k/r16@halyard",
                        0,
                        {{208, 2, 1}, {192, 1, 16}},
                        Q6KToWords,
                        Q6KFromWords};
constexpr Form kW8A8 = {
    hyk_packed_w8a8, HY_TYPE_W8A8, HYK_LAYOUT_W8A8_R16, "w8a8/r16@halyard", 0, {}, Bias, Bias};
constexpr Form kW4A8 = {hyk_packed_w4a8,
                        HY_TYPE_W4A8_G128,
                        HYK_LAYOUT_W4A8_R16,
                        "w4a8_g128/r16@halyard",
                        4,
                        {{0, 4, 1}},
                        Copy,
                        Copy};
constexpr Form kBf16 = {
    hyk_packed_bf16, HY_TYPE_BF16, HYK_LAYOUT_BF16_R16, "bf16/r16@halyard", 0, {}, Copy, Copy};

// One row of a canonical tensor, and where its tile is packed.
struct RowOfTile {
  uint8_t* codes;  // of the first block
  uint8_t* scales;
  uint8_t* tile_scales;
  int row;  // within the tile
  int64_t cols;
};

// Where the codes of a block lie in a row, and how many bytes they are.
struct Span {
  int64_t first;
  int64_t bytes;
};

Span CodesOf(const Form& form, const hyk_packed_form& sizes, int64_t cols, int64_t block) {
  const int64_t row_bytes = sizes.code_bytes / kRows;
  if (form.type == HY_TYPE_W8A8 || form.type == HY_TYPE_BF16) {
    const int64_t element = row_bytes / sizes.block;
    const int64_t header = form.type == HY_TYPE_W8A8 ? 4 : 0;
    const int64_t first = block * sizes.block;
    return {header + first * element, std::min(sizes.block, cols - first) * element};
  }
  return {block * hy_type_facts(form.type)->block_bytes + form.first_code, row_bytes};
}

void PackRow(const Form& form, const uint8_t* in, const RowOfTile& at) {
  const hyk_packed_form sizes = form.sizes();
  const int64_t blocks = hyk_packed_blocks(&sizes, at.cols);
  const int64_t words = sizes.code_bytes / HYK_WORD_BYTES;
  for (int64_t b = 0; b < blocks; ++b) {
    uint8_t bytes[kMostCodeBytes] = {};
    const Span span = CodesOf(form, sizes, at.cols, b);
    if (span.bytes < words * 4 && form.type == HY_TYPE_W8A8) std::memset(bytes, 0x80, 32);
    form.to_words(in + span.first, span.bytes, bytes);
    uint8_t* out = at.codes + b * sizes.code_bytes + 4 * at.row;
    for (int64_t w = 0; w < words; ++w) std::memcpy(out + w * HYK_WORD_BYTES, bytes + 4 * w, 4);
    const uint8_t* block = in + b * hy_type_facts(form.type)->block_bytes;
    uint8_t* scales = at.scales + b * sizes.scale_bytes;
    for (const Field& field : form.field) {
      for (int64_t i = 0; i < field.count; ++i, scales += kRows * field.bytes)
        Copy(block + field.offset + i * field.bytes, field.bytes, scales + at.row * field.bytes);
    }
  }
  if (form.type != HY_TYPE_W8A8) return;
  int32_t sum = 0;
  for (int64_t k = 0; k < at.cols; ++k) sum += static_cast<int8_t>(in[4 + k]);
  Copy(in, 4, at.tile_scales + 4 * at.row);
  quant::StoreLe32(static_cast<uint32_t>(sum), at.tile_scales + 4 * (kRows + at.row));
}

void UnpackRow(const Form& form, const RowOfTile& at, uint8_t* out) {
  const hyk_packed_form sizes = form.sizes();
  const int64_t blocks = hyk_packed_blocks(&sizes, at.cols);
  const int64_t words = sizes.code_bytes / HYK_WORD_BYTES;
  for (int64_t b = 0; b < blocks; ++b) {
    uint8_t bytes[kMostCodeBytes];
    const uint8_t* in = at.codes + b * sizes.code_bytes + 4 * at.row;
    for (int64_t w = 0; w < words; ++w) std::memcpy(bytes + 4 * w, in + w * HYK_WORD_BYTES, 4);
    const Span span = CodesOf(form, sizes, at.cols, b);
    form.from_words(bytes, span.bytes, out + span.first);
    uint8_t* block = out + b * hy_type_facts(form.type)->block_bytes;
    const uint8_t* scales = at.scales + b * sizes.scale_bytes;
    for (const Field& field : form.field) {
      for (int64_t i = 0; i < field.count; ++i, scales += kRows * field.bytes)
        Copy(scales + at.row * field.bytes, field.bytes, block + field.offset + i * field.bytes);
    }
  }
  if (form.type == HY_TYPE_W8A8) Copy(at.tile_scales + 4 * at.row, 4, out);
}

RowOfTile PlaceOf(const hyk_packed_form& sizes, int64_t row, int64_t cols, uint8_t* packed) {
  uint8_t* tile = packed + row / kRows * hyk_packed_tile_bytes(&sizes, cols);
  uint8_t* scales = tile + hyk_packed_scales(&sizes, cols);
  return {tile, scales, scales, static_cast<int>(row % kRows), cols};
}

template <const Form& kForm>
struct Layout {
  static int Supports(int64_t rows, int64_t cols, hy_why* why) {
    const hyk_packed_form sizes = kForm.sizes();
    const uint32_t block = hy_type_facts(kForm.type)->block;
    if (rows <= 0 || cols <= 0) return hy_refuse(why, "there is nothing to pack");
    if (block != HY_BLOCK_ROW && block != 1 && cols % sizes.block != 0)
      return hy_refuse(why, "rows are not whole blocks");
    return 1;
  }

  static uint64_t PackedBytes(int64_t rows, int64_t cols) {
    const hyk_packed_form sizes = kForm.sizes();
    return static_cast<uint64_t>(hyk_packed_tiles(rows) * hyk_packed_tile_bytes(&sizes, cols));
  }

  static void Pack(const hy_tensor* canonical, void* packed, uint32_t index, uint32_t count) {
    const hyk_packed_form sizes = kForm.sizes();
    const int64_t rows = hy_tensor_rows(canonical);
    const int64_t cols = hy_tensor_cols(canonical);
    const int64_t tile_bytes = hyk_packed_tile_bytes(&sizes, cols);
    int64_t begin = 0;
    int64_t end = 0;
    hy_split(hyk_packed_tiles(rows) * kRows, kRows, index, count, &begin, &end);
    auto* out = static_cast<uint8_t*>(packed);
    if (begin < end) {
      std::memset(out + begin / kRows * tile_bytes, 0,
                  static_cast<size_t>((end - begin) / kRows * tile_bytes));
    }
    for (int64_t row = begin; row < std::min(end, rows); ++row) {
      PackRow(kForm, static_cast<const uint8_t*>(hy_tensor_row(canonical, row)),
              PlaceOf(sizes, row, cols, out));
    }
  }

  static void Unpack(const void* packed, const hy_tensor* canonical, uint32_t index,
                     uint32_t count) {
    const hyk_packed_form sizes = kForm.sizes();
    const int64_t rows = hy_tensor_rows(canonical);
    const int64_t cols = hy_tensor_cols(canonical);
    int64_t begin = 0;
    int64_t end = 0;
    hy_split(rows, 1, index, count, &begin, &end);
    // Only read through.
    auto* in = static_cast<uint8_t*>(const_cast<void*>(packed));
    for (int64_t row = begin; row < end; ++row) {
      UnpackRow(kForm, PlaceOf(sizes, row, cols, in),
                static_cast<uint8_t*>(hy_tensor_row(canonical, row)));
    }
  }

  static constexpr hy_layout_desc kDesc = {
      .struct_size = sizeof(hy_layout_desc),
      .id = kForm.id,
      .name = kForm.name,
      .type = kForm.type,
      .reserved = 0,
      .supports = Supports,
      .packed_bytes = PackedBytes,
      .pack = Pack,
      .unpack = Unpack,
  };
};

}  // namespace
}  // namespace halyard::ops

extern "C" const hy_layout_desc* const* halyard_layouts_matmul(uint64_t* count);
extern "C" const hy_layout_desc* const* halyard_layouts_matmul(uint64_t* count) {
  using namespace halyard::ops;
  static constexpr const hy_layout_desc* kTable[] = {
      &Layout<kQ8_0>::kDesc, &Layout<kQ4_0>::kDesc, &Layout<kQ4_1>::kDesc, &Layout<kQ4_K>::kDesc,
      &Layout<kQ6_K>::kDesc, &Layout<kW8A8>::kDesc, &Layout<kW4A8>::kDesc, &Layout<kBf16>::kDesc};
  *count = sizeof kTable / sizeof kTable[0];
  return kTable;
}
