#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "daemon.hpp"
#include "version.hpp"

int main(int argc, char** argv) {
  CLI::App application("mljobd: runs machine-learning jobs in systemd slices so that the night completes", "mljobd");
  bool user = false;
  application.add_flag("--user", user, "Serve this user only, through `systemd --user` and the session bus");
  application.set_version_flag("--version", mljobd::version);
  application.footer(
      "Started by systemd (mljobd.service). Talk to it with jobctl(1). Manual: mljobd(8), mljobd.conf(5).");
  try {
    application.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return application.exit(error) == 0 ? 0 : 2;
  }
  try {
    return mljobd::Daemon(user ? mljobd::systemd::ManagerScope::user : mljobd::systemd::ManagerScope::system).run();
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "mljobd: %s\n", exception.what());
    return 1;
  }
}
