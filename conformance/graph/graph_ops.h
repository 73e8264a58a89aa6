// SPDX-License-Identifier: Apache-2.0
//
// Steps of a graph, op by op. Each gives the number of the tensor that it writes. Matrices are
// [rows, cols]; what ops see as heads are views of them.
#ifndef HALYARD_CONFORMANCE_GRAPH_GRAPH_OPS_H_
#define HALYARD_CONFORMANCE_GRAPH_GRAPH_OPS_H_

#include <cstdint>
#include <vector>

#include "conformance/graph/graph.h"

namespace halyard::conformance {

int64_t RowsOf(const Graph& graph, int tensor);
int64_t ColsOf(const Graph& graph, int tensor);
uint32_t TypeOf(const Graph& graph, int tensor);

/// `y`: where to; -1: a new tensor of that type.
int AddMatmul(Graph* graph, int x, int w, uint32_t y_type, uint32_t activation = 0);
int AddRmsNorm(Graph* graph, int x, int w, uint32_t y_type, int y = -1);
/// With a residual: `sum` may be one of x and add.
int AddSumNorm(Graph* graph, int x, int add, int w, uint32_t y_type, int sum);
int AddLayerNorm(Graph* graph, int x, int w, uint32_t y_type, int y = -1);
int AddSum(Graph* graph, int a, int b, int y = -1);
int AddProduct(Graph* graph, int a, int b, int y = -1);
int AddScale(Graph* graph, int x, float factor, int y = -1);
int AddSiluMul(Graph* graph, int gate, int up, uint32_t y_type, int y = -1);
int AddGeluMul(Graph* graph, int gate, int up, uint32_t y_type, int y = -1);
int AddSoftmax(Graph* graph, int x, float scale, int y = -1);
int AddLogSoftmax(Graph* graph, int x);
int AddQuantize(Graph* graph, int x, uint32_t y_type);
int AddDequantize(Graph* graph, int x, uint32_t y_type);
int AddCast(Graph* graph, int x, uint32_t y_type, int y = -1);
int AddCopy(Graph* graph, int x);
int AddArgmax(Graph* graph, int x);
int AddGetRows(Graph* graph, int table, int rows, uint32_t y_type);
/// Gives the ids.
int AddTopK(Graph* graph, int x, int64_t k, int* out_values);

/// Turns heads of `dim` columns, from `first` on, of a matrix in place.
struct Rope {
  int table = -1;
  int positions = -1;
  uint32_t mode = 0;
};
Rope MakeRope(Graph* graph, int64_t rows, int64_t pairs, int first_position, uint32_t mode);
void AddRope(Graph* graph, int x, int64_t first, int64_t heads, int64_t dim, const Rope& rope);

/// Pages of keys and values, filled, and who has which of them.
struct Pool {
  int k = -1;
  int v = -1;
  int64_t pages = 0;
  int64_t page = 0;
  int64_t heads = 0;
  int64_t dim = 0;
};
Pool MakePool(Graph* graph, uint32_t type, int64_t pages, int64_t page, int64_t heads, int64_t dim);
/// Keys and values are columns of `x` from these on.
void AddAppend(Graph* graph, int x, int64_t first_k, int64_t first_v, const Pool& pool, int slots);
struct Sequences {
  int block_table = -1;
  int q_start = -1;
  int kv_len = -1;
};
/// Queries are columns of `x` from `first` on, of its first `rows` rows. Gives [rows, heads * dim].
int AddAttention(Graph* graph, int x, int64_t first, int64_t rows, int64_t heads, const Pool& pool,
                 const Sequences& sequences, uint32_t y_type);

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_GRAPH_GRAPH_OPS_H_
