// What the simulated clients say: random SQL of every shape that the gate treats in its own way.
//
// Without `everything` they leave the gate key itself alone, and PREPARE TRANSACTION and isolation levels
// come in texts of their own: what is known to be answered otherwise than by a server, in shapes that nobody
// has been seen to use.
#pragma once

#include <string>

#include "tests/simulation/random_source.hpp"

namespace ledgergate::simulation {

class client_texts {
 public:
  client_texts(random_source& chance, int client, bool everything)
      : chance_(chance), client_(client), everything_(everything) {}

  /// One statement that runs in any state, touching or not.
  std::string data();
  /// BEGIN and whatever ends or divides a transaction.
  std::string control(char letter);
  /// On the session: prepared statements by SQL, cursors, settings, the client's own locks.
  std::string session();
  /// One statement of any kind.
  std::string any(char letter);
  /// Up to three statements in one text.
  std::string several(char letter);

 private:
  /// One statement of a longer text.
  std::string part(char letter);
  /// Defines a view of the client's own, or reads one.
  std::string view();
  template <std::size_t Count>
  const char* one_of(const char* const (&texts)[Count]) {
    return texts[chance_.below(Count)];
  }

  random_source& chance_;
  int client_;
  bool everything_;
  unsigned prepared_ = 0;
};

} // namespace ledgergate::simulation
