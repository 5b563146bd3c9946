// The mention test for many names: which of some hundreds of names occur in a text as whole words? One pass,
// ASCII case folded, no allocation. Where mention_scan compares every position with a handful of patterns,
// this looks only at the beginnings of words, and its cost hardly depends on how many names there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/sql/mention_scan.hpp"

namespace ledgergate::sql {

class word_scanner {
 public:
  struct name {
    std::string text; ///< may_take() holds for it; compared without regard to ASCII case
    mention_mask bit = 1;
  };

  word_scanner() = default;
  explicit word_scanner(std::vector<name> names);

  /// Names that can be looked for here: their first four bytes belong to one word. What follows may be
  /// anything, as in a quoted name.
  static bool may_take(std::string_view name);

  /// The bits of all names that occur in `text` and are not part of a longer word (letters, digits, `_` and
  /// bytes above 0x7F). A name that fills the server's 63 bytes is found at the beginning of a longer word
  /// too, since the server cuts that one off.
  mention_mask find(std::string_view text) const;

 private:
  static constexpr std::size_t prefix_bytes = 4;
  static constexpr unsigned filter_bits = 12;
  static constexpr std::size_t filter_size = std::size_t{1} << filter_bits;

  static std::uint32_t filter_hash(std::uint32_t first_bytes);
  std::size_t slot_of(std::string_view word) const;
  mention_mask at_word(std::string_view text, std::size_t at) const;

  /// Which first four bytes there are: small enough to stay cached, and the end of it for most words.
  std::array<std::uint64_t, filter_size / 64> filter_{};
  std::vector<name> names_;               ///< sorted by the slot of their first word
  std::vector<std::uint32_t> slot_begin_; ///< where the names of a slot begin, and one more; a power of two
  std::vector<name> cut_names_;           ///< whose first word may be the beginning of a longer one
};

} // namespace ledgergate::sql
