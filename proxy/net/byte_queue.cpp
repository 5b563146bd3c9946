#include "proxy/net/byte_queue.hpp"

namespace ledgergate::net {

void byte_queue::append(std::string_view more) {
  // Cutting off the consumed front only when it is the larger part keeps the cost of both calls linear.
  if (head_ > bytes_.size() / 2) {
    bytes_.erase(0, head_);
    head_ = 0;
  }
  bytes_.append(more);
}

void byte_queue::consume(std::size_t count) {
  head_ += count;
  if (head_ == bytes_.size()) clear();
}

void byte_queue::clear() {
  std::string().swap(bytes_);
  head_ = 0;
}

} // namespace ledgergate::net
