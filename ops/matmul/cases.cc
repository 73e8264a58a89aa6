// SPDX-License-Identifier: Apache-2.0
#include "ops/case.h"
#include "ops/matmul/case_formats.h"
#include "ops/matmul/contract.h"

namespace halyard::ops {
namespace {

// Dimensions of a case: B 0 is rank 2; WB says which weights a batch has: 0 of rank 2, 1 [1, N, K],
// 2 [B, N, K]. ACT is HY_QA_*.
struct Shape {
  int64_t m = 3;
  int64_t n = 5;
  int64_t k = 0;
  int64_t batches = 0;
  int64_t weight_batches = 0;
  int64_t bias = 0;
  int64_t activation = HY_QA_ANY;
};

struct Types {
  uint32_t x = HY_TYPE_F32;
  uint32_t w = HY_TYPE_F32;
  uint32_t y = HY_TYPE_F32;
};

class List {
 public:
  explicit List(std::vector<Case>* out) : out_(out) {}

  void Add(const Types& types, const Shape& s, const char* dist, const char* lay = "dense") {
    Case c;
    c.op = "matmul";
    c.types = {types.x, types.w, types.y};
    c.dims = {{"M", s.m}, {"N", s.n}, {"K", s.k}};
    if (s.batches != 0 || s.weight_batches != 0)
      c.dims.insert(c.dims.end(), {{"B", s.batches}, {"WB", s.weight_batches}});
    if (s.bias != 0) c.dims.emplace_back("bias", s.bias);
    if (s.activation != HY_QA_ANY) c.dims.emplace_back("act", s.activation);
    c.dist = dist;
    c.lay = lay;
    out_->push_back(std::move(c));
  }

 private:
  std::vector<Case>* out_;
};

// What a bug in the loops over rows, columns and blocks shows in: exact data, odd sizes.
void AddTails(List* list, const Types& types, int64_t block) {
  for (const int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 13, 17, 33, 65})
    list->Add(types, {.m = m, .n = 19, .k = 2 * block}, "lossless");
  for (const int64_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 47, 65})
    list->Add(types, {.m = 2, .n = n, .k = 3 * block}, "lossless");
  for (const int64_t blocks : {1, 4, 5, 7, 9, 16, 17})
    list->Add(types, {.m = 5, .n = 18, .k = blocks * block}, "lossless");
  for (const int64_t m : {1, 3}) {
    list->Add(types, {.m = m, .n = 17, .k = 5 * block}, "walking");
    list->Add(types, {.m = m, .n = 17, .k = 5 * block}, "onehot");
  }
}

// Rows of any length, where the format has no blocks.
void AddOddColumns(List* list, const Types& types) {
  for (const int64_t k : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257})
    list->Add(types, {.m = 3, .n = 17, .k = k}, "lossless");
}

void AddDistributions(List* list, const Types& types) {
  for (const char* dist : {"uniform", "normal", "llm", "positive", "cancel", "extreme", "subnormal",
                           "planted", "equal"}) {
    list->Add(types, {.m = 3, .n = 37, .k = 768}, dist);
  }
  list->Add(types, {.m = 37, .n = 3, .k = 768, .bias = 1}, "normal");
  list->Add(types, {.m = 2, .n = 9, .k = 4096}, "llm");
  list->Add(types, {.m = 1, .n = 33, .k = 1536}, "normal");
  list->Add(types, {.m = 64, .n = 9, .k = 4352}, "normal");
}

void AddForms(List* list, const Types& types) {
  list->Add(types, {.m = 0, .n = 5, .k = 256}, "uniform");
  list->Add(types, {.m = 3, .n = 0, .k = 256}, "uniform");
  list->Add(types, {.m = 3, .n = 5, .k = 0, .bias = 1}, "uniform");
  list->Add(types, {.m = 3, .n = 5, .k = 0}, "uniform");
  list->Add(types, {.m = 3, .n = 18, .k = 512, .bias = 1}, "lossless");
  list->Add(types, {.m = 5, .n = 21, .k = 512, .batches = 3}, "lossless");
  list->Add(types, {.m = 5, .n = 21, .k = 512, .batches = 3, .weight_batches = 1}, "lossless");
  list->Add(types, {.m = 5, .n = 21, .k = 512, .batches = 3, .weight_batches = 2}, "lossless");
  list->Add(types, {.m = 2, .n = 21, .k = 512, .batches = 0, .weight_batches = 1}, "lossless");
  list->Add(types, {.m = 5, .n = 37, .k = 768}, "lossless", "pad64");
  list->Add(types, {.m = 5, .n = 37, .k = 768}, "normal", "pad4+off4");
  list->Add(types, {.m = 2, .n = 19, .k = 256, .batches = 2, .weight_batches = 2}, "normal",
            "pad64+off4");
}

// Through the packed layouts: whoever runs the case packs for kernels that want it.
void AddPacked(List* list, const Types& types) {
  for (const int64_t m : {1, 2, 4, 7, 33, 65})
    list->Add(types, {.m = m, .n = 35, .k = 768}, "lossless", "packed");
  list->Add(types, {.m = 3, .n = 16, .k = 256}, "walking", "packed");
  list->Add(types, {.m = 3, .n = 1, .k = 1280}, "walking", "packed");
  list->Add(types, {.m = 9, .n = 70, .k = 2304, .bias = 1}, "normal", "packed");
  list->Add(types, {.m = 3, .n = 35, .k = 512, .batches = 3, .weight_batches = 2}, "normal",
            "packed");
  list->Add(types, {.m = 5, .n = 21, .k = 512, .batches = 2}, "planted", "packed");
}

