#include <catch2/catch.hpp>

#include "client/script/directives.hpp"
#include "client/script/slurm_option_table.hpp"
#include "client/script/slurm_options.hpp"
#include "client/script/slurm_values.hpp"

using namespace mljobd::client;
using namespace mljobd;
using Words = std::vector<std::string>;

namespace {

Words words_of(const std::string& line) {
  const auto directives = read_directives(line);
  REQUIRE(directives);
  return directives->empty() ? Words{} : directives->front().words;
}

// "name=value …"
std::string uses_of(const Words& words) {
  const auto parsed = parse_slurm_words(words, 1);
  if (!parsed) return parsed.error().reason;
  std::string text;
  for (const auto& use : parsed->uses) text += std::string(use.option->name) + "=" + use.value + " ";
  for (const auto& word : parsed->rest) text += "[" + word + "]";
  return text;
}

}  // namespace

TEST_CASE("a directive is cut into words as sbatch cuts it") {
  const auto [line, expected] = GENERATE(table<std::string, Words>({
      {"#SBATCH --mem=4G", {"--mem=4G"}},
      {"#SBATCH\t-c  4   -J\tx", {"-c", "4", "-J", "x"}},
      {"#SBATCH --mem=4G # because", {"--mem=4G"}},
      {"#SBATCH --comment=a#b", {"--comment=a#b"}},
      {"#SBATCH #--mem=4G", {}},
      {"#SBATCH -J \"a b\" 'c d'", {"-J", "a b", "c d"}},
      {"#SBATCH --comment='say \"x\"'", {"--comment=say \"x\""}},
      {"#SBATCH --comment=\"it's\"", {"--comment=it's"}},
      {"#SBATCH a\\ b \"c\\\"d\" 'e\\'f'", {"a b", "c\"d", "e'f"}},
      {"#SBATCH trailing\\", {"trailing\\"}},
      {"#SBATCH -J ''", {"-J", ""}},
      {"#SBATCH -J x\r", {"-J", "x"}},
      {"\xEF\xBB\xBF#SBATCH -J x", {"-J", "x"}},
      {"#SBATCH", {}},
      {"#SBATCH   ", {}},
      {"##SBATCH -J x", {}},
      {"#sbatch -J x", {}},
      {" #SBATCH -J x", {}},
      {"# SBATCH -J x", {}},
      {"#SBATCHES -J x", {}},
      {"#PBS -N x", {}},
      {"#JOBS --mem 4G", {}},
  }));
  INFO(line);
  CHECK(words_of(line) == expected);
}

TEST_CASE("directives end at the first command") {
  const auto directives = read_directives(
      "#!/bin/bash\n"
      "#JOB --mem 4G\r\n"
      "\n"
      "   \t\n"
      "   # comment\n"
      "#SBATCH -c4\n"
      ": first command\n"
      "#SBATCH -c8\n");
  REQUIRE(directives);
  CHECK(*directives ==
        std::vector<Directive>{{DirectiveKind::job, 2, {"--mem", "4G"}}, {DirectiveKind::slurm, 6, {"-c4"}}});
}

TEST_CASE("a script cannot make jobctl hold more than it should") {
  std::string many;
  for (int i = 0; i < 4097; ++i) many += "#SBATCH -H\n";
  CHECK(read_directives(many).error() == Complaint{4097, "the script has more than 4096 directives"});
  CHECK(read_directives("#SBATCH " + std::string(70000, 'x')).error() ==
        Complaint{1, "the line is longer than 64 KiB"});
}

TEST_CASE("options are spelled as for getopt") {
  const auto [words, expected] = GENERATE(table<Words, std::string>({
      {{"--mem=4G"}, "mem=4G "},
      {{"--mem", "4G"}, "mem=4G "},
      {{"--mem="}, "mem= "},
      {{"-J", "x"}, "job-name=x "},
      {{"-Jx"}, "job-name=x "},
      {{"-J=x"}, "job-name==x "},
      {{"-c4", "-n2"}, "cpus-per-task=4 ntasks=2 "},
      {{"-Hc4"}, "hold= cpus-per-task=4 "},
      {{"-t", "-5"}, "time=-5 "},
      {{"--nice"}, "nice= "},
      {{"--nice=5"}, "nice=5 "},
      {{"--nice", "5"}, "nice= [5]"},
      {{"-s", "-I"}, "oversubscribe= immediate= "},
      {{"--job", "x"}, "job-name=x "},
      {{"--time", "1"}, "time=1 "},
      {{"--", "-J"}, "[-J]"},
      {{"-H", "run.sh", "-c", "4"}, "hold= [run.sh][-c][4]"},
      {{"-"}, "[-]"},
      {{"--ntasks-per"},
       "'--ntasks-per' could be any of --ntasks-per-node, --ntasks-per-gpu, --ntasks-per-core, "
       "--ntasks-per-socket"},
      {{"-Z"}, "there is no option '-Z'"},
      {{"--=4"}, "there is no option '--'"},
      {{"--memory=4G"}, "there is no option '--memory'"},
      {{"--mem"}, "--mem needs a value"},
      {{"-Hc"}, "-c needs a value"},
      {{"--requeue=no"}, "--requeue takes no value, but is given 'no'"},
  }));
  CHECK(uses_of(words) == expected);
}

