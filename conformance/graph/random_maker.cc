// SPDX-License-Identifier: Apache-2.0
//
// Graphs from a seed: each step draws an op, and its inputs from what there is.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "conformance/graph/scenario_parts.h"
#include "ops/data/random.h"

namespace halyard::conformance {
namespace {

constexpr double kLoud = 10;  // binary digits above 1 from which a tensor is to be calmed
constexpr int64_t kHeadDim = 32;
constexpr int64_t kPage = 4;
constexpr int64_t kPages = 4;
constexpr int64_t kMostCols = 512;

/// Makes the graph of one seed. What it draws depends on the number of the step alone, so that a
/// smaller case has the same steps where its sizes allow them.
class Maker {
 public:
  Maker(const ops::Case& c, Graph* graph)
      : c_(c),
        g_(*graph),
        key_(ops::KeyOf(c.seed, "graph")),
        rows_(c.dim("rows", 3)),
        cols_(c.dim("cols", 256)) {}

  void Make() {
    NewInput();
    NewInput();
    const int64_t count = c_.dim("ops", 6);
    while (static_cast<int64_t>(g_.steps.size()) < count) {
      draw_ = 0;
      const size_t before = g_.steps.size();
      while (g_.steps.size() == before) AddOne();
    }
  }

 private:
  /// A matrix of a float type, and about how large its elements are, in binary digits.
  struct Live {
    int tensor;
    double loud;
  };

  uint32_t Draw(uint32_t below) {
    const auto step = static_cast<uint32_t>(g_.steps.size());
    return ops::Philox(key_, {step, draw_++, 0, 0})[0] % std::max(1u, below);
  }
  bool Chance(uint32_t one_in) { return Draw(one_in) == 0; }

  uint32_t Activation() const { return c_.types[0]; }
  uint32_t WeightType() const { return c_.types[1]; }
  bool Fits(uint32_t type, int64_t cols) const {
    const uint32_t block = hy_type_facts(type)->block;
    return block == HY_BLOCK_ROW || cols % block == 0;
  }

  void NewInput() {
    const int x = g_.Input(absl::StrCat("x", g_.tensors.size()), Activation(), {rows_, cols_});
    live_.push_back({x, 2});
  }
  int Put(int tensor, double loud) {
    for (Live& one : live_) {
      if (one.tensor != tensor) continue;
      one.loud = loud;  // in place
      return tensor;
    }
    live_.push_back({tensor, loud});
    return tensor;
  }

  // The last one more often than not: graphs are to be deep.
  Live Pick() {
    return Chance(3) ? live_[Draw(static_cast<uint32_t>(live_.size()))] : live_.back();
  }
  // Another of the same type and shape; the same one if there is none.
  Live PickLike(const Live& x) {
    std::vector<Live> like;
    for (const Live& one : live_) {
      if (one.tensor != x.tensor && g_.tensor(one.tensor).type == g_.tensor(x.tensor).type &&
          g_.tensor(one.tensor).shape == g_.tensor(x.tensor).shape) {
        like.push_back(one);
      }
    }
    return like.empty() ? x : like[Draw(static_cast<uint32_t>(like.size()))];
  }
  // In place at times, of what a step made.
  int Target(int x) { return g_.tensor(x).origin == Origin::kValue && Chance(4) ? x : -1; }
  // Where a step may leave quantised rows: its own type, f32 or a8.
  uint32_t OutType(int x) {
    const uint32_t all[] = {TypeOf(g_, x),  TypeOf(g_, x),   HY_TYPE_F32,
                            HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN};
    const uint32_t type = all[Draw(6)];
    return Fits(type, ColsOf(g_, x)) ? type : TypeOf(g_, x);
  }
  void Keep(int y, double loud) {
    if (hy_type_is_a8(TypeOf(g_, y))) {
      records_.push_back(y);
    } else {
      Put(y, loud);
    }
  }

  int NormWeights(int64_t cols) {
    if (Chance(4)) return -1;
    return g_.Weights(absl::StrCat("norm", g_.tensors.size()), kF32, {cols});
  }

  int ProductWeights(int64_t cols) {
    std::vector<int> known;
    for (const int w : weights_) {
      if (ColsOf(g_, w) == cols) known.push_back(w);
    }
    if (!known.empty() && Chance(2)) return known[Draw(static_cast<uint32_t>(known.size()))];
    const uint32_t type = Fits(WeightType(), cols) ? WeightType() : Activation();
    const int64_t sizes[] = {cols_, cols_, 2 * cols_, 24};
    const int64_t rows = std::min(kMostCols, sizes[Draw(4)]);
    int w = g_.Weights(absl::StrCat("w", g_.tensors.size()), type, {rows, cols});
    weights_.push_back(w);
    if (WantsPacked(c_) && !Chance(4)) {
      w = g_.Packed(w);
      weights_.push_back(w);
    }
    return w;
  }

