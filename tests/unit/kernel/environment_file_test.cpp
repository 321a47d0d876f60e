#include "kernel/environment_file.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "unit/kernel/kernel_support.hpp"

namespace mljobd::kernel {
namespace {

using Variables = std::vector<std::string>;

// How PID 1 reads such a file (systemd 252, src/basic/env-file.c), as its documented rules say: one assignment a line;
// in double quotes a backslash takes the meaning from " \ ` $, joins lines before a newline, and stays otherwise.
class SystemdReader {
 public:
  static Variables read(const std::string& text) {
    SystemdReader reader(text);
    Variables variables;
    while (reader.skip_to_key()) variables.push_back(reader.assignment());
    return variables;
  }

 private:
  explicit SystemdReader(const std::string& text) : text_(text) {}

  static bool is_in(char letter, const char* set) { return std::string_view(set).find(letter) != std::string::npos; }
  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  [[nodiscard]] char next() { return text_[position_++]; }

  bool skip_to_key() {
    while (!at_end()) {
      const char letter = text_[position_];
      if (is_in(letter, "#;")) {
        while (!at_end() && !is_in(text_[position_], "\n\r")) ++position_;
      } else if (is_in(letter, " \t\n\r")) {
        ++position_;
      } else {
        return true;
      }
    }
    return false;
  }

  std::string assignment() {
    std::string entry;
    while (!at_end() && text_[position_] != '=') entry += next();
    entry += next();
    // After the closing quote another part may follow, until the line ends.
    while (!at_end()) {
      const char letter = next();
      if (is_in(letter, "\n\r")) break;
      if (letter == '"') {
        double_quoted(entry);
      } else if (!is_in(letter, " \t")) {
        FAIL("the value of " << entry << " has a part outside of quotes, from '" << letter << "' on");
      }
    }
    return entry;
  }

  void double_quoted(std::string& entry) {
    while (!at_end()) {
      const char letter = next();
      if (letter == '"') return;
      if (letter != '\\') {
        entry += letter;
      } else if (!at_end()) {
        const char escaped = next();
        if (is_in(escaped, "\"\\`$")) {
          entry += escaped;
        } else if (escaped != '\n') {
          entry += '\\';
          entry += escaped;
        }
      }
    }
    FAIL("a quote is not closed");
  }

  const std::string& text_;
  std::size_t position_ = 0;
};

TEST_CASE("every value comes back as it was, however nasty") {
  const Variables environment{
      "PLAIN=value",
      "EMPTY=",
      "EQUALS=a=b=c",
      "QUOTES=say \"hi\" 'there'",
      "DOLLAR=$HOME ${HOME} $$ $(id)",
      "BACKTICK=`id`",
      "BACKSLASHES=\\ \\\\ \\n \\$ \\\" \\x",
      "TRAILING=ends with a backslash\\",
      "NEWLINES=one\ntwo\n\nfour\n",
      "CONTINUED=one\\\ntwo",
      "COMMENT=#not a comment;neither",
      "LINES=\n#inside\n;inside\nFAKE=1\n",
      "SPACES=  kept on both sides \t ",
      "CARRIAGE_RETURN=50%\r100%\r\n",
      "ESCAPE=\x1b[1;31mred\x1b[0m",
      "UTF8=größer 日本語 🚀",
      "_under_Score9=x",
      "PERCENT=%i %% %h",
  };
  CHECK(SystemdReader::read(value_of(format_environment(environment))) == environment);
}

TEST_CASE("every pair of special characters comes back") {
  const std::string special = "\"\\$`'\n\r\t #;=x ";
  for (const char first : special) {
    for (const char second : special) {
      const Variables environment{std::string("A=") + first + second, "B=next"};
      CHECK(SystemdReader::read(value_of(format_environment(environment))) == environment);
    }
  }
}

TEST_CASE("what systemd would drop or choke on is refused before the job starts without it") {
  const auto code_of = [](const std::string& entry) { return format_environment({"A=1", entry}).error().code; };
  const auto refused = core::ErrorCode::invalid_spec;
  CHECK(code_of("") == refused);
  CHECK(code_of("NOVALUE") == refused);
  CHECK(code_of("=value") == refused);
  CHECK(code_of("9KEY=value") == refused);
  CHECK(code_of("A KEY=value") == refused);
  CHECK(code_of("KEY\n=value") == refused);
  CHECK(code_of("BASH_FUNC_x%%=() { :; }") == refused);
  CHECK(code_of(std::string("KEY=a\0b", 7)) == refused);
  CHECK(code_of("KEY=\xff") == refused);
  CHECK(code_of("KEY=\xed\xa0\x80") == refused);      // a surrogate
  CHECK(code_of("KEY=\xef\xbf\xbe") == refused);      // U+FFFE
  CHECK(code_of("KEY=\xef\xb7\x90") == refused);      // U+FDD0
  CHECK(code_of("KEY=\xf0\x9f\xbf\xbf") == refused);  // U+1FFFF
  CHECK(format_environment({"KEY=\xff"}).error().message ==
        "the value of the environment variable KEY is not UTF-8 text");
}

TEST_CASE("what only looks like a noncharacter passes") {
  const Variables environment{"A=\xef\xbf\xbd \xef\xb7\x8f \xef\xb7\xb0 \xf0\x9f\x9a\xbf \xf0\x90\xbf\xbf"};
  CHECK(SystemdReader::read(value_of(format_environment(environment))) == environment);
}

TEST_CASE("the file is root's alone, replaced as a whole and removed") {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  const auto path = value_of(write_environment_file(run, 42, 1, {"SECRET=one", "MORE=text"}));
  CHECK(path == run + "/42-1.env");
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(run) == 0700);
  CHECK(read_text(path) == "SECRET=\"one\"\nMORE=\"text\"\n");

  CHECK(write_environment_file(run, 42, 1, {"SECRET=two"}));
  CHECK(read_text(path) == "SECRET=\"two\"\n");
  CHECK(value_of(write_environment_file(run, 42, 2, {})) == run + "/42-2.env");
  CHECK(read_text(run + "/42-2.env").empty());

  remove_environment_file(run, 42, 1);
  remove_environment_file(run, 42, 1);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::distance(std::filesystem::directory_iterator(run), {}) == 1);
}

TEST_CASE("links in the place of the file are replaced, not followed") {
  const TemporaryDirectory directory;
  write_text(directory / "victim", "untouched");
  std::filesystem::create_symlink(directory / "victim", directory / "42-1.env");
  std::filesystem::create_symlink(directory / "victim", directory / "42-1.env.new");
  const auto path = value_of(write_environment_file(directory.path(), 42, 1, {"A=1"}));
  CHECK(read_text(directory / "victim") == "untouched");
  CHECK_FALSE(std::filesystem::is_symlink(path));
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path + ".new")));
}

TEST_CASE("a refused environment and an impossible place leave no file behind") {
  const TemporaryDirectory directory;
  CHECK(write_environment_file(directory.path(), 42, 1, {"bad"}).error().code == core::ErrorCode::invalid_spec);
  std::filesystem::create_directory(directory / "43-1.env");
  CHECK(write_environment_file(directory.path(), 43, 1, {"A=1"}).error().code == core::ErrorCode::storage);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
  CHECK(write_environment_file("/proc/nowhere", 42, 1, {}).error().code == core::ErrorCode::storage);
}

}  // namespace
}  // namespace mljobd::kernel
