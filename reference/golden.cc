// SPDX-License-Identifier: Apache-2.0
#include "reference/golden.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/half.h"
#include "base/quant/format.h"

namespace halyard::reference {
namespace {

uint32_t TypeNamed(const std::string& name) {
  for (uint32_t type = 1; type < HY_TYPE_COUNT; ++type)
    if (hy_type_facts(type)->block != 0 && name == hy_type_name(type)) return type;
  return HY_TYPE_NONE;
}

int64_t Cols(const GoldenTensor& tensor) { return tensor.shape.back(); }

int64_t Count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

uint8_t* Bytes(GoldenTensor* tensor) { return reinterpret_cast<uint8_t*>(tensor->memory.data()); }

// Elements of `size` bytes from little-endian to the host's order.
void ToHost(size_t size, size_t total, uint8_t* bytes) {
  const uint16_t one = 1;
  uint8_t first;
  std::memcpy(&first, &one, 1);
  if (first == 1) return;
  for (size_t at = 0; at + size <= total; at += size)
    for (size_t i = 0; i < size / 2; ++i) std::swap(bytes[at + i], bytes[at + size - 1 - i]);
}

class Reader {
 public:
  explicit Reader(absl::string_view text) : words_(std::string(text)) {}

  std::vector<GoldenCase> All() {
    std::vector<GoldenCase> cases;
    std::string word;
    while (!bad_ && words_ >> word) {
      if (word == "case" && words_ >> word) {
        cases.emplace_back(word);
      } else if (cases.empty()) {
        bad_ = true;
      } else {
        ReadItem(word, &cases.back());
      }
    }
    if (!bad_) return cases;
    return {GoldenCase(absl::StrCat("malformed: after '", cases.empty() ? "" : cases.back().name(),
                                    "', at '", word, "'"))};
  }

 private:
  void ReadItem(const std::string& name, GoldenCase* out) {
    const std::string sign = Word();
    if (sign == "=") {
      out->Add(name, Number(Word()));
    } else if (sign == ":") {
      out->Add(name, ReadTensor());
    } else {
      bad_ = true;
    }
  }

  GoldenTensor ReadTensor() {
    GoldenTensor tensor;
    const std::string type = Word();
    tensor.type = TypeNamed(type);
    if (tensor.type == HY_TYPE_NONE && type != "f64") bad_ = true;
    if (Word() != "[") bad_ = true;
    for (std::string word = Word(); !bad_ && word != "]"; word = Word())
      tensor.shape.push_back(static_cast<int64_t>(Number(word)));
    if (tensor.shape.empty() || tensor.shape.size() > HY_MAX_RANK) bad_ = true;
    if (bad_) return tensor;
    if (tensor.type != HY_TYPE_NONE) Allocate(&tensor);
    ReadContent(&tensor);
    return tensor;
  }

  void Allocate(GoldenTensor* tensor) {
    const int64_t cols = Cols(*tensor);
    rows_ = cols == 0 ? 0 : static_cast<size_t>(Count(tensor->shape) / cols);
    row_bytes_ = hy_type_row_bytes(tensor->type, cols);
    tensor->memory.assign(rows_ * row_bytes_ / 8 + 1, 0);
  }

  void ReadContent(GoldenTensor* tensor) {
    const auto count = static_cast<size_t>(Count(tensor->shape));
    tensor->values.resize(count);
    if (count == 0) return;
    std::string word = Word();
    if (word == "hex") return ReadHex(tensor);
    for (size_t i = 0; i < count && !bad_; ++i) {
      tensor->values[i] = Number(word);
      if (i + 1 < count) word = Word();
    }
    StoreValues(tensor);
  }

