#include "users.hpp"

#include <vector>

#include <pwd.h>

namespace mljobd {

core::Expected<std::string> user_name(core::UserId uid) {
  constexpr std::size_t entry_limit = 64 * 1024;  // far above any real entry
  std::vector<char> buffer(entry_limit);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return core::failure(core::ErrorCode::not_authorized,
                         "there is no user with uid " + std::to_string(uid) + " on this machine to run the job as");
  }
  return std::string(found->pw_name);
}

std::string user_label(core::UserId uid) { return user_name(uid).value_or("uid " + std::to_string(uid)); }

}  // namespace mljobd
