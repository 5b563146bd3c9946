// The tidy rules: each looks at one file and says what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_tree.hpp"

namespace ledgergate::tidy {

using findings = std::vector<finding>;

/// Includes point downwards only, each library's headers stay where they may be used, own headers are written
/// from the root.
void check_includes(const source_file& file, findings& out);
/// Pure folders know no socket, clock, thread, logger or environment.
void check_pure_folders(const source_file& file, findings& out);
/// Files, functions and lines that are too long.
void check_sizes(const source_file& file, findings& out);
/// Notes to self, and words that have no place in the project.
void check_words(const source_file& file, findings& out);
/// Tests do not sleep to synchronise and are never skipped.
void check_tests(const source_file& file, findings& out);
/// g++ 12.2 destroys some temporaries of a co_await expression twice: no braces and no lambdas in one.
void check_co_await(const source_file& file, findings& out);

} // namespace ledgergate::tidy
