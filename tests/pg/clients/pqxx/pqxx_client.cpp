// libpqxx. Modes: simple, params (extended), prepared (named statements). Prints everything it is told.
#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <pqxx/stream_from>
#include <string>
#include <vector>

namespace {

using value = std::optional<std::string>;

struct step {
  std::string operation;
  std::string sql;
  std::vector<value> parameters;
};

std::vector<std::string> split_words(const std::string& line) {
  static const std::string separator = " | ";
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t end; (end = line.find(separator, begin)) != std::string::npos;
       begin = end + separator.size())
    words.push_back(line.substr(begin, end - begin));
  words.push_back(line.substr(begin));
  return words;
}

std::vector<step> read_steps(const char* path) {
  std::vector<step> steps;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto words = split_words(line);
    step next{words[0], words.size() > 1 ? words[1] : "", {}};
    for (std::size_t i = 2; i < words.size(); ++i)
      next.parameters.push_back(words[i].front() == 'n' ? value() : value(words[i].substr(2)));
    steps.push_back(std::move(next));
  }
  return steps;
}

// Says what the server says between results.
class notice_printer : public pqxx::errorhandler {
 public:
  explicit notice_printer(pqxx::connection_base& connection) : pqxx::errorhandler(connection) {}
  bool operator()(const char words[]) noexcept override {
    std::cout << "  notice " << words;
    return true;
  }
};

class client {
 public:
  explicit client(std::string mode) : connection_(""), printer_(connection_), mode_(std::move(mode)) {
    autocommit();
  }

  void run(const step& next) {
    std::cout << "> " << next.operation << ' ' << next.sql << '\n';
    try {
      if (next.operation == "query")
        show(execute(next));
      else
        change_transaction(next.operation);
    } catch (const pqxx::sql_error& error) {
      std::cout << "  error " << error.sqlstate() << ' ' << error.what() << '\n';
    } catch (const pqxx::failure& error) {
      std::cout << "  failure " << error.what() << '\n';
    } catch (const pqxx::usage_error&) {
      // libpqxx itself lets nothing more into a transaction in which exec() has failed.
      std::cout << "  refused by the library\n";
    }
  }

  // Savepoints as libpqxx makes them: the touch is inside, the inner one fails, the outer one goes on.
  void run_subtransactions() {
    std::cout << "> subtransactions\n";
    change_transaction("begin");
    {
      auto& outer = dynamic_cast<pqxx::dbtransaction&>(*transaction_);
      try {
        pqxx::subtransaction inner(outer, "inner");
        show(inner.exec("INSERT INTO kudos_ledger (user_id, amount) VALUES (9, 1) RETURNING event_id"));
        inner.exec("INSERT INTO kudos_ledger (user_id, amount) VALUES (9999, 1)");
      } catch (const pqxx::sql_error& error) {
        std::cout << "  error " << error.sqlstate() << '\n';
      }
      show(outer.exec("INSERT INTO kudos_ledger (user_id, amount) VALUES (9, 2) RETURNING event_id"));
    }
    change_transaction("commit");
  }

  // Several queries in flight at once, the way libpqxx itself joins them.
  void run_pipeline() {
    std::cout << "> pipeline\n";
    change_transaction("begin");
    {
      pqxx::pipeline pipeline(*transaction_);
      pipeline.retain(10);
      std::vector<pqxx::pipeline::query_id> ids;
      ids.push_back(pipeline.insert("SELECT payload FROM jobs WHERE id = 1"));
      ids.push_back(
          pipeline.insert("INSERT INTO kudos_ledger (user_id, amount) VALUES (8, 1) RETURNING event_id"));
      ids.push_back(pipeline.insert("SELECT count(*) FROM kudos_ledger"));
      for (const auto id : ids)
        show(pipeline.retrieve(id));
    }
    change_transaction("commit");
  }

  // COPY out of a gated table through libpqxx's stream.
  void run_stream() {
    std::cout << "> stream\n";
    change_transaction("begin");
    {
      pqxx::stream_from reader(*transaction_, "kudos_stat_events");
      for (std::string line; reader.get_raw_line(line);)
        std::cout << "  line " << line << '\n';
    }
    change_transaction("commit");
  }

 private:
  void autocommit() { transaction_ = std::make_unique<pqxx::nontransaction>(connection_); }

  void change_transaction(const std::string& operation) {
    if (operation == "begin") {
      transaction_.reset();
      transaction_ = std::make_unique<pqxx::work>(connection_);
      return;
    }
    try {
      operation == "commit" ? transaction_->commit() : transaction_->abort();
    } catch (...) {
      transaction_.reset();
      autocommit();
      throw;
    }
    transaction_.reset();
    autocommit();
  }

  pqxx::result execute(const step& next) {
    if (mode_ == "simple") return transaction_->exec(with_literals(next));
    std::vector<const char*> values;
    for (const auto& parameter : next.parameters)
      values.push_back(parameter ? parameter->c_str() : nullptr);
    const auto arguments = pqxx::prepare::make_dynamic_params(values);
    if (mode_ == "params") return transaction_->exec_params(next.sql, arguments);
    auto [found, is_new] = names_.try_emplace(next.sql, "s" + std::to_string(names_.size()));
    if (is_new) connection_.prepare(found->second, next.sql);
    return transaction_->exec_prepared(found->second, arguments);
  }

  std::string with_literals(const step& next) {
    std::string text;
    for (std::size_t i = 0; i < next.sql.size(); ++i) {
      if (next.sql[i] != '$') {
        text += next.sql[i];
        continue;
      }
      const auto& parameter = next.parameters.at(static_cast<std::size_t>(next.sql[++i] - '1'));
      text += parameter ? connection_.quote(*parameter) : "NULL";
    }
    return text;
  }

  static void show(const pqxx::result& rows) {
    std::cout << "  done " << rows.affected_rows() << '\n';
    for (const auto& row : rows) {
      std::cout << "  row";
      for (const auto& field : row)
        std::cout << ' ' << field.name() << '=' << (field.is_null() ? "null" : field.c_str());
      std::cout << '\n';
    }
  }

  pqxx::connection connection_;
  notice_printer printer_;
  std::string mode_;
  std::unique_ptr<pqxx::transaction_base> transaction_;
  std::map<std::string, std::string> names_;
};

} // namespace

int main(int, char** arguments) {
  std::cout << std::unitbuf;
  client all(arguments[2]);
  for (const auto& next : read_steps(arguments[1]))
    all.run(next);
  all.run_subtransactions();
  all.run_pipeline();
  all.run_stream();
}