  void ReadHex(GoldenTensor* tensor) {
    const size_t total = rows_ * row_bytes_;
    std::string bytes;
    while (!bad_ && bytes.size() < total) {
      const std::string hex = Word();
      if (hex.size() % 2 != 0 || !std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit))
        bad_ = true;
      for (size_t i = 0; i < hex.size() && !bad_; i += 2) {
        uint8_t byte = 0;
        std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
        bytes.push_back(static_cast<char>(byte));
      }
    }
    if (bytes.size() != total || tensor->type == HY_TYPE_NONE) bad_ = true;
    if (bad_) return;
    std::memcpy(Bytes(tensor), bytes.data(), total);
    const hy_type_info& facts = *hy_type_facts(tensor->type);
    if (!hy_type_is_weights(tensor->type)) ToHost(facts.block_bytes, total, Bytes(tensor));
    if (tensor->type == HY_TYPE_I32) return LoadInts(tensor);
    const auto cols = static_cast<size_t>(Cols(*tensor));
    for (size_t row = 0; row < rows_; ++row)
      quant::DecodeRow(tensor->type, Bytes(tensor) + row * row_bytes_, static_cast<int64_t>(cols),
                       &tensor->values[row * cols]);
  }

  static void LoadInts(GoldenTensor* tensor) {
    for (size_t i = 0; i < tensor->values.size(); ++i) {
      int32_t value;
      std::memcpy(&value, Bytes(tensor) + 4 * i, sizeof value);
      tensor->values[i] = value;
    }
  }

  // Rounds the values to the tensor's type, as the reader of a model would.
  void StoreValues(GoldenTensor* tensor) {
    std::vector<float> row(tensor->values.begin(), tensor->values.end());
    if (tensor->type == HY_TYPE_I32) {
      for (size_t i = 0; i < row.size(); ++i) {
        const auto value = static_cast<int32_t>(tensor->values[i]);
        std::memcpy(Bytes(tensor) + 4 * i, &value, sizeof value);
      }
    } else if (hy_type_is_float(tensor->type)) {
      quant::EncodeRow(tensor->type, row.data(), static_cast<int64_t>(row.size()), Bytes(tensor));
    } else if (tensor->type != HY_TYPE_NONE) {
      bad_ = true;
    }
  }

  std::string Word() {
    std::string word;
    if (!(words_ >> word)) bad_ = true;
    return word;
  }

  double Number(const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0') bad_ = true;
    return value;
  }

  std::istringstream words_;
  bool bad_ = false;
  size_t rows_ = 0;  // of the tensor being read
  size_t row_bytes_ = 0;
};

std::string WithoutComments(std::istream& in) {
  std::string text;
  std::string line;
  while (std::getline(in, line))
    if (line.empty() || line[0] != '#') absl::StrAppend(&text, line, "\n");
  return text;
}

}  // namespace

hy_tensor GoldenTensor::view() const {
  if (type == HY_TYPE_NONE) return hy_tensor{};
  return hy_tensor_dense(const_cast<uint64_t*>(memory.data()), type,
                         static_cast<uint32_t>(shape.size()), shape.data());
}

std::vector<GoldenCase> ParseGolden(absl::string_view text) {
  std::istringstream in{std::string(text)};
  return Reader(WithoutComments(in)).All();
}

std::vector<GoldenCase> ReadGolden(const std::string& name) {
  const std::string path =
      absl::StrCat(HALYARD_TEST_SOURCE_DIR "/reference/testdata/", name, ".golden");
  std::ifstream in(path);
  if (!in) return {GoldenCase(absl::StrCat("missing: ", path))};
  return Reader(WithoutComments(in)).All();
}

std::string FirstDifference(const std::vector<double>& got, const GoldenTensor& want,
                            double relative) {
  if (got.size() != want.values.size())
    return absl::StrCat(got.size(), " elements instead of ", want.values.size());
  double mean = 0;
  for (const double value : want.values)
    if (std::isfinite(value)) mean += std::abs(value) / static_cast<double>(got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double value = want.values[i];
    if (std::isnan(value) && std::isnan(got[i])) continue;
    if (got[i] == value) continue;
    const double tolerance = std::isfinite(value) ? relative * std::max(std::abs(value), mean) : 0;
    if (std::abs(got[i] - value) <= tolerance) continue;
    return absl::StrCat("element ", i, " is ", got[i], ", expected ", value);
  }
  return "";
}

}  // namespace halyard::reference
