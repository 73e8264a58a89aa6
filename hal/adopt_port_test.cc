// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "hal/host_services.h"
#include "hal/loader.h"

namespace halyard::hal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What the entry below answers; each test sets it.
struct Answer {
  hy_hal_api table;
  bool refuse;
  uint32_t reason;
  uint32_t host_major;
  const hy_host_services* services;
};
Answer answer;

const hy_hal_api* Get(uint32_t major, uint32_t, const hy_host_services* services,
                      uint32_t* reason) {
  answer.host_major = major;
  answer.services = services;
  *reason = answer.reason;
  return answer.refuse ? nullptr : &answer.table;
}

hy_status Enumerate(const hy_hal_api*, hy_array*) { return HY_OK; }
hy_status Open(const hy_hal_api*, const hy_open_desc*, hy_device**) { return HY_OK; }
hy_status Query(const hy_query_desc*, void*, uint64_t*) { return HY_OK; }
hy_status Alloc(hy_device*, const hy_alloc_desc*, hy_buffer**, hy_placement*) { return HY_OK; }
hy_status Map(hy_buffer*, const hy_map_desc*, void**) { return HY_OK; }
hy_status Submit(hy_device*, hy_queue*, const hy_submission*) { return HY_OK; }
hy_status QueueCreate(hy_device*, const hy_queue_desc*, hy_queue**) { return HY_OK; }
hy_status TeamRun(hy_team*, hy_worker_fn, void*) { return HY_OK; }
hy_status Timestamp(hy_device*, hy_timestamp*) { return HY_OK; }
hy_status Release(uint32_t, void*) { return HY_OK; }

class AdoptPortTest : public ::testing::Test {
 protected:
  AdoptPortTest() {
    answer = Answer{};
    hy_hal_api& table = answer.table;
    table.struct_size = sizeof table;
    table.abi_major = HY_HAL_ABI_MAJOR;
    table.name = "acme";
    table.enumerate = Enumerate;
    table.open = Open;
    table.query = Query;
    table.alloc = Alloc;
    table.map = Map;
    table.timestamp = Timestamp;
    table.release = Release;
  }

  std::string Refusal(absl::StatusCode code, absl::string_view name = "acme") {
    const auto port = AdoptPort(&Get, name, "built in");
    EXPECT_EQ(port.status().code(), code) << port.status();
    return std::string(port.status().message());
  }
  std::string Invalid(absl::string_view name = "acme") {
    return Refusal(absl::StatusCode::kInvalidArgument, name);
  }
};

TEST_F(AdoptPortTest, SevenVerbsMakeAPort) {
  const auto port = AdoptPort(&Get, "acme", "built in");
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(answer.host_major, HY_HAL_ABI_MAJOR);
  EXPECT_EQ(answer.services, HostServices());
  EXPECT_EQ((*port)->self(), &answer.table);
  EXPECT_EQ((*port)->origin(), "built in");
  EXPECT_STREQ((*port)->api().vendor, "");
}

TEST_F(AdoptPortTest, SubmitStandsInForMap) {
  answer.table.map = nullptr;
  EXPECT_THAT(Invalid(), HasSubstr("map or submit"));
  answer.table.submit = Submit;
  EXPECT_TRUE(AdoptPort(&Get, "acme", "built in").ok());
}

TEST_F(AdoptPortTest, EachNeededVerbIsNamedWhenItIsMissing) {
  answer.table.enumerate = nullptr;
  EXPECT_THAT(Invalid(), HasSubstr("port acme lacks verbs that every port has: enumerate"));
  answer.table.release = nullptr;
  EXPECT_THAT(Invalid(), HasSubstr("enumerate, release"));
}

TEST_F(AdoptPortTest, AVerbBeyondTheTablesSizeIsNull) {
  // Half of the slot of release is within the size: no pointer can be made of that.
  answer.table.struct_size = offsetof(hy_hal_api, release) + sizeof(void*) / 2;
  EXPECT_THAT(Invalid(), HasSubstr("every port has: release"));
}

TEST_F(AdoptPortTest, AnAbsurdSizeIsRefused) {
  answer.table.struct_size = 8;
  EXPECT_THAT(Invalid(), HasSubstr("struct_size is 8"));
}

TEST_F(AdoptPortTest, FamiliesOfVerbsComeTogether) {
  answer.table.team_run = TeamRun;
  EXPECT_THAT(Invalid(), HasSubstr("has team_run but not team_create, team_readback"));
  answer.table.team_run = nullptr;
  answer.table.queue_create = QueueCreate;
  EXPECT_THAT(Invalid(), HasSubstr("queue_create but not submit"));
}

TEST_F(AdoptPortTest, TheNameIsThatOfTheListing) {
  EXPECT_THAT(Invalid("other"), AllOf(HasSubstr("'acme'"), HasSubstr("'other'")));
  for (const char* name : {"", "Acme", "1acme", "acme-x1", "acme x1", "a/b"}) {
    answer.table.name = name;
    EXPECT_THAT(Invalid(""), HasSubstr("calls itself"));
  }
  answer.table.name = nullptr;
  EXPECT_THAT(Invalid(""), HasSubstr("calls itself"));
  const std::string endless(5000, 'a');
  answer.table.name = endless.c_str();
  EXPECT_LT(Invalid("").size(), 300u);
}

TEST_F(AdoptPortTest, EveryReasonOfARefusalIsSaid) {
  answer.refuse = true;
  answer.reason = HY_REFUSED_MAJOR;
  EXPECT_THAT(Refusal(absl::StatusCode::kFailedPrecondition), HasSubstr("major version"));
  answer.reason = HY_REFUSED_MINOR;
  EXPECT_THAT(Refusal(absl::StatusCode::kFailedPrecondition), HasSubstr("later HAL ABI than 1.0"));
  answer.reason = HY_REFUSED_SERVICES;
  EXPECT_THAT(Refusal(absl::StatusCode::kFailedPrecondition), HasSubstr("host services"));
  answer.reason = HY_REFUSED_PLATFORM;
  EXPECT_THAT(Refusal(absl::StatusCode::kUnavailable), HasSubstr("platform"));
  for (uint32_t reason : {uint32_t{HY_REFUSED_NONE}, 99u}) {
    answer.reason = reason;
    EXPECT_THAT(Invalid(), HasSubstr(std::to_string(reason)));
  }
}

TEST_F(AdoptPortTest, AnOlderMajorVersionIsToBeBuiltAnew) {
  answer.table.abi_major = 0;
  EXPECT_THAT(Refusal(absl::StatusCode::kFailedPrecondition), HasSubstr("build the port anew"));
}

}  // namespace
}  // namespace halyard::hal
