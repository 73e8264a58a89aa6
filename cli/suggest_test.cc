// SPDX-License-Identifier: Apache-2.0
#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace halyard::cli {
namespace {

const std::vector<std::string> kWords = {"info", "doctor", "conform", "certify", "new-port"};

TEST(Nearest, FindsSlipsOfOneOrTwoLetters) {
  EXPECT_EQ(Nearest("cnform", kWords), "conform");
  EXPECT_EQ(Nearest("conformm", kWords), "conform");
  EXPECT_EQ(Nearest("docter", kWords), "doctor");
  EXPECT_EQ(Nearest("newport", kWords), "new-port");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(Nearest("serialise", kWords), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

TEST(Nearest, TheWordItselfIsNearest) { EXPECT_EQ(Nearest("info", kWords), "info"); }

}  // namespace
}  // namespace halyard::cli
