#include "stiction/sim/key_names.hpp"

#include <initializer_list>
#include <regex>
#include <utility>

namespace stiction {

namespace {

struct Renaming {
  const char *from, *to;
};

std::string renamed(std::string message, std::initializer_list<Renaming> renamings) {
  for (const Renaming& r : renamings) message = std::regex_replace(message, std::regex(r.from), r.to);
  return message;
}

}  // namespace

std::string by_keys_of_robots(std::string message) {
  return renamed(std::move(message), {{R"(^options\.joints\['([^']*)'\]\.position)", "joints['$1']"},
                                      {R"(^options\.joints\['([^']*)'\])", "joint_settings['$1']"},
                                      {R"(^options\.joints:)", "joints, joint_settings:"},
                                      {R"(\(options\.joints )", "(joint_settings "},
                                      {R"(^options\.)", ""}});
}

std::string by_keys_of_drives(std::string message) {
  return renamed(std::move(message), {{"finite and -least, beside a no-load speed", "a finite number beside no_load"},
                                      {R"(^drives\.(velocity|servos|rows)\[\d+\]\.(most|least|limit)\b)", "limit"},
                                      {R"(^drives\.(velocity|servos)\[\d+\]\.v\b)", "joints"},
                                      {R"(^drives\.rows\[\d+\]\.terms[^:]*)", "joints"},
                                      {R"(^drives\.(velocity|servos|rows)\[\d+\]\.)", ""}});
}

}  // namespace stiction
