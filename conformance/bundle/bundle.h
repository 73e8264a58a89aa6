// SPDX-License-Identifier: Apache-2.0
//
// A bundle: results of a vendor's runs in one folder, with a statement, so that others can check
// offline what was found and what it amounts to. Layout:
//   MANIFEST      SHA-256 digest of each other file, as `sha256sum -c` reads it
//   STATEMENT     product, part, system, suite, level, contact
//   bundle.json   {"schema": "halyard-bundle/1", "created_utc", "suite", "source_commit",
//                  "source_dirty", "results": [{"file", "level", "shard", "shards", "cases",
//                  "case_list_digest"}]}
//   results/      documents that `halyard conform --json-file` wrote, waivers in them
// A manifest shows that files belong together, not who made them: sign it for that.
#ifndef HALYARD_CONFORMANCE_BUNDLE_BUNDLE_H_
#define HALYARD_CONFORMANCE_BUNDLE_BUNDLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "conformance/bundle/statement.h"
#include "conformance/result.h"

namespace halyard::conformance {

struct BundleFile {
  std::string path;  ///< relative, with '/'
  std::string contents;
};

/// The files of a bundle. `documents`: texts of result documents, all shards of each level. Completes
/// the statement.
/// Errors   INVALID_ARGUMENT: a document that cannot be read, shards that do not belong together, no
///          product or contact.
absl::StatusOr<std::vector<BundleFile>> MakeBundle(const std::vector<std::string>& documents,
                                                   Statement* statement);

/// What looking at a bundle gave.
struct BundleReport {
  std::string level;                 ///< recomputed from the cases
  Statement statement;               ///< as it stands in the bundle
  std::vector<RunResult> runs;       ///< merged, one of each level
  std::vector<std::string> faults;   ///< what is wrong, a line each
  std::vector<std::string> waivers;  ///< what is wrong with waivers, a line each
  std::vector<std::string> notes;    ///< what a reader should know
};

/// Checks files as they lie in the folder. `date`: waivers must be valid then. Finds faults, does not
/// fail: but INVALID_ARGUMENT if there is no bundle to speak of.
absl::StatusOr<BundleReport> VerifyBundle(const std::vector<BundleFile>& files,
                                          absl::string_view date);

/// Joins documents by level; one result each.
absl::StatusOr<std::vector<RunResult>> MergeByLevel(const std::vector<RunResult>& results);

inline constexpr char kManifestName[] = "MANIFEST";
inline constexpr char kStatementName[] = "STATEMENT";
inline constexpr char kBundleName[] = "bundle.json";
inline constexpr char kBundleSchema[] = "halyard-bundle/1";

}  // namespace halyard::conformance

#endif  // HALYARD_CONFORMANCE_BUNDLE_BUNDLE_H_
