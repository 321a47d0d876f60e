// A bounded walk backwards through the journal.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <systemd/sd-journal.h>

#include "core/types.hpp"

namespace mljobd::systemd {

// For the bus and for terminals: control characters become '?', and other bytes too where they are not UTF-8.
[[nodiscard]] std::string harmless(std::string_view text);

class JournalReader {
 public:
  JournalReader();

  // Matches of one field are alternatives, different fields are all required; any_of() starts a further alternative.
  void match(const std::string& field_and_value);
  void any_of();
  // From the newest entry back to `since`, until `visit` returns true or the bounds are reached. False: never did.
  bool walk_back(core::RealTime since, const std::function<bool()>& visit);

  // Of the present entry; empty where it has no such field. Valid until the next call.
  [[nodiscard]] std::string_view field(const char* name) const;
  // The sender, as journald learnt it from the kernel, is root, this process's user or `owner`.
  [[nodiscard]] bool is_trusted(core::UserId owner) const;

 private:
  struct Closer {
    void operator()(sd_journal* journal) const { sd_journal_close(journal); }
  };
  std::unique_ptr<sd_journal, Closer> journal_;
};

}  // namespace mljobd::systemd