  using AddFn = void (Maker::*)(const Live& x);
  struct Choice {
    uint32_t weight;
    AddFn add;
  };

  void AddOne() {
    static constexpr Choice kChoices[] = {
        {4, &Maker::Product}, {2, &Maker::Norm},     {2, &Maker::SumNorm},
        {1, &Maker::Centre},  {2, &Maker::Sum},      {1, &Maker::Times},
        {1, &Maker::Scale},   {2, &Maker::Gate},     {1, &Maker::Softmax},
        {1, &Maker::Turn},    {1, &Maker::Quantise}, {1, &Maker::Dequantise},
        {1, &Maker::Cast},    {1, &Maker::Copy},     {1, &Maker::Embed},
        {1, &Maker::Append},  {1, &Maker::Attend},   {1, &Maker::LogSoftmax},
        {1, &Maker::Best}};
    uint32_t all = 0;
    for (const Choice& one : kChoices) all += one.weight;
    const Live x = Pick();
    if (x.loud > kLoud) return Calm(x);
    uint32_t draw = Draw(all);
    for (const Choice& one : kChoices) {
      if (draw < one.weight) return (this->*one.add)(x);
      draw -= one.weight;
    }
  }

  void Centre(const Live& x) {
    const int w = NormWeights(ColsOf(g_, x.tensor));
    Keep(AddLayerNorm(&g_, x.tensor, w, OutType(x.tensor)), 2);
  }
  void Scale(const Live& x) { Keep(AddScale(&g_, x.tensor, 0.75f, Target(x.tensor)), x.loud); }
  void Softmax(const Live& x) { Keep(AddSoftmax(&g_, x.tensor, 1, Target(x.tensor)), 0); }
  void Copy(const Live& x) { Keep(AddCopy(&g_, x.tensor), x.loud); }
  void LogSoftmax(const Live& x) { Keep(AddLogSoftmax(&g_, x.tensor), x.loud + 1); }

  void Calm(const Live& x) {
    const int64_t cols = ColsOf(g_, x.tensor);
    if (Chance(3)) return Keep(AddScale(&g_, x.tensor, 0x1p-8f), x.loud - 8);
    Keep(AddRmsNorm(&g_, x.tensor, NormWeights(cols), TypeOf(g_, x.tensor)), 2);
  }

  void Product(const Live& x) {
    if (!records_.empty() && Chance(2)) {
      const int records = records_[Draw(static_cast<uint32_t>(records_.size()))];
      Keep(AddMatmul(&g_, records, ProductWeights(ColsOf(g_, records)), kF32), 8);
      return;
    }
    const int w = ProductWeights(ColsOf(g_, x.tensor));
    const uint32_t type = Chance(2) ? kF32 : Activation();
    Keep(AddMatmul(&g_, x.tensor, w, type, Chance(3) ? HY_QA_NONE : HY_QA_ANY), x.loud + 5);
  }

  void Norm(const Live& x) {
    const int w = NormWeights(ColsOf(g_, x.tensor));
    const int to = Target(x.tensor);
    Keep(AddRmsNorm(&g_, x.tensor, w, to >= 0 ? TypeOf(g_, to) : OutType(x.tensor), to), 2);
  }

  void SumNorm(const Live& x) {
    const Live add = PickLike(x);
    if (add.tensor == x.tensor) return;
    const int w = NormWeights(ColsOf(g_, x.tensor));
    int sum = Target(add.tensor);
    if (sum < 0) sum = g_.Value(TypeOf(g_, x.tensor), g_.tensor(x.tensor).shape);
    Keep(AddSumNorm(&g_, x.tensor, add.tensor, w, OutType(x.tensor), sum), 2);
    Put(sum, std::max(x.loud, add.loud) + 1);
  }

  void Sum(const Live& x) {
    const Live other = PickLike(x);
    Keep(AddSum(&g_, x.tensor, other.tensor, other.tensor == x.tensor ? -1 : Target(x.tensor)),
         std::max(x.loud, other.loud) + 1);
  }

  void Times(const Live& x) {
    const int64_t cols = ColsOf(g_, x.tensor);
    const int factor =
        g_.Weights(absl::StrCat("factor", g_.tensors.size()), TypeOf(g_, x.tensor), {1, cols});
    Keep(AddProduct(&g_, x.tensor, factor, Target(x.tensor)), x.loud + 2);
  }

