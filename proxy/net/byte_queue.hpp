// Bytes that wait for a socket or for the rest of their message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ledgergate::net {

/// First in, first out. Contiguous. Gives its memory back whenever it runs empty, so that an idle session
/// owns none.
class byte_queue {
 public:
  bool empty() const { return head_ == bytes_.size(); }
  std::size_t size() const { return bytes_.size() - head_; }
  /// Valid until the next call that is not const.
  std::string_view view() const { return std::string_view(bytes_).substr(head_); }

  void append(std::string_view more);
  /// `count` is at most size().
  void consume(std::size_t count);
  void clear();

 private:
  std::string bytes_;
  std::size_t head_ = 0; ///< consumed bytes at the front, not yet cut off
};

} // namespace ledgergate::net
