#include "proxy/admin/admin_listener.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/admin/running_server.hpp"

namespace ledgergate::admin {
namespace {

config::endpoint unix_address(const std::string& path) { return {{}, 0, path}; }

raw_client client_of(const std::string& path) {
  return raw_client(asio::local::stream_protocol::endpoint(path));
}

/// The reason why the address cannot be listened to, empty when it can.
std::string refusal_of(const config::endpoint& address) {
  asio::io_context io;
  http_server server(io.get_executor(), [](const http_request&, const std::string&, const respond&) {});
  const auto problems = server.listen(address);
  return problems.empty() ? std::string() : problems[0];
}

TEST(UnixAdminSocket, IsForItsOwnerOnly) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  const mode_t before = ::umask(0);
  running_server server({}, unix_address(path));
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  EXPECT_EQ(client_of(path).exchange(get_request("/livez")).result_int(), 200u);
}

TEST(UnixAdminSocket, NamesThePeerByItsProcess) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  running_server server({}, unix_address(path));
  server.on_admin_thread([&] {
    server.backend.start_result = {start_answer::kind::unknown_mode, {}, {}, "no such mode", {}};
  });
  EXPECT_EQ(client_of(path).exchange(post_request(R"({"to":"x"})")).result_int(), 400u);
  std::string peer;
  server.on_admin_thread([&] { peer = server.backend.started_by.at(0).requested_by; });
  EXPECT_EQ(peer, "unix pid " + std::to_string(::getpid()) + " uid " + std::to_string(::getuid()));
}

TEST(UnixAdminSocket, ReplacesWhatADeadProcessLeft) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  {
    asio::io_context io;
    asio::local::stream_protocol::acceptor dead(io, asio::local::stream_protocol::endpoint(path));
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  running_server server({}, unix_address(path));
  EXPECT_EQ(client_of(path).exchange(get_request("/livez")).result_int(), 200u);
}

TEST(UnixAdminSocket, LeavesALiveSocketAlone) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  running_server server({}, unix_address(path));
  EXPECT_NE(refusal_of(unix_address(path)).find("another process listens"), std::string::npos);
  EXPECT_EQ(client_of(path).exchange(get_request("/livez")).result_int(), 200u);
}

TEST(UnixAdminSocket, LeavesAFileThatIsNoSocketAlone) {
  const temporary_folder folder;
  const std::string path = folder.write("precious", "data");
  EXPECT_NE(refusal_of(unix_address(path)).find("is not a socket"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST(UnixAdminSocket, SaysWhyThePathCannotBeUsed) {
  const temporary_folder folder;
  EXPECT_NE(refusal_of(unix_address(folder.file("none/admin.sock"))).find("No such file"), std::string::npos);
  EXPECT_NE(refusal_of(unix_address("/" + std::string(107, 'x'))).find("too long"), std::string::npos);
}

TEST(UnixAdminSocket, IsRemovedWhenTheServerStops) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  running_server server({}, unix_address(path));
  server.stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(UnixAdminSocket, IsNotRemovedWhenAnotherProcessHasPutItsOwnThere) {
  const temporary_folder folder;
  const std::string path = folder.file("admin.sock");
  running_server server({}, unix_address(path));
  folder.write("admin.sock", "somebody else's");
  server.stop();
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

} // namespace
} // namespace ledgergate::admin
