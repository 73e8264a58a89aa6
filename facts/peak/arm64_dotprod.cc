// SPDX-License-Identifier: Apache-2.0
#include "facts/peak/arm64_body.h"

HALYARD_INT8_LOOP(vdotq_s32)

const hy_peak_table hy_peak_arm64_dotprod = {{&Int8, 2 * 16 * kChains}, {&F32, 2 * 4 * kChains}};
