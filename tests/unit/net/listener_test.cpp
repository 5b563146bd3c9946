#include "proxy/net/listener.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <filesystem>

#include "tests/unit/net/sockets.hpp"

namespace ledgergate::net {
namespace {

struct UnixListening : testing::Test {
  UnixListening() {
    char pattern[] = "/tmp/lg-net-test-XXXXXX";
    folder = ::mkdtemp(pattern);
    where = {"", 5432, folder};
    file = unix_socket_path(folder, 5432);
  }
  ~UnixListening() override { std::filesystem::remove_all(folder); }

  std::string folder;
  std::string file;
  place where;
};

TEST_F(UnixListening, RemovesItsSocketFileWhenItGoes) {
  {
    const listening_result opened = open_listening_sockets(where);
    ASSERT_TRUE(opened.errors.empty()) << opened.errors.front();
    EXPECT_TRUE(std::filesystem::is_socket(file));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(UnixListening, RefusesAPlaceWhereAnotherServerListensAndLeavesItAlone) {
  const listening_result first = open_listening_sockets(where);
  ASSERT_EQ(first.sockets.size(), 1U);
  const listening_result second = open_listening_sockets(where);
  EXPECT_TRUE(second.sockets.empty());
  ASSERT_EQ(second.errors.size(), 1U);
  EXPECT_NE(second.errors[0].find("another server is listening"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_socket(file));
}

TEST_F(UnixListening, ReplacesTheFileOfADeadServer) {
  {
    const unique_fd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    const auto address = socket_address::from_unix_path(file);
    ASSERT_EQ(::bind(dead.get(), address->data(), address->size()), 0);
  }
  ASSERT_TRUE(std::filesystem::is_socket(file));
  const listening_result opened = open_listening_sockets(where);
  EXPECT_EQ(opened.sockets.size(), 1U);
}

TEST_F(UnixListening, LeavesAFileThatIsNoSocketAlone) {
  ASSERT_TRUE(std::filesystem::create_directory(file));
  const listening_result opened = open_listening_sockets(where);
  EXPECT_EQ(opened.errors.size(), 1U);
  EXPECT_TRUE(std::filesystem::is_directory(file));
}

TEST(TcpListening, SaysWhichPortIsTaken) {
  const listening_result first = open_listening_sockets({"127.0.0.1", 0, ""});
  ASSERT_EQ(first.sockets.size(), 1U);
  const std::string text = first.sockets[0].address().to_text();
  const auto port = static_cast<std::uint16_t>(std::stoi(text.substr(text.find(':') + 1)));
  const listening_result second = open_listening_sockets({"127.0.0.1", port, ""});
  ASSERT_EQ(second.errors.size(), 1U);
  EXPECT_EQ(second.errors[0], "cannot listen on " + text + ": Address already in use");
}

TEST(TcpListening, ReportsAnAddressThatIsNotOfThisHost) {
  EXPECT_EQ(open_listening_sockets({"192.0.2.1", 0, ""}).errors.size(), 1U);
}

TEST(Listener, HandsOnEveryClientNonBlockingAndClosedOnExec) {
  listening_result opened = open_listening_sockets({"127.0.0.1", 0, ""});
  ASSERT_EQ(opened.sockets.size(), 1U);
  const socket_address address = opened.sockets[0].address();
  boost::asio::io_context context;
  std::vector<unique_fd> accepted;
  listener listening(
      context, std::move(opened.sockets[0]),
      [&](unique_fd client) {
        accepted.push_back(std::move(client));
        if (accepted.size() == 100) context.stop();
      },
      [](const unique_fd&) { ADD_FAILURE() << "turned away"; });
  listening.start();
  std::vector<unique_fd> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(clients.back().get(), address.data(), address.size()), 0);
  }
  context.run();
  ASSERT_EQ(accepted.size(), 100U);
  for (const unique_fd& each : accepted) {
    EXPECT_NE(::fcntl(each.get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(each.get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(Listener, AcceptsNobodyAfterStop) {
  listening_result opened = open_listening_sockets({"127.0.0.1", 0, ""});
  const socket_address address = opened.sockets[0].address();
  boost::asio::io_context context;
  listener listening(
      context, std::move(opened.sockets[0]), [](const unique_fd&) { ADD_FAILURE() << "accepted"; },
      [](const unique_fd&) {});
  listening.start();
  listening.stop();
  context.run();
  const unique_fd client(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(::connect(client.get(), address.data(), address.size()), -1);
}

} // namespace
} // namespace ledgergate::net
