// Asio, compiled once for the whole program: every other file includes its declarations only.
#include <boost/asio/impl/src.hpp>
