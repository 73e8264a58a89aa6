// SPDX-License-Identifier: Apache-2.0
#include "engine/session/session.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace halyard::engine {
namespace {

constexpr int64_t kDefaultContext = 4096;
constexpr int64_t kMostContext = int64_t{1} << 22;

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const LoadedModel* model,
                                                         const SessionOptions& options) {
  const int64_t context =
      options.context != 0 ? options.context : std::min(kDefaultContext, model->config().context);
  if (context < 1 || context > kMostContext || options.chunk < 1 || options.kv.page < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a context of ", context, " tokens in chunks of ", options.chunk, " and pages of ",
        options.kv.page, "; up to ", kMostContext, " are possible, and 1 at least of each"));
  }
  const int64_t chunk = std::min(options.chunk, context);
  std::unique_ptr<Session> made(new Session(model, context, chunk));
  KvShape kv = options.kv;
  kv.pages = (context + kv.page - 1) / kv.page;
  HY_ASSIGN_OR_RETURN(made->kv_, KvStorage::Create(model->config(), kv));
  const StepLimits limits = {chunk, 1, 1, kv.pages};
  HY_ASSIGN_OR_RETURN(made->forward_,
                      Forward::Create(&model->config(), &model->weights(), &model->registry(),
                                      &model->team(), made->kv_.get(), limits, context));
  made->block_table_.resize(static_cast<size_t>(kv.pages));
  std::iota(made->block_table_.begin(), made->block_table_.end(), 0);
  made->positions_.resize(static_cast<size_t>(chunk));
  made->logits_.resize(static_cast<size_t>(model->config().vocabulary));
  return made;
}

absl::StatusOr<absl::Span<const float>> Session::Step(absl::Span<const int32_t> tokens) {
  // Pages are in order, so that a slot is the position.
  std::iota(positions_.begin(), positions_.begin() + static_cast<std::ptrdiff_t>(tokens.size()),
            static_cast<int32_t>(position_));
  const auto rows = static_cast<int32_t>(tokens.size());
  const int32_t q_start[] = {0, rows};
  const int32_t kv_len[] = {static_cast<int32_t>(position_) + rows};
  const int32_t logit_rows[] = {rows - 1};
  StepInput input;
  input.tokens = tokens;
  input.positions = absl::MakeConstSpan(positions_).first(tokens.size());
  input.slots = input.positions;
  input.q_start = q_start;
  input.kv_len = kv_len;
  input.block_table = block_table_;
  input.logit_rows = logit_rows;
  return forward_->Run(input);
}

absl::StatusOr<absl::Span<float>> Session::Feed(absl::Span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count == 0) return absl::InvalidArgumentError("there is no token to begin with");
  if (count > context_ - position_) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " tokens do not fit: the context has ", context_, ", and ", position_,
                     " are used; ask for a longer one, or give less text"));
  }
  for (const int32_t token : tokens) {
    if (token < 0 || token >= model_.config().vocabulary) {
      return absl::OutOfRangeError(
          absl::StrCat("token ", token, "; the model has ", model_.config().vocabulary));
    }
  }
  absl::Span<const float> logits;
  for (int64_t done = 0; done < count;) {
    const int64_t rows = std::min(chunk_, count - done);
    HY_ASSIGN_OR_RETURN(logits,
                        Step(tokens.subspan(static_cast<size_t>(done), static_cast<size_t>(rows))));
    done += rows;
    position_ += rows;
  }
  std::copy(logits.begin(), logits.end(), logits_.begin());
  return absl::MakeSpan(logits_);
}

}  // namespace halyard::engine
