// SPDX-License-Identifier: Apache-2.0
#include "cli/html_page.h"

#include <gtest/gtest.h>

#include "cli/command.h"

namespace halyard::cli {
namespace {

TEST(HtmlEscape, LeavesNothingThatCouldBeMarkup) {
  EXPECT_EQ(HtmlEscape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
}

TEST(HtmlPage, IsWholeAndNeedsNoNetwork) {
  const std::string page = HtmlPage("a < b", "<p>text</p>");
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("<title>a &lt; b</title>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(HumanBytes, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(4096), "4 KiB");
  EXPECT_EQ(HumanBytes(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(HumanBytes(uint64_t{512} << 20), "512 MiB");
}

TEST(CodeOf, TellsWrongInputFromCannotRun) {
  EXPECT_EQ(CodeOf(absl::InvalidArgumentError("")), kWrongInput);
  EXPECT_EQ(CodeOf(absl::FailedPreconditionError("")), kWrongInput);
  EXPECT_EQ(CodeOf(absl::UnavailableError("")), kCannotRun);
  EXPECT_EQ(CodeOf(absl::PermissionDeniedError("")), kCannotRun);
  EXPECT_EQ(CodeOf(absl::OkStatus()), kHolds);
}

}  // namespace
}  // namespace halyard::cli
