// A packed multi-pattern search in the manner of "Teddy" (Hyperscan): the patterns are dealt into eight
// buckets; for each position three table look-ups say which buckets could begin there; only those are
// compared byte by byte.
#include "proxy/sql/mention_scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/sql/lexer.hpp"

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

namespace ledgergate::sql {

namespace {

bool is_letter_or_digit(char c) { return is_word_start(c) || is_digit(c); }

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

bool has_word_at(std::string_view text, std::size_t at, std::string_view word) {
  return equals_folded(text.substr(at, word.size()), word) &&
         (at + word.size() == text.size() || !is_letter_or_digit(text[at + word.size()]));
}

bool excluded_by_next_word(std::string_view text, std::size_t behind, const std::vector<std::string>& words) {
  while (behind < text.size() && is_blank(text[behind]))
    ++behind;
  return behind < text.size() && std::any_of(words.begin(), words.end(), [&](const auto& word) {
           return has_word_at(text, behind, word);
         });
}

} // namespace

mention_scanner::mention_scanner(std::vector<mention_pattern> patterns) {
  // Neighbours in the alphabet share a bucket: the fewer different prefixes in a bucket, the fewer false
  // alarms.
  std::vector<mention_pattern> folded;
  for (mention_pattern& pattern : patterns) {
    std::transform(pattern.text.begin(), pattern.text.end(), pattern.text.begin(), fold_ascii);
    if (pattern.text.empty()) continue;
    all_ |= pattern.bit;
    folded.push_back(std::move(pattern));
  }
  std::sort(folded.begin(), folded.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const std::size_t bucket = folded.size() <= bucket_count ? i : i * bucket_count / folded.size();
    add_to_tables(bucket, folded[i]);
    buckets_[bucket].push_back(std::move(folded[i]));
  }
#if defined(__x86_64__)
  use_ssse3_ = __builtin_cpu_supports("ssse3") != 0;
#endif
}

void mention_scanner::add_to_tables(std::size_t bucket, const mention_pattern& pattern) {
  const auto bit = static_cast<std::uint8_t>(1U << bucket);
  const auto add = [&](std::size_t position, std::uint8_t byte) {
    byte_tables_[position][byte] |= bit;
    low_tables_[position][byte & 0x0F] |= bit;
    high_tables_[position][byte >> 4] |= bit;
  };
  for (std::size_t position = 0; position < prefix_bytes; ++position) {
    if (position >= pattern.text.size()) {
      for (unsigned byte = 0; byte < 256; ++byte)
        add(position, static_cast<std::uint8_t>(byte));
      continue;
    }
    const char c = pattern.text[position];
    add(position, static_cast<std::uint8_t>(c));
    if (c >= 'a' && c <= 'z') add(position, static_cast<std::uint8_t>(c - 0x20));
  }
}

bool mention_scanner::matches(std::string_view text, std::size_t at, const mention_pattern& pattern) const {
  const std::size_t size = pattern.text.size();
  if (text.size() - at < size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (fold_ascii(text[at + i]) != pattern.text[i]) return false;
  }
  if (pattern.bounds == mention_bounds::whole_word) {
    if (at > 0 && is_letter_or_digit(text[at - 1])) return false;
    if (at + size < text.size() && is_letter_or_digit(text[at + size])) return false;
  }
  return pattern.unless_before.empty() || !excluded_by_next_word(text, at + size, pattern.unless_before);
}

// Behind the end stands a zero byte, which only patterns shorter than the prefix accept.
std::uint32_t mention_scanner::buckets_at(std::string_view text, std::size_t at) const {
  std::uint32_t buckets = ~std::uint32_t{0};
  for (std::size_t position = 0; position < prefix_bytes; ++position) {
    buckets &= byte_tables_[position][byte_at(text, at + position)];
  }
  return buckets;
}

mention_mask mention_scanner::verify(std::string_view text, std::size_t at, std::uint32_t buckets) const {
  mention_mask found = 0;
  while (buckets != 0) {
    const auto bucket = static_cast<std::size_t>(__builtin_ctz(buckets));
    buckets &= buckets - 1;
    for (const mention_pattern& pattern : buckets_[bucket]) {
      if (matches(text, at, pattern)) found |= pattern.bit;
    }
  }
  return found;
}

mention_mask mention_scanner::scan_bytes(std::string_view text, mention_mask wanted) const {
  mention_mask found = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint32_t buckets = buckets_at(text, at);
    if (buckets == 0) continue;
    found |= verify(text, at, buckets);
    if (found != 0 && (wanted & all_ & ~found) == 0) break;
  }
  return found;
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t step = 16;

/// The tables of one position of the prefix, in registers.
struct half_tables {
  __m128i low;
  __m128i high;
};

using table_bytes = std::array<std::uint8_t, step>;

[[gnu::target("ssse3"), gnu::always_inline]] inline half_tables load_tables(const table_bytes& low,
                                                                            const table_bytes& high) {
  return {_mm_load_si128(reinterpret_cast<const __m128i*>(low.data())),
          _mm_load_si128(reinterpret_cast<const __m128i*>(high.data()))};
}

/// For 16 bytes at once: the buckets that may have the byte at this position.
[[gnu::target("ssse3"), gnu::always_inline]] inline __m128i look_up(const half_tables& tables,
                                                                    const char* bytes) {
  const __m128i low_half = _mm_set1_epi8(0x0F);
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i by_low = _mm_shuffle_epi8(tables.low, _mm_and_si128(text, low_half));
  const __m128i by_high = _mm_shuffle_epi8(tables.high, _mm_and_si128(_mm_srli_epi16(text, 4), low_half));
  return _mm_and_si128(by_low, by_high);
}

} // namespace

