// SPDX-License-Identifier: Apache-2.0
//
// `halyard inspect`: what a model file holds.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "engine/gguf/gguf_model_file.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using engine::GgufEntry;
using engine::GgufFile;
using engine::GgufModelFile;
using engine::GgufTensor;
using engine::GgufType;

constexpr size_t kMostElements = 8;
constexpr size_t kMostText = 120;

template <typename Values>
nlohmann::json Head(const absl::StatusOr<Values>& values) {
  nlohmann::json shown = nlohmann::json::array();
  for (size_t i = 0; values.ok() && i < std::min(values->size(), kMostElements); ++i)
    shown.push_back((*values)[i]);
  return shown;
}

nlohmann::json HeadOfStrings(const absl::StatusOr<std::vector<absl::string_view>>& values) {
  nlohmann::json shown = nlohmann::json::array();
  for (size_t i = 0; values.ok() && i < std::min(values->size(), kMostElements); ++i)
    shown.push_back(std::string((*values)[i]));
  return shown;
}

nlohmann::json ArrayValue(const GgufFile& file, const GgufEntry& entry) {
  nlohmann::json head;
  switch (entry.element) {
    case GgufType::kString:
      head = HeadOfStrings(file.Strings(entry.key));
      break;
    case GgufType::kFloat32:
      head = Head(file.Floats(entry.key));
      break;
    case GgufType::kBool:
      head = Head(file.Bools(entry.key));
      break;
    default:
      head = Head(file.Ints(entry.key));
  }
  return {{"length", entry.count}, {"element", GgufTypeName(entry.element)}, {"first", head}};
}

nlohmann::json ValueOf(const GgufFile& file, const GgufEntry& entry) {
  switch (entry.type) {
    case GgufType::kArray:
      return ArrayValue(file, entry);
    case GgufType::kString:
      return std::string(*file.String(entry.key));
    case GgufType::kBool:
      return *file.Bool(entry.key);
    case GgufType::kFloat32:
    case GgufType::kFloat64:
      return *file.Float(entry.key);
    default: {
      const absl::StatusOr<int64_t> value = file.Int(entry.key);
      return value.ok() ? nlohmann::json(*value) : nlohmann::json("too large");
    }
  }
}

std::string ValueText(const nlohmann::json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return absl::StrCat(absl::CEscape(text.substr(0, kMostText)),
                        text.size() > kMostText ? " ..." : "");
  }
  if (!value.is_object()) return value.dump();
  const std::string first =
      value["first"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return absl::StrCat(value["length"].get<uint64_t>(), " x ", value["element"].get<std::string>(),
                      ": ", first.substr(0, kMostText), first.size() > kMostText ? " ..." : "");
}

std::string ShapeText(const GgufTensor& tensor) {
  return absl::StrJoin(absl::MakeConstSpan(tensor.shape).first(tensor.rank), " x ");
}

struct TypeSum {
  uint64_t tensors = 0;
  int64_t elements = 0;
  uint64_t bytes = 0;
};

std::map<std::string, TypeSum> SumsOf(const GgufModelFile& model) {
  std::map<std::string, TypeSum> sums;
  for (const GgufTensor* tensor : model.tensors()) {
    TypeSum& sum = sums[engine::GgufTensorTypeOf(tensor->file_type).name];
    ++sum.tensors;
    sum.elements += tensor->elements();
    sum.bytes += tensor->bytes;
  }
  return sums;
}

nlohmann::json DocumentOf(const GgufModelFile& model) {
  const GgufFile& file = model.head();
  nlohmann::json metadata = nlohmann::json::object();
  for (const GgufEntry& entry : file.entries())
    metadata[std::string(entry.key)] = ValueOf(file, entry);
  nlohmann::json tensors = nlohmann::json::array();
  for (const GgufTensor* tensor : model.tensors()) {
    tensors.push_back({{"name", std::string(tensor->name)},
                       {"type", engine::GgufTensorTypeOf(tensor->file_type).name},
                       {"shape", std::vector<int64_t>(tensor->shape.begin(),
                                                      tensor->shape.begin() + tensor->rank)},
                       {"bytes", tensor->bytes}});
  }
  int64_t parameters = 0;
  nlohmann::json types = nlohmann::json::object();
  for (const auto& [name, sum] : SumsOf(model)) {
    parameters += sum.elements;
    types[name] = {{"tensors", sum.tensors}, {"elements", sum.elements}, {"bytes", sum.bytes}};
  }
  return {{"path", model.path()},
          {"bytes", model.bytes()},
          {"parts", model.part_count()},
          {"version", file.version()},
          {"byte_order", model.is_big_endian() ? "big" : "little"},
          {"parameters", parameters},
          {"types", types},
          {"metadata", metadata},
          {"tensors", tensors}};
}

std::string TextOf(const GgufModelFile& model, const nlohmann::json& document) {
  std::string text =
      absl::StrFormat("%s: GGUF %u, %s, %d parts\n", model.path(), model.head().version(),
                      HumanBytes(model.bytes()), model.part_count());
  absl::StrAppend(
      &text, absl::StrFormat("%.4g M parameters\n", document["parameters"].get<double>() / 1e6));
  for (const auto& [name, sum] : SumsOf(model)) {
    absl::StrAppend(
        &text, absl::StrFormat("  %-8s %5d tensors %12s %8.4g M\n", name, sum.tensors,
                               HumanBytes(sum.bytes), static_cast<double>(sum.elements) / 1e6));
  }
  text += "\nMetadata\n";
  for (const GgufEntry& entry : model.head().entries()) {
    absl::StrAppend(&text, "  ", std::string(entry.key), " = ",
                    ValueText(document["metadata"][std::string(entry.key)]), "\n");
  }
  text += "\nTensors\n";
  for (const GgufTensor* tensor : model.tensors()) {
    absl::StrAppend(&text, absl::StrFormat("  %-40s %-8s %-20s %12s\n", std::string(tensor->name),
                                           engine::GgufTensorTypeOf(tensor->file_type).name,
                                           ShapeText(*tensor), HumanBytes(tensor->bytes)));
  }
  return text;
}

absl::StatusOr<int> RunInspect(const std::string& path, const Output& output) {
  HY_ASSIGN_OR_RETURN(const auto model, GgufModelFile::Open(path));
  const nlohmann::json document = DocumentOf(*model);
  output.Text(TextOf(*model, document));
  output.Document(document);
  return kHolds;
}

}  // namespace

void AddInspect(const Program& program) {
  auto path = std::make_shared<std::string>();
  CLI::App* const command = program.app->add_subcommand(
      "inspect", "What a model file holds: metadata, tensors, bytes by type");
  command->add_option("file", *path, "GGUF file, or the first part of a split one")->required();
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([path, program] {
    const absl::StatusOr<int> code = RunInspect(*path, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status(), kWrongInput);
  });
}

}  // namespace halyard::cli
