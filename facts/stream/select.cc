// SPDX-License-Identifier: Apache-2.0
#include "facts/stream/select.h"

#include <initializer_list>

namespace halyard::facts {
namespace {

[[maybe_unused]] bool HasAll(const IsaMask& isa, std::initializer_list<uint32_t> bits) {
  for (uint32_t bit : bits) {
    if (!hy_isa_has(isa.data(), bit)) return false;
  }
  return true;
}

}  // namespace

StreamKernel SelectStreamKernel([[maybe_unused]] const IsaMask& isa) {
#ifdef HALYARD_HAVE_X86_AVX512
  if (HasAll(isa,
             {HY_ISA_X86_AVX512F, HY_ISA_X86_AVX512BW, HY_ISA_X86_AVX512VL, HY_ISA_X86_AVX512DQ})) {
    return {"x86_avx512", &hy_stream_read_x86_avx512};
  }
#endif
#ifdef HALYARD_HAVE_X86_AVX2
  if (HasAll(isa, {HY_ISA_X86_AVX2, HY_ISA_X86_FMA, HY_ISA_X86_F16C})) {
    return {"x86_avx2", &hy_stream_read_x86_avx2};
  }
#endif
  return {"generic", &hy_stream_read_generic};
}

}  // namespace halyard::facts
