// SPDX-License-Identifier: Apache-2.0
//
// The `halyard` program: one command a file, wired together here.
#include "cli/program.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/suggest.h"

namespace halyard::cli {
namespace {

/// The command that the words chose, or the program itself.
CLI::App* Chosen(CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? &app : Chosen(*parsed.front());
}

std::vector<std::string> KnownWords(CLI::App& app, bool flags) {
  std::vector<std::string> words;
  if (flags) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames())
        words.push_back(absl::StrCat("--", name));
    }
  } else {
    for (const CLI::App* command : app.get_subcommands({})) words.push_back(command->get_name());
  }
  return words;
}

/// Says what was wrong with the words, and what was probably meant.
int ReportUsage(CLI::App& app, const CLI::ParseError& error) {
  CLI::App* const command = Chosen(app);
  std::string message = error.what();
  const std::vector<std::string> extra = command->remaining(true);
  if (!extra.empty()) {
    const std::string word = extra.front().substr(0, extra.front().find('='));
    const bool flag = word.rfind('-', 0) == 0;
    message = absl::StrCat(flag ? "unknown flag " : "unknown word ", word);
    const std::string nearest = Nearest(word, KnownWords(*command, flag));
    if (!nearest.empty()) absl::StrAppend(&message, "; did you mean ", nearest, "?");
  }
  const std::string name = command == &app ? "halyard" : "halyard " + command->get_name();
  std::fprintf(stderr, "halyard: %s\nSee `%s --help`.\n", message.c_str(), name.c_str());
  return kWrongInput;
}

int Main(int argc, char** argv) {
  CLI::App app("Halyard: certify, measure and port chips.", "halyard");
  app.set_version_flag("--version", std::string("halyard ") + HALYARD_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  Output output;
  int exit_code = kHolds;
  bool verbose = false;
  app.add_flag("--verbose", verbose, "Show the log of the libraries on standard error");
  const Program program{&app, &output, &exit_code};
  AddInfo(program);
  AddDoctor(program);
  AddConform(program);
  AddBench(program);
  AddCertify(program);
  AddExplain(program);
  AddNewPort(program);
  AddInspect(program);
  AddTokenize(program);
  AddRun(program);
  AddChat(program);
  AddSynth(program);

  app.parse_complete_callback([&verbose] {
    SetLogSink([&verbose](LogLevel level, absl::string_view message) {
      if (level < LogLevel::kWarning && !verbose) return;
      std::fprintf(stderr, "halyard: %.*s\n", static_cast<int>(message.size()), message.data());
    });
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error);
  }
  return exit_code;
}

}  // namespace

int RunProgram(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {  // such as std::bad_alloc of a library below us
    std::fprintf(stderr, "halyard: %s\n", error.what());
    return kCannotRun;
  }
}

}  // namespace halyard::cli
