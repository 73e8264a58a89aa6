// SPDX-License-Identifier: Apache-2.0
#include "conformance/graph/graph_ops.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/add/contract.h"
#include "ops/argmax/contract.h"
#include "ops/attention/contract.h"
#include "ops/cast/contract.h"
#include "ops/copy/contract.h"
#include "ops/dequantize/contract.h"
#include "ops/gelu_mul/contract.h"
#include "ops/get_rows/contract.h"
#include "ops/kv_append/contract.h"
#include "ops/layernorm/contract.h"
#include "ops/log_softmax/contract.h"
#include "ops/matmul/contract.h"
#include "ops/mul/contract.h"
#include "ops/quantize/contract.h"
#include "ops/rmsnorm/contract.h"
#include "ops/rope/contract.h"
#include "ops/scale/contract.h"
#include "ops/silu_mul/contract.h"
#include "ops/softmax/contract.h"
#include "ops/top_k/contract.h"

namespace halyard::conformance {
namespace {

constexpr float kEps = 1e-5f;

// `y`, or a new tensor as large as x.
int OrLike(Graph* graph, int y, int x, uint32_t type) {
  return y >= 0 ? y : graph->Value(type, graph->tensor(x).shape);
}

template <typename Args>
int AddUnary(Graph* graph, absl::string_view op, Args args, int x, int y) {
  graph->Step(op, args, {{"x", x}, {"y", y}});
  return y;
}

}  // namespace

int64_t RowsOf(const Graph& graph, int tensor) { return graph.tensor(tensor).shape.front(); }
int64_t ColsOf(const Graph& graph, int tensor) { return graph.tensor(tensor).shape.back(); }
uint32_t TypeOf(const Graph& graph, int tensor) { return graph.tensor(tensor).type; }

int AddMatmul(Graph* graph, int x, int w, uint32_t y_type, uint32_t activation) {
  hy_matmul_args args = {};
  args.activation = activation;
  const int y = graph->Value(y_type, {RowsOf(*graph, x), RowsOf(*graph, w)});
  graph->Step("matmul", args, {{"x", x}, {"w", w}, {"y", y}});
  return y;
}

int AddRmsNorm(Graph* graph, int x, int w, uint32_t y_type, int y) {
  hy_rmsnorm_args args = {};
  args.eps = kEps;
  y = OrLike(graph, y, x, y_type);
  graph->Step("rmsnorm", args, {{"x", x}, {"w", w}, {"y", y}});
  return y;
}

int AddSumNorm(Graph* graph, int x, int add, int w, uint32_t y_type, int sum) {
  hy_rmsnorm_args args = {};
  args.eps = kEps;
  const int y = graph->Value(y_type, graph->tensor(x).shape);
  graph->Step("rmsnorm", args, {{"x", x}, {"add", add}, {"w", w}, {"y", y}, {"sum", sum}});
  return y;
}

int AddLayerNorm(Graph* graph, int x, int w, uint32_t y_type, int y) {
  hy_layernorm_args args = {};
  args.eps = kEps;
  y = OrLike(graph, y, x, y_type);
  graph->Step("layernorm", args, {{"x", x}, {"w", w}, {"y", y}});
  return y;
}

int AddSum(Graph* graph, int a, int b, int y) {
  y = OrLike(graph, y, a, TypeOf(*graph, a));
  graph->Step("add", hy_add_args{}, {{"a", a}, {"b", b}, {"y", y}});
  return y;
}

int AddProduct(Graph* graph, int a, int b, int y) {
  y = OrLike(graph, y, a, TypeOf(*graph, a));
  graph->Step("mul", hy_mul_args{}, {{"a", a}, {"b", b}, {"y", y}});
  return y;
}

int AddScale(Graph* graph, int x, float factor, int y) {
  hy_scale_args args = {};
  args.factor = factor;
  return AddUnary(graph, "scale", args, x, OrLike(graph, y, x, TypeOf(*graph, x)));
}

int AddSiluMul(Graph* graph, int gate, int up, uint32_t y_type, int y) {
  y = OrLike(graph, y, gate, y_type);
  graph->Step("silu_mul", hy_silu_mul_args{}, {{"gate", gate}, {"up", up}, {"y", y}});
  return y;
}

int AddGeluMul(Graph* graph, int gate, int up, uint32_t y_type, int y) {
  hy_gelu_mul_args args = {};
  args.approximation = HY_GELU_TANH;
  y = OrLike(graph, y, gate, y_type);
  graph->Step("gelu_mul", args, {{"gate", gate}, {"up", up}, {"y", y}});
  return y;
}

int AddSoftmax(Graph* graph, int x, float scale, int y) {
  hy_softmax_args args = {};
  args.scale = scale;
  return AddUnary(graph, "softmax", args, x, OrLike(graph, y, x, TypeOf(*graph, x)));
}

int AddLogSoftmax(Graph* graph, int x) {
  return AddUnary(graph, "log_softmax", hy_log_softmax_args{}, x,
                  graph->Value(HY_TYPE_F32, graph->tensor(x).shape));
}

int AddQuantize(Graph* graph, int x, uint32_t y_type) {
  return AddUnary(graph, "quantize", hy_quantize_args{}, x, OrLike(graph, -1, x, y_type));
}

int AddDequantize(Graph* graph, int x, uint32_t y_type) {
  return AddUnary(graph, "dequantize", hy_dequantize_args{}, x, OrLike(graph, -1, x, y_type));
}

int AddCast(Graph* graph, int x, uint32_t y_type, int y) {
  return AddUnary(graph, "cast", hy_cast_args{}, x, OrLike(graph, y, x, y_type));
}

int AddCopy(Graph* graph, int x) {
  return AddUnary(graph, "copy", hy_copy_args{}, x, OrLike(graph, -1, x, TypeOf(*graph, x)));
}

int AddArgmax(Graph* graph, int x) {
  return AddUnary(graph, "argmax", hy_argmax_args{}, x,
                  graph->Value(HY_TYPE_I32, {RowsOf(*graph, x)}));
}

int AddGetRows(Graph* graph, int table, int rows, uint32_t y_type) {
  const int y = graph->Value(y_type, {RowsOf(*graph, rows), ColsOf(*graph, table)});
  graph->Step("get_rows", hy_get_rows_args{}, {{"table", table}, {"rows", rows}, {"y", y}});
  return y;
}

int AddTopK(Graph* graph, int x, int64_t k, int* out_values) {
  *out_values = graph->Value(HY_TYPE_F32, {RowsOf(*graph, x), k});
  const int ids = graph->Value(HY_TYPE_I32, {RowsOf(*graph, x), k});
  graph->Step("top_k", hy_top_k_args{}, {{"x", x}, {"values", *out_values}, {"ids", ids}});
  return ids;
}

Rope MakeRope(Graph* graph, int64_t rows, int64_t pairs, int first_position, uint32_t mode) {
  Rope rope;
  rope.mode = mode;
  GraphTensor table;
  const int64_t positions = rows + first_position;
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t i = 0; i < pairs; ++i) {
      const double turn = static_cast<double>(p) *
                          std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs));
      table.floats.push_back(static_cast<float>(std::cos(turn)));
      table.floats.push_back(static_cast<float>(std::sin(turn)));
    }
  }
  table.name = absl::StrCat("rope", graph->tensors.size());
  table.origin = Origin::kFloats;
  table.shape = {positions, pairs, 2};
  rope.table = graph->Add(std::move(table));
  std::vector<int32_t> at;
  for (int64_t r = 0; r < rows; ++r) at.push_back(static_cast<int32_t>(first_position + r));
  rope.positions = graph->Ints(absl::StrCat("positions", graph->tensors.size()), at);
  return rope;
}

