// The mention test: does a text contain any of a fixed set of names or words? One pass, ASCII case folded, no
// allocation. Every statement of every gated session pays for it, so it must stay far below a microsecond for
// 300 bytes (G4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ledgergate::sql {

/// A set of bits, one per kind of thing that is looked for; the caller says which bit means what.
using mention_mask = std::uint32_t;

enum class mention_bounds : std::uint8_t {
  anywhere,   ///< also inside a longer word: quoted, qualified and embedded forms
  whole_word, ///< not next to a letter, digit, underscore or byte above 0x7F
};

struct mention_pattern {
  std::string text; ///< not empty; compared without regard to ASCII case
  mention_bounds bounds = mention_bounds::anywhere;
  mention_mask bit = 1;
  std::vector<std::string>
      unless_before{}; ///< lower-case words: no hit when one of them follows, behind white space
};

class mention_scanner {
 public:
  explicit mention_scanner(std::vector<mention_pattern> patterns);

  /// The bits of all patterns that occur in `text`.
  mention_mask find(std::string_view text) const { return scan(text, ~mention_mask{0}); }
  /// Whether any occurs: stops at the first.
  bool any(std::string_view text) const { return scan(text, 0) != 0; }

 private:
  static constexpr std::size_t bucket_count = 8;
  static constexpr std::size_t prefix_bytes = 4;

  mention_mask scan(std::string_view text, mention_mask wanted) const;
  mention_mask scan_bytes(std::string_view text, mention_mask wanted) const;
  std::uint32_t buckets_at(std::string_view text, std::size_t at) const;
  mention_mask verify(std::string_view text, std::size_t at, std::uint32_t buckets) const;
  bool matches(std::string_view text, std::size_t at, const mention_pattern& pattern) const;
  void add_to_tables(std::size_t bucket, const mention_pattern& pattern);
#if defined(__x86_64__)
  mention_mask scan_ssse3(std::string_view text, mention_mask wanted) const;
#endif

  bool use_ssse3_ = false;
  mention_mask all_ = 0;
  std::array<std::vector<mention_pattern>, bucket_count> buckets_;
  /// Bit b of byte_tables_[i][c]: some pattern of bucket b may have the byte c at position i.
  std::array<std::array<std::uint8_t, 256>, prefix_bytes> byte_tables_{};
  /// The same by low and by high half of the byte: what a vector shuffle can look up for 16 bytes at once.
  alignas(16) std::array<std::array<std::uint8_t, 16>, prefix_bytes> low_tables_{};
  alignas(16) std::array<std::array<std::uint8_t, 16>, prefix_bytes> high_tables_{};
};

} // namespace ledgergate::sql