TEST_CASE("every option of the table can be said, and is explained where it is not followed") {
  std::string letters;
  for (const auto& option : slurm_option_table()) {
    INFO(option.name);
    CHECK(uses_of({"--" + std::string(option.name) + (option.value == SlurmValue::required ? "=1" : "")}) ==
          std::string(option.name) + (option.value == SlurmValue::required ? "=1 " : "= "));
    const bool followed =
        option.treatment == SlurmTreatment::honoured || option.treatment == SlurmTreatment::unimportant;
    CHECK(option.reason.empty() == followed);
    CHECK((option.letter == '\0' || letters.find(option.letter) == std::string::npos));
    letters += option.letter;
  }
}

TEST_CASE("memory in Slurm's units") {
  constexpr core::Bytes mebibyte = core::Bytes{1} << 20;
  CHECK(parse_slurm_memory("4000") == 4000 * mebibyte);
  CHECK(parse_slurm_memory("4000M") == 4000 * mebibyte);
  CHECK(parse_slurm_memory("16G") == 16384 * mebibyte);
  CHECK(parse_slurm_memory("16gb") == 16384 * mebibyte);
  CHECK(parse_slurm_memory("2048K") == 2 * mebibyte);
  CHECK(parse_slurm_memory("1T") == mebibyte * 1024 * 1024);
  CHECK(parse_slurm_memory("0") == core::Bytes{0});
  const std::string wrong = GENERATE("", "G", "4X", "-4", "4 G", "50%", "1.5G", "512B", "B", "unlimited",
                                     "99999999999999999999", "20000000000000");
  INFO(wrong);
  CHECK_FALSE(parse_slurm_memory(wrong));
}

TEST_CASE("time limits in Slurm's reading") {
  using namespace std::chrono_literals;
  const auto [text, expected] = GENERATE(table<std::string, core::Microseconds>({
      {"90", 90min},
      {"90:00", 90min},
      {"0:30", 1min},
      {"10:01", 11min},
      {"12:00:00", 12h},
      {"100:00:00", 100h},
      {"2-0", 48h},
      {"1-12", 36h},
      {"1-12:30", 36h + 30min},
      {"1-12:30:59", 36h + 31min},
      {"0-0:5", 5min},
  }));
  INFO(text);
  CHECK(parse_slurm_time(text).value() == expected);
}

TEST_CASE("no time limit, and what is none") {
  const std::string none = GENERATE("0", "00:00:00", "UNLIMITED", "infinite");
  CHECK_FALSE(parse_slurm_time(none).value());
  const std::string wrong =
      GENERATE("", "2h", "1:2:3:4", "-1", "1-", "1-2:3:4:5", "1:", ":1", "1-1-1", "5 ", "4000-0", "99999999999");
  INFO(wrong);
  CHECK_FALSE(parse_slurm_time(wrong));
}

TEST_CASE("small values of Slurm's") {
  CHECK(parse_slurm_nodes("1") == 1U);
  CHECK(parse_slurm_nodes("1-4") == 1U);
  CHECK(parse_slurm_nodes("2-4") == 2U);
  CHECK_FALSE(parse_slurm_nodes("0"));
  CHECK_FALSE(parse_slurm_nodes("4-2"));
  CHECK_FALSE(parse_slurm_nodes("two"));
  CHECK(parse_slurm_nice("") == -100);
  CHECK(parse_slurm_nice("-20") == 20);
  CHECK(parse_slurm_nice("10000") == -1000);
  CHECK_FALSE(parse_slurm_nice("low"));
  CHECK(usable_job_name("a/b") == "a_b");
  CHECK(usable_job_name("42") == "job-42");
  CHECK(usable_job_name("@x") == "job-@x");
  CHECK(usable_job_name("-x") == "job--x");
  CHECK(usable_job_name("night 2") == "night 2");
}