__attribute__((target("ssse3"))) mention_mask mention_scanner::scan_ssse3(std::string_view text,
                                                                          mention_mask wanted) const {
  static_assert(prefix_bytes == 4);
  const half_tables first = load_tables(low_tables_[0], high_tables_[0]);
  const half_tables second = load_tables(low_tables_[1], high_tables_[1]);
  const half_tables third = load_tables(low_tables_[2], high_tables_[2]);
  const half_tables fourth = load_tables(low_tables_[3], high_tables_[3]);
  mention_mask found = 0;
  for (std::size_t at = 0; at < text.size(); at += step) {
    // The last block is read from a copy with zero bytes behind it, which only patterns shorter than the
    // prefix accept.
    char last_block[2 * step];
    const char* bytes = text.data() + at;
    if (text.size() - at < step + prefix_bytes - 1) {
      std::memset(last_block, 0, sizeof last_block);
      std::memcpy(last_block, bytes, text.size() - at);
      bytes = last_block;
    }
    const __m128i candidates =
        _mm_and_si128(_mm_and_si128(look_up(first, bytes), look_up(second, bytes + 1)),
                      _mm_and_si128(look_up(third, bytes + 2), look_up(fourth, bytes + 3)));
    const auto empty =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(candidates, _mm_setzero_si128())));
    for (unsigned hits = ~empty & 0xFFFFU; hits != 0; hits &= hits - 1) {
      const std::size_t position = at + static_cast<std::size_t>(__builtin_ctz(hits));
      // The halves of a byte are looked up apart, which lets strangers through; the whole bytes do not.
      const std::uint32_t buckets = position < text.size() ? buckets_at(text, position) : 0;
      if (buckets != 0) found |= verify(text, position, buckets);
    }
    if (found != 0 && (wanted & all_ & ~found) == 0) break;
  }
  return found;
}
#endif

mention_mask mention_scanner::scan(std::string_view text, mention_mask wanted) const {
#if defined(__x86_64__)
  if (use_ssse3_) return scan_ssse3(text, wanted);
#endif
  return scan_bytes(text, wanted);
}

} // namespace ledgergate::sql