void AddRope(Graph* graph, int x, int64_t first, int64_t heads, int64_t dim, const Rope& rope) {
  hy_rope_args args = {};
  args.mode = rope.mode;
  const int view = graph->View(x, {RowsOf(*graph, x), heads, dim}, first);
  graph->Step("rope", args,
              {{"x", view}, {"table", rope.table}, {"positions", rope.positions}, {"y", view}});
}

Pool MakePool(Graph* graph, uint32_t type, int64_t pages, int64_t page, int64_t heads,
              int64_t dim) {
  Pool pool{-1, -1, pages, page, heads, dim};
  pool.k = graph->State("k_pages", type, {pages, heads, page, dim});
  pool.v = graph->State("v_pages", type, {pages, heads, page, dim});
  return pool;
}

void AddAppend(Graph* graph, int x, int64_t first_k, int64_t first_v, const Pool& pool, int slots) {
  const std::vector<int64_t> shape = {RowsOf(*graph, x), pool.heads, pool.dim};
  const int k = graph->View(x, shape, first_k);
  const int v = graph->View(x, shape, first_v);
  graph->Step("kv_append", hy_kv_append_args{},
              {{"k", k}, {"v", v}, {"slots", slots}, {"k_pages", pool.k}, {"v_pages", pool.v}});
}

int AddAttention(Graph* graph, int x, int64_t first, int64_t rows, int64_t heads, const Pool& pool,
                 const Sequences& sequences, uint32_t y_type) {
  hy_attention_args args = {};
  args.causal = 1;
  args.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(pool.dim)));
  const int q = graph->View(x, {rows, heads, pool.dim}, first);
  const int y = graph->Value(y_type, {rows, heads * pool.dim});
  const int heads_of_y = graph->View(y, {rows, heads, pool.dim});
  graph->Step("attention", args,
              {{"q", q},
               {"k_pages", pool.k},
               {"v_pages", pool.v},
               {"block_table", sequences.block_table},
               {"q_start", sequences.q_start},
               {"kv_len", sequences.kv_len},
               {"y", heads_of_y}});
  return y;
}

}  // namespace halyard::conformance