// Activations and outputs of 16 bits, or quantised before.
void AddOtherTypes(List* list, uint32_t w, int64_t block) {
  for (const uint32_t type : {HY_TYPE_F16, HY_TYPE_BF16}) {
    for (const char* lay : {"dense", "packed"}) {
      list->Add({type, w, type}, {.m = 3, .n = 19, .k = 3 * block, .bias = 1}, "lossless", lay);
      list->Add({type, w, type}, {.m = 5, .n = 37, .k = 768}, "normal", lay);
    }
    list->Add({HY_TYPE_F32, w, type}, {.m = 2, .n = 35, .k = 768}, "llm");
    // Short sums, so that 16 bits still show each product.
    list->Add({HY_TYPE_F32, w, type}, {.m = 2, .n = 35, .k = block}, "lossless");
    // Exact for kernels with a zero point, which quantise other data with a rounding.
    for (const uint32_t x : {uint32_t{HY_TYPE_F32}, type}) {
      list->Add({x, w, type}, {.m = 2, .n = 19, .k = block, .activation = HY_QA_TOKEN_ASYM},
                "lossless_asym");
    }
    list->Add({type, w, HY_TYPE_F32}, {.m = 2, .n = 35, .k = 768}, "positive");
  }
  for (const uint32_t type : {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN}) {
    list->Add({type, w, HY_TYPE_F32}, {.m = 5, .n = 21, .k = 768}, "lossless");
    for (const char* lay : {"pad64", "packed"})
      list->Add({type, w, HY_TYPE_F32}, {.m = 2, .n = 37, .k = 512}, "normal", lay);
  }
}

// Each class by name; ANY, in all other cases, is the kernel's own.
void AddActivations(List* list, const Types& types) {
  for (const int64_t activation :
       {HY_QA_NONE, HY_QA_BLOCK32, HY_QA_BLOCK256, HY_QA_TOKEN_SYM, HY_QA_TOKEN_ASYM}) {
    for (const char* dist : {"normal", "lossless"})
      list->Add(types, {.m = 2, .n = 19, .k = 768, .activation = activation}, dist);
  }
  list->Add(types, {.m = 3, .n = 19, .k = 768, .activation = HY_QA_TOKEN_ASYM}, "lossless_asym");
  list->Add(types, {.m = 4, .n = 35, .k = 768, .activation = HY_QA_TOKEN_ASYM}, "lossless_asym",
            "packed");
}

// Long rows, and shapes of real models.
void AddLarge(List* list, const Types& types) {
  for (const char* lay : {"dense", "packed"}) {
    list->Add(types, {.m = 2, .n = 5, .k = 14336}, "normal", lay);
    list->Add(types, {.m = 2, .n = 5, .k = 32768}, "lossless", lay);
    list->Add(types, {.m = 1, .n = 1024, .k = 4096}, "normal", lay);
    list->Add(types, {.m = 32, .n = 576, .k = 1536}, "llm", lay);
    list->Add(types, {.m = 129, .n = 100, .k = 768}, "normal", lay);
  }
  list->Add(types, {.m = 1, .n = 3, .k = 131072}, "lossless");
}

void Enumerate(Tier tier, std::vector<Case>* out) {
  List list(out);
  for (const uint32_t w : kProductWeights) {
    const Types types = {.w = w};
    const int64_t block = CaseBlock(w);
    AddTails(&list, types, block);
    if (!hy_type_is_weights(w) || w == HY_TYPE_W8A8) AddOddColumns(&list, types);
    AddDistributions(&list, types);
    AddForms(&list, types);
    AddPacked(&list, types);
    AddOtherTypes(&list, w, block);
    AddActivations(&list, types);
    if (tier != Tier::kQuick) AddLarge(&list, types);
  }
}

absl::Status Build(const Case& c, CaseBuilder& builder, void* raw) {
  if (c.types.size() != 3) return absl::InvalidArgumentError("matmul cases name three types");
  auto& args = *static_cast<hy_matmul_args*>(raw);
  const int64_t n = c.dim("N");
  const int64_t k = c.dim("K");
  const int64_t batches = c.dim("B");
  const int64_t weight_batches = c.dim("WB");
  std::vector<int64_t> x = {c.dim("M"), k};
  std::vector<int64_t> w = {n, k};
  std::vector<int64_t> y = {c.dim("M"), n};
  if (batches != 0 || weight_batches != 0) {
    x.insert(x.begin(), batches);
    y.insert(y.begin(), batches);
  }
  if (weight_batches != 0) w.insert(w.begin(), weight_batches == 1 ? 1 : batches);
  args.struct_size = sizeof args;
  args.activation = static_cast<uint32_t>(c.dim("act"));
  args.x = builder.Input("x", c.types[0], x);
  args.w = builder.Weights("w", c.types[1], w);
  if (c.dim("bias") != 0) args.bias = builder.Input("bias", HY_TYPE_F32, {n}, AddendDist(c.dist));
  args.y = builder.Output("y", c.types[2], y);
  return absl::OkStatus();
}

}  // namespace
}  // namespace halyard::ops

HALYARD_CASES(matmul, halyard::ops::Enumerate, halyard::ops::Build)
