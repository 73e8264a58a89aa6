// SPDX-License-Identifier: Apache-2.0
//
// Bytes of the packed layouts of weights, for those who pack and for kernels alike.
//
// A matrix [N, K] is cut into tiles of 16 rows; missing rows are zeros. A tile is two planes, each a
// multiple of 64 bytes: all codes, then all scales, so that both are read straight through, aligned.
//   codes   For each block of columns the same number of words. A word is 64 bytes: 4 of each row, row
//           by row, so that a vector register of any width up to 64 bytes holds 4 codes (2 bf16) of as
//           many rows as it has 32-bit lanes. What a word holds of a row, j = 0..3:
//             q8_0, w8a8   8 words for 32 columns: word g has columns 4 g + j, each code + 128
//             bf16         16 words for 32 columns: word g has columns 2 g and 2 g + 1
//             nibbles      4 words for 32 columns: byte j of word g has column 4 g + j in its low half
//                          and 4 g + j + 16 in its high one, as the format stores it (8 added in q4_0
//                          and w4a8_g128)
//             q6_K         for each 32 columns the words of nibbles, then 2 words of upper bits: byte j
//                          of word h has, lowest first, those of columns 8 h + j, + 4, + 16, + 20
//   scales  For each block and each field of the format in turn the field of all 16 rows:
//             q8_0, q4_0   scale f16           q4_1  scale f16, offset f16     w4a8_g128  scale f32
//             q4_K         scale f16, minimum's f16, then each of the 12 bytes of sub-scales
//             q6_K         scale f16, then each of the 16 sub-scales
//             w8a8         once for the tile: scale f32, then the sum of the row's codes, i32
// Fields are little-endian, as in the formats. Columns that fill up the last block are zeros.
#ifndef HALYARD_OPS_MATMUL_PACKED_FORM_H_
#define HALYARD_OPS_MATMUL_PACKED_FORM_H_

#include <stdint.h>

#define HYK_TILE_ROWS 16
#define HYK_WORD_BYTES 64

/// Layout ids (hy_layout_desc::id).
enum {
  HYK_LAYOUT_Q8_0_R16 = 1,
  HYK_LAYOUT_Q4_0_R16 = 2,
  HYK_LAYOUT_Q4_1_R16 = 3,
  HYK_LAYOUT_Q4_K_R16 = 4,
  HYK_LAYOUT_Q6_K_R16 = 5,
  HYK_LAYOUT_W8A8_R16 = 6,
  HYK_LAYOUT_W4A8_R16 = 7,
  HYK_LAYOUT_BF16_R16 = 8
};

/// Sizes of one layout, in bytes of a whole tile.
typedef struct hyk_packed_form {
  int64_t block;        ///< columns
  int64_t code_bytes;   ///< of a block
  int64_t scale_bytes;  ///< of a block
  int64_t tile_scales;  ///< of the tile, once
} hyk_packed_form;

static inline int64_t hyk_packed_blocks(const hyk_packed_form* form, int64_t cols) {
  return (cols + form->block - 1) / form->block;
}

/// Offset of the scales in a tile.
static inline int64_t hyk_packed_scales(const hyk_packed_form* form, int64_t cols) {
  return hyk_packed_blocks(form, cols) * form->code_bytes;
}

static inline int64_t hyk_packed_tile_bytes(const hyk_packed_form* form, int64_t cols) {
  const int64_t scales = hyk_packed_blocks(form, cols) * form->scale_bytes + form->tile_scales;
  return hyk_packed_scales(form, cols) + (scales + 63) / 64 * 64;
}

static inline int64_t hyk_packed_tiles(int64_t rows) {
  return (rows + HYK_TILE_ROWS - 1) / HYK_TILE_ROWS;
}

static inline hyk_packed_form hyk_packed_form_of(int64_t block, int64_t words, int64_t scale_bytes,
                                                 int64_t tile_scales) {
  const hyk_packed_form form = {block, words * HYK_WORD_BYTES, scale_bytes, tile_scales};
  return form;
}

static inline hyk_packed_form hyk_packed_q8_0(void) { return hyk_packed_form_of(32, 8, 32, 0); }
static inline hyk_packed_form hyk_packed_q4_0(void) { return hyk_packed_form_of(32, 4, 32, 0); }
static inline hyk_packed_form hyk_packed_q4_1(void) { return hyk_packed_form_of(32, 4, 64, 0); }
static inline hyk_packed_form hyk_packed_q4_k(void) { return hyk_packed_form_of(256, 32, 256, 0); }
static inline hyk_packed_form hyk_packed_q6_k(void) { return hyk_packed_form_of(256, 48, 288, 0); }
static inline hyk_packed_form hyk_packed_w8a8(void) { return hyk_packed_form_of(32, 8, 0, 128); }
static inline hyk_packed_form hyk_packed_w4a8(void) { return hyk_packed_form_of(128, 16, 64, 0); }
static inline hyk_packed_form hyk_packed_bf16(void) { return hyk_packed_form_of(32, 16, 0, 0); }

#endif  // HALYARD_OPS_MATMUL_PACKED_FORM_H_
