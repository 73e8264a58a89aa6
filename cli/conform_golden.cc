// SPDX-License-Identifier: Apache-2.0
//
// `halyard conform golden`: expected results, computed once for machines where that is slow.
#include "cli/conform_golden.h"

#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/conform_request.h"
#include "cli/files.h"
#include "conformance/golden/make_golden.h"
#include "nlohmann/json.hpp"

namespace halyard::cli {
namespace {

using conformance::GoldenCheck;
using conformance::GoldenPack;
using conformance::RunRequest;

struct GoldenArgs {
  ConformArgs run;
  std::string out;
  std::string check;
};

absl::StatusOr<int> Write(const GoldenArgs& args, const RunRequest& request, const Output& output) {
  ProgressLine progress(output);
  HY_ASSIGN_OR_RETURN(std::string bytes, conformance::MakeGolden(request, std::ref(progress)));
  const uint64_t size = bytes.size();
  HY_RETURN_IF_ERROR(WriteFile(args.out, bytes));
  HY_ASSIGN_OR_RETURN(const std::unique_ptr<const GoldenPack> pack,
                      GoldenPack::Parse(std::move(bytes)));
  output.Text(absl::StrCat("Golden pack: ", args.out, ", ", HumanBytes(size),
                           ", expected results for ", pack->size(), " sets of inputs, digest ",
                           pack->digest(), "\n"));
  output.Document({{"golden", args.out},
                   {"bytes", size},
                   {"entries", pack->size()},
                   {"sha256", pack->digest()}});
  return kHolds;
}

absl::StatusOr<int> Check(const RunRequest& request, const Output& output) {
  ProgressLine progress(output);
  HY_ASSIGN_OR_RETURN(const GoldenCheck check,
                      conformance::CheckGolden(request, std::ref(progress)));
  for (const std::string& line : check.lines) output.Text(absl::StrCat(line, "\n"));
  output.Text(
      absl::StrFormat("Expected results: %u the same bits, %u within %.0e of their bounds "
                      "(largest: %.2g), %u differ, %u are not in the pack\n",
                      check.same, check.close, conformance::kCloseToBound, check.worst,
                      check.differ, check.missing));
  const bool holds = check.differ == 0 && check.missing == 0;
  output.Document({{"same", check.same},
                   {"close", check.close},
                   {"differ", check.differ},
                   {"missing", check.missing},
                   {"holds", holds},
                   {"lines", check.lines}});
  return holds ? kHolds : kDoesNotHold;
}

absl::StatusOr<int> RunGolden(const GoldenArgs& args, const Output& output) {
  if (args.out.empty() == args.check.empty()) {
    return absl::InvalidArgumentError(
        "say --out FILE to write a golden pack, or --check FILE to compare one with what is "
        "computed here");
  }
  if (!args.run.shard.empty()) {
    return absl::InvalidArgumentError(
        "shards are dealt by kernel, which other machines have others of: leave --shard out");
  }
  ConformArgs run = args.run;
  run.level = "ops";
  run.golden = args.check;
  HY_ASSIGN_OR_RETURN(const RunRequest request, MakeRequest(run));
  return args.out.empty() ? Check(request, output) : Write(args, request, output);
}

}  // namespace

void AddGoldenCommand(CLI::App& conform, const Program& program) {
  auto args = std::make_shared<GoldenArgs>();
  CLI::App* const command = conform.add_subcommand(
      "golden", "Compute what kernels must give, once, for runs where references are slow");
  command->add_option("--out", args->out, "Write a golden pack to this file");
  command->add_option("--check", args->check,
                      "Compute all again and compare with this pack bit for bit");
  command->add_option("--kernels", args->run.ops.plugins,
                      "Libraries with kernels, whose numerics the pack shall have as well");
  AddCaseOptions(*command, args->run);
  command->add_flag("--json", program.output->json, "One JSON document on standard output");
  command->callback([program, args] {
    const absl::StatusOr<int> code = RunGolden(*args, *program.output);
    *program.exit_code = code.ok() ? *code : program.output->Fail(code.status());
  });
}

}  // namespace halyard::cli
