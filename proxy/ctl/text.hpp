// Words for values: durations, texts of the server made safe for a terminal, tables; and careful look-ups in
// an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "proxy/ctl/console.hpp"

namespace ledgergate::ctl {

/// `12 ms`, `1.2 s`, `2 m 05 s`, `3 h 07 m`, `2 d 04 h`.
std::string duration_text(std::int64_t milliseconds);

/// The text on one line, with every control character made a space: what a client of the database wrote into
/// its application name or statement must not be able to command the operator's terminal.
std::string harmless(std::string_view text);

/// At most `columns` characters, the last of them "~" if something was cut.
std::string shortened(std::string text, std::size_t columns);

/// JSON pointer look-ups (RFC 6901); empty when it is absent, null or of another type.
std::optional<std::string> text_at(const boost::json::value& value, std::string_view pointer);
std::optional<std::int64_t> number_at(const boost::json::value& value, std::string_view pointer);
bool is_true_at(const boost::json::value& value, std::string_view pointer);
const boost::json::array* array_at(const boost::json::value& value, std::string_view pointer);
const boost::json::value* object_at(const boost::json::value& value, std::string_view pointer);

/// The number, or the duration of so many milliseconds, as the cell of a table; `-` when there is none.
std::string number_cell(const boost::json::value& value, std::string_view pointer);
std::string duration_cell(const boost::json::value& value, std::string_view pointer);

/// `1 holder`, `2 holders`.
std::string counted(std::int64_t count, std::string_view singular, std::string_view plural);

/// A label in the left column and text beside it.
line labelled(std::string_view label, std::vector<span> content);

/// The same for a sentence, broken between words so that it fits beside its label on 78 columns.
page labelled_sentence(std::string_view label, std::string_view sentence);

/// Rows in columns as wide as their widest cell, two spaces between; the first row is the heading.
page table(const std::vector<std::vector<std::string>>& rows, std::string_view indent);

} // namespace ledgergate::ctl