  void Gate(const Live& x) {
    const Live up = PickLike(x);
    const uint32_t type = OutType(x.tensor);
    const double loud = x.loud + up.loud;
    if (Chance(3)) return Keep(AddGeluMul(&g_, x.tensor, up.tensor, type), loud);
    Keep(AddSiluMul(&g_, x.tensor, up.tensor, type), loud);
  }

  void Turn(const Live& x) {
    const int64_t heads = ColsOf(g_, x.tensor) / kHeadDim;
    if (heads == 0 || g_.tensor(x.tensor).origin == Origin::kInput) return;
    const auto first = static_cast<int>(Draw(9));
    const uint32_t mode =
        Draw(2);  // draws are never arguments: their order would be the compiler's
    AddRope(&g_, x.tensor, 0, heads, kHeadDim, MakeRope(&g_, rows_, kHeadDim / 2, first, mode));
  }

  void Quantise(const Live& x) {
    const uint32_t all[] = {HY_TYPE_A8_B32, HY_TYPE_A8_B256, HY_TYPE_A8_TOKEN};
    const uint32_t type = all[Draw(3)];
    if (Fits(type, ColsOf(g_, x.tensor))) Keep(AddQuantize(&g_, x.tensor, type), 0);
  }

  void Dequantise(const Live& /*x*/) {
    if (records_.empty()) return;
    const int x = records_[Draw(static_cast<uint32_t>(records_.size()))];
    Keep(AddDequantize(&g_, x, Activation()), 8);
  }

  void Cast(const Live& x) {
    const uint32_t all[] = {kF32, kBf16, kF16};
    const uint32_t type = all[Draw(x.loud < kLoud ? 3 : 2)];
    if (type != TypeOf(g_, x.tensor)) Keep(AddCast(&g_, x.tensor, type), x.loud);
  }

  void Embed(const Live& x) {
    const uint32_t type = Fits(WeightType(), cols_) ? WeightType() : Activation();
    const int table =
        g_.Weights(absl::StrCat("table", g_.tensors.size()), type, {ColsOf(g_, x.tensor), cols_});
    const int rows = AddArgmax(&g_, x.tensor);
    if (static_cast<int64_t>(g_.steps.size()) < c_.dim("ops", 6)) {
      Keep(AddGetRows(&g_, table, rows, Activation()), 2);
    }
  }

  void Best(const Live& x) {
    int values = -1;
    AddTopK(&g_, x.tensor, 8, &values);
    Keep(values, x.loud);
  }

  const Pool& ThePool() {
    const uint32_t all[] = {kF32, kF16, kBf16, HY_TYPE_Q8_0};
    if (pool_.k < 0) pool_ = MakePool(&g_, all[Draw(4)], kPages, kPage, 1, kHeadDim);
    return pool_;
  }

  void Append(const Live& x) {
    if (ColsOf(g_, x.tensor) < 2 * kHeadDim || rows_ > kPages * kPage) return;
    const Pool& pool = ThePool();
    std::vector<int32_t> slots;
    for (int64_t r = 0; r < rows_; ++r) {
      slots.push_back(static_cast<int32_t>((r * 5 + 3) % (kPages * kPage)));
    }
    AddAppend(&g_, x.tensor, kHeadDim, 0, pool,
              g_.Ints(absl::StrCat("slots", g_.tensors.size()), slots));
  }

  void Attend(const Live& x) {
    const int64_t heads = std::min<int64_t>(4, ColsOf(g_, x.tensor) / kHeadDim);
    if (heads == 0 || rows_ > kPages * kPage) return;
    const Pool& pool = ThePool();
    const std::string suffix = absl::StrCat(g_.tensors.size());
    Sequences sequences;
    sequences.block_table = g_.Ints("block_table" + suffix, {2, 0, 3, 1}, {1, kPages});
    sequences.q_start = g_.Ints("q_start" + suffix, {0, static_cast<int32_t>(rows_)});
    sequences.kv_len = g_.Ints("kv_len" + suffix, {static_cast<int32_t>(kPages * kPage)});
    Keep(AddAttention(&g_, x.tensor, 0, rows_, heads, pool, sequences, TypeOf(g_, x.tensor)), 3);
  }

  const ops::Case& c_;
  Graph& g_;
  const ops::RandomKey key_;
  const int64_t rows_;
  const int64_t cols_;
  uint32_t draw_ = 0;
  std::vector<Live> live_;
  std::vector<int> records_;
  std::vector<int> weights_;
  Pool pool_;
};

}  // namespace

void MakeRandomGraph(const ops::Case& c, Graph* graph) { Maker(c, graph).Make(); }

}  // namespace halyard::conformance
