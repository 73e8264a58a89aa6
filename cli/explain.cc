// SPDX-License-Identifier: Apache-2.0
//
// `halyard explain`: which kernel runs a call, and why each other one does not.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cli/command.h"
#include "cli/explain_case.h"
#include "cli/explain_report.h"
#include "cli/explain_target.h"
#include "cli/suggest.h"
#include "ops/builtin.h"
#include "ops/contract_check.h"
#include "registry/plugin.h"
#include "registry/select.h"

namespace halyard::cli {
namespace {

struct ExplainArgs {
  TargetArgs target;
  std::string op;
  std::vector<std::string> types;
  std::string dims;
  int64_t m = -1;
  int64_t n = -1;
  int64_t k = -1;
  std::string activation;
  std::vector<std::string> kernels;
  bool no_pack = false;
  bool placement = false;
};

constexpr const char* kActivations[HY_QA_COUNT] = {"any",      "none",      "block32",
                                                   "block256", "token_sym", "token_asym"};

absl::StatusOr<std::unique_ptr<registry::Registry>> OpenRegistry(const ExplainArgs& args,
                                                                 const ExplainTarget& target) {
  registry::PluginOptions options;
  options.files = args.kernels;
  options.folders = registry::DefaultKernelFolders();
  if (target.device.has_value()) options.port = &target.device->port();
  return registry::MakeRegistry(BuiltinKernelTable(), options);
}

absl::StatusOr<const registry::Op*> FindOp(const registry::Registry& registry,
                                           const std::string& name) {
  const registry::Op* op = registry.FindOp(name);
  if (op != nullptr) return op;
  std::vector<std::string> names;
  for (const registry::Op* known : registry.ops()) names.emplace_back(known->name());
  const std::string nearest = Nearest(name, names);
  return absl::NotFoundError(
      absl::StrCat("there is no op ", name, "; there are: ", absl::StrJoin(names, ", "),
                   nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
}

const ops::OpCases* FindCases(const std::string& op) {
  for (const ops::OpCases* cases : TheBuiltinOps().cases) {
    if (op == cases->op) return cases;
  }
  return nullptr;
}

absl::StatusOr<CaseWish> WishOf(const ExplainArgs& args) {
  CaseWish wish;
  wish.types = args.types;
  HY_ASSIGN_OR_RETURN(wish.sizes, ParseSizes(args.dims));
  if (args.m >= 0) wish.sizes.emplace_back("m", args.m);
  if (args.n >= 0) wish.sizes.emplace_back("n", args.n);
  if (args.k >= 0) wish.sizes.emplace_back("k", args.k);
  return wish;
}

absl::Status SetActivation(const ExplainArgs& args, const registry::Op& op, void* raw) {
  if (args.activation.empty()) return absl::OkStatus();
  const auto* found = std::find(std::begin(kActivations), std::end(kActivations), args.activation);
  if (found == std::end(kActivations) || op.desc().activation_offset == 0) {
    return absl::InvalidArgumentError(absl::StrCat("--activation ", args.activation,
                                                   ": it is for products, and one of ",
                                                   absl::StrJoin(kActivations, ", ")));
  }
  const auto value = static_cast<uint32_t>(found - std::begin(kActivations));
  std::memcpy(static_cast<unsigned char*>(raw) + op.desc().activation_offset, &value, sizeof value);
  return absl::OkStatus();
}

absl::StatusOr<Explained> Explain(const ExplainArgs& args, const registry::Op& op,
                                  const ops::OpCases& cases, const ExplainTarget& target,
                                  const registry::Registry& registry) {
  Explained explained;
  explained.target = target.target;
  explained.where = target.where;
  HY_ASSIGN_OR_RETURN(const CaseWish wish, WishOf(args));
  HY_ASSIGN_OR_RETURN(const ops::Case c, MakeCase(cases, wish));
  HY_ASSIGN_OR_RETURN(std::vector<uint64_t> call, BuildArgs(cases, c, op.desc().args_bytes));
  HY_RETURN_IF_ERROR(SetActivation(args, op, call.data()));
  explained.case_text = ops::CaseText(c);
  registry::Request request;
  request.op = &op;
  request.args = call.data();
  request.target = explained.target;
  request.may_pack = !args.no_pack;
  HY_ASSIGN_OR_RETURN(explained.selection,
                      registry::Select(registry, request, &explained.explanation));
  explained.flops = op.desc().flops(call.data());
  explained.bytes = op.desc().bytes != nullptr ? op.desc().bytes(call.data())
                                               : ops::OperandBytes(op.desc(), call.data());
  if (args.placement) {
    HY_ASSIGN_OR_RETURN(explained.placement, PlaceCall(registry, target, op, call.data()));
  }
  return explained;
}

absl::StatusOr<int> RunExplain(const ExplainArgs& args, const Output& output) {
  HY_ASSIGN_OR_RETURN(const ExplainTarget target, OpenTarget(args.target));
  HY_ASSIGN_OR_RETURN(const std::unique_ptr<registry::Registry> registry,
                      OpenRegistry(args, target));
  if (args.op.empty()) {
    output.Text(OpsText(*registry));
    output.Document(OpsJson(*registry));
    return kHolds;
  }
  HY_ASSIGN_OR_RETURN(const registry::Op* op, FindOp(*registry, args.op));
  const ops::OpCases* cases = FindCases(args.op);
  if (cases == nullptr) {
    output.Text(absl::StrCat(args.op, " of ", op->source().origin,
                             " has no list of cases, so there is no call to explain\n",
                             KernelsText(*op)));
    output.Document(OpsJson(*registry));
    return kHolds;
  }
  HY_ASSIGN_OR_RETURN(const Explained explained, Explain(args, *op, *cases, target, *registry));
  output.Text(ExplainText(*registry, explained));
  output.Document(ExplainJson(*registry, explained));
  return kHolds;
}

void AddOptions(CLI::App* command, ExplainArgs* args) {
  command->add_option("op", args->op, "The op; without it, all ops and kernels are listed");
  command
      ->add_option("--types", args->types, "Type tuple, such as f32,q4_k: the rest is as the first")
      ->delimiter(',');
  command->add_option("--dims", args->dims, "Sizes by name: rows=8,cols=4096");
  const CLI::Range kAnySize(int64_t{0}, std::numeric_limits<int64_t>::max());
  command->add_option("--m", args->m, "Size M")->check(kAnySize);
  command->add_option("--n", args->n, "Size N")->check(kAnySize);
  command->add_option("--k", args->k, "Size K")->check(kAnySize);
  command->add_option("--activation", args->activation,
                      "How activations may be rounded: any, none, block32, ...");
  command->add_option("--kernels", args->kernels, "Plugin with kernels; can be given again")
      ->allow_extra_args(false);
  command->add_flag("--no-pack", args->no_pack,
                    "Weights stay as the file has them: no kernel may ask for a packed layout");
  command->add_flag("--placement", args->placement,
                    "Also what a run moves when all operands lie in memory of the device");
  args->target.AddTo(*command);
}

}  // namespace

void AddExplain(const Program& program) {
  auto args = std::make_shared<ExplainArgs>();
  CLI::App* const command = program.app->add_subcommand(
      "explain", "Which kernel runs an op, and why each other one does not");
  AddOptions(command, args.get());
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([args, program] {
    const absl::StatusOr<int> code = RunExplain(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
