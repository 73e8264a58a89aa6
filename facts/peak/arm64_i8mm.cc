// SPDX-License-Identifier: Apache-2.0
#include "facts/peak/arm64_body.h"

HALYARD_INT8_LOOP(vmmlaq_s32)

const hy_peak_table hy_peak_arm64_i8mm = {{&Int8, 2 * 32 * kChains}, {&F32, 2 * 4 * kChains}};
