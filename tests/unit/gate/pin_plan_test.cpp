#include "proxy/gate/pin_plan.hpp"

#include <gtest/gtest.h>

namespace ledgergate::gate {
namespace {

using sql::text_shape;

struct simple_case {
  const char* name;
  simple_situation now;
  pin_plan plan;
};

class PlanSimple : public testing::TestWithParam<simple_case> {};

TEST_P(PlanSimple, ChoosesTheRowOfTheTable) { EXPECT_EQ(plan_simple(GetParam().now), GetParam().plan); }

INSTANTIATE_TEST_SUITE_P(
    Table, PlanSimple,
    testing::Values(
        simple_case{
            "OpenTransaction", {.status = 'T', .shape = text_shape::plain_dml}, pin_plan::function_call},
        simple_case{"OpenTransactionAnyStatement",
                    {.status = 'T', .shape = text_shape::other_single},
                    pin_plan::function_call},
        simple_case{
            "OpenTransactionSeveral", {.status = 'T', .shape = text_shape::several}, pin_plan::function_call},
        simple_case{"OpenTransactionUnparsed", {.status = 'T'}, pin_plan::function_call},
        simple_case{"OpenTransactionTextThatEndsIt",
                    {.status = 'T', .shape = text_shape::several, .has_transaction_control = true},
                    pin_plan::envelope},
        simple_case{
            "OpenTransactionOwnCall", {.function_call = true, .status = 'T'}, pin_plan::function_call},
        simple_case{"OpenTransactionReplication",
                    {.replication = true, .status = 'T', .shape = text_shape::plain_dml},
                    pin_plan::envelope},
        simple_case{
            "AutocommitPlainDml", {.status = 'I', .shape = text_shape::plain_dml}, pin_plan::as_extended},
        simple_case{"AutocommitParameters",
                    {.status = 'I', .shape = text_shape::dml_with_params},
                    pin_plan::envelope},
        simple_case{
            "AutocommitOther", {.status = 'I', .shape = text_shape::other_single}, pin_plan::envelope},
        simple_case{"AutocommitSeveral", {.status = 'I', .shape = text_shape::several}, pin_plan::envelope},
        simple_case{"AutocommitUnparsed", {.status = 'I'}, pin_plan::envelope},
        simple_case{"AutocommitOwnCall",
                    {.function_call = true, .status = 'I', .shape = text_shape::plain_dml},
                    pin_plan::envelope},
        simple_case{"AutocommitReplication",
                    {.replication = true, .status = 'I', .shape = text_shape::plain_dml},
                    pin_plan::envelope},
        simple_case{"FailedTransaction", {.status = 'E', .shape = text_shape::plain_dml}, pin_plan::forward},
        simple_case{"FailedTransactionLeftByTheText",
                    {.status = 'E',
                     .shape = text_shape::several,
                     .has_transaction_control = true,
                     .first = sql::control_kind::rollback},
                    pin_plan::envelope_from_failed},
        simple_case{"FailedTransactionLeftToASavepoint",
                    {.status = 'E',
                     .shape = text_shape::several,
                     .has_transaction_control = true,
                     .first = sql::control_kind::rollback_to},
                    pin_plan::run_first_statement},
        simple_case{"FailedTransactionNotLeftAtOnce",
                    {.status = 'E', .shape = text_shape::several, .has_transaction_control = true},
                    pin_plan::forward},
        simple_case{"FailedTransactionLeftByATextThatDropsTheHold",
                    {.status = 'E',
                     .shape = text_shape::several,
                     .has_transaction_control = true,
                     .drops_session_locks = true,
                     .first = sql::control_kind::rollback},
                    pin_plan::refuse},
        simple_case{
            "OpenTransactionSetFirst",
            {.status = 'T', .shape = text_shape::several, .first = sql::control_kind::set_transaction},
            pin_plan::run_first_statement},
        simple_case{"OpenTransactionSetFirstWhichRan",
                    {.status = 'T',
                     .shape = text_shape::several,
                     .first = sql::control_kind::set_transaction,
                     .first_ran = true},
                    pin_plan::function_call},
        simple_case{"OpenTransactionThatDropsTheHoldItEndsUnder",
                    {.status = 'T',
                     .shape = text_shape::several,
                     .has_transaction_control = true,
                     .drops_session_locks = true},
                    pin_plan::refuse},
        simple_case{"LevelUnknown",
                    {.status = 'T', .shape = text_shape::plain_dml, .block_level = isolation_level::unknown},
                    pin_plan::ask_level},
        simple_case{"LevelHigh",
                    {.status = 'T', .shape = text_shape::plain_dml, .block_level = isolation_level::high},
                    pin_plan::prove},
        simple_case{"LevelHighAndTheTextEndsIt",
                    {.status = 'T',
                     .shape = text_shape::several,
                     .has_transaction_control = true,
                     .block_level = isolation_level::high},
                    pin_plan::prove_with_session},
        simple_case{"LevelProven",
                    {.status = 'T', .shape = text_shape::plain_dml, .block_level = isolation_level::proven},
                    pin_plan::function_call},
        simple_case{"LevelExempt",
                    {.status = 'T', .shape = text_shape::plain_dml, .block_level = isolation_level::exempt},
                    pin_plan::forward},
        simple_case{"AutocommitAtAHigherDefaultLevel",
                    {.status = 'I', .shape = text_shape::plain_dml, .default_level = isolation_level::high},
                    pin_plan::envelope},
        simple_case{"AutocommitEnvelopeThatTheTextDrops",
                    {.status = 'I', .shape = text_shape::several, .drops_session_locks = true},
                    pin_plan::refuse},
        simple_case{"BehindBatchWithoutSyncOnABaseInFlight",
                    {.replies_outstanding = true,
                     .batch_open = true,
                     .base_known = false,
                     .status = 'I',
                     .shape = text_shape::plain_dml},
                    pin_plan::wait_base},
        simple_case{"BehindBatchWithoutSyncAtAHigherLevel",
                    {.batch_open = true,
                     .status = 'T',
                     .shape = text_shape::plain_dml,
                     .block_level = isolation_level::unknown},
                    pin_plan::refuse},
        simple_case{"StateOnlyPredicted",
                    {.replies_outstanding = true, .status = 'T', .shape = text_shape::plain_dml},
                    pin_plan::wait_idle},
        simple_case{
            "CopyDataExpected",
            {.replies_outstanding = true, .status = 'I', .shape = text_shape::plain_dml, .may_wait = false},
            pin_plan::forward},
        simple_case{
            "BehindBatchWithoutSync",
            {.replies_outstanding = true, .batch_open = true, .status = 'I', .shape = text_shape::plain_dml},
            pin_plan::in_batch_with_session},
        simple_case{"BehindBatchWithoutSyncControl",
                    {.batch_open = true,
                     .status = 'I',
                     .shape = text_shape::several,
                     .has_transaction_control = true},
                    pin_plan::refuse}),
    [](const auto& tested) { return std::string(tested.param.name); });

struct batch_case {
  const char* name;
  batch_situation now;
  pin_plan plan;
};

class PlanBatch : public testing::TestWithParam<batch_case> {};

TEST_P(PlanBatch, ChoosesTheRowOfTheTable) { EXPECT_EQ(plan_batch(GetParam().now), GetParam().plan); }

INSTANTIATE_TEST_SUITE_P(
    Table, PlanBatch,
    testing::Values(
        batch_case{"AutocommitPlainDml", {.base_status = 'I'}, pin_plan::in_batch},
        batch_case{"OpenTransactionPlainDml", {.base_status = 'T'}, pin_plan::in_batch},
        batch_case{"PredictedPlainDml", {.base_known = false}, pin_plan::in_batch},
        batch_case{"OpenTransactionOther", {.base_status = 'T', .plain_dml = false}, pin_plan::in_batch},
        batch_case{"BeginInBatchOther",
                   {.base_known = false, .begin_in_batch = true, .plain_dml = false},
                   pin_plan::in_batch},
        batch_case{"AutocommitOther", {.base_status = 'I', .plain_dml = false}, pin_plan::envelope},
        batch_case{"AutocommitOtherBehindABind",
                   {.base_status = 'I', .bound_in_batch = true, .plain_dml = false},
                   pin_plan::in_batch_with_session},
        batch_case{"PredictedOther", {.base_known = false, .plain_dml = false}, pin_plan::wait_base},
        batch_case{"SavepointPossible",
                   {.base_status = 'T', .savepoint_possible = true},
                   pin_plan::in_batch_with_session},
        batch_case{"FailedTransaction", {.base_status = 'E'}, pin_plan::forward},
        batch_case{
            "FailedTransactionLeftInBatch", {.base_status = 'E', .end_in_batch = true}, pin_plan::in_batch},
        batch_case{"LevelUnknown",
                   {.base_status = 'T', .block_level = isolation_level::unknown},
                   pin_plan::ask_level},
        batch_case{"LevelHigh", {.base_status = 'T', .block_level = isolation_level::high}, pin_plan::prove},
        batch_case{
            "LevelExempt", {.base_status = 'T', .block_level = isolation_level::exempt}, pin_plan::forward},
        batch_case{
            "LevelProven", {.base_status = 'T', .block_level = isolation_level::proven}, pin_plan::in_batch},
        batch_case{"LevelUnknownOnABaseInFlight",
                   {.base_known = false, .block_level = isolation_level::unknown},
                   pin_plan::wait_base},
        batch_case{"AutocommitAtAHigherDefaultLevel",
                   {.base_status = 'I', .default_level = isolation_level::high},
                   pin_plan::envelope},
        batch_case{"AutocommitAtAHigherDefaultLevelBehindABind",
                   {.base_status = 'I', .bound_in_batch = true, .default_level = isolation_level::high},
                   pin_plan::refuse},
        batch_case{"CommitInBatchThenOther",
                   {.base_status = 'T', .end_in_batch = true, .bound_in_batch = true, .plain_dml = false},
                   pin_plan::in_batch_with_session}),
    [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace ledgergate::gate
