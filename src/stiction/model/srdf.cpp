#include "stiction/model/srdf.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"

namespace stiction {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> srdf_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".srdf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // folders come in no order
  return files;
}

bool is_of_robot(const fs::path& file, const std::string& robot_name) {
  tinyxml2::XMLDocument xml;
  if (xml.LoadFile(file.c_str()) != tinyxml2::XML_SUCCESS || xml.RootElement() == nullptr) return false;
  const char* name = xml.RootElement()->Attribute("name");
  return name != nullptr && name == robot_name;
}

std::string find_in(const fs::path& folder, const std::string& stem, const std::string& robot_name) {
  const std::vector<fs::path> files = srdf_files(folder);
  fs::path longest;
  for (const fs::path& file : files) {
    if (stem.starts_with(file.stem().string()) && file.stem().string().size() > longest.stem().string().size()) longest = file;
  }
  if (!longest.empty()) return longest.string();
  std::vector<fs::path> named;
  for (const fs::path& file : files) {
    if (is_of_robot(file, robot_name)) named.push_back(file);
  }
  return named.size() == 1 ? named[0].string() : std::string();
}

class SrdfReader {
 public:
  SrdfReader(const XmlElement& root, RobotDescription& robot) : root_(root), robot_(robot) {
    for (const LinkDescription& link : robot.links) known_.insert(link.name);
  }

  void read() {
    if (std::string_view(root_.Name()) != "robot") fail(root_, "expected <robot> (SRDF)");
    for (const XmlElement* e = root_.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
      const std::string_view kind = e->Name();
      if (kind == "disable_collisions") add_pair(*e, disabled_);
      if (kind == "enable_collisions") add_pair(*e, enabled_);
      if (kind == "disable_default_collisions") add_default(*e);
      if (kind == "group_state") add_state(*e);
      if (kind == "disable_collision") {
        robot_.warnings.push_back(
            fmt::format("{}: <disable_collision> is left out: the element is called <disable_collisions>", place(*e)));
      }
    }
    for (const auto& pair : enabled_) disabled_.erase(pair);
    robot_.excluded_links.insert(robot_.excluded_links.end(), disabled_.begin(), disabled_.end());
    for (const auto& [name, where] : unknown_) {
      robot_.warnings.push_back(fmt::format("{}: link '{}' is not one of robot '{}': its pairs are left out", where, name, robot_.name));
    }
  }

 private:
  using Pair = std::pair<std::string, std::string>;

  bool is_known(const XmlElement& e, const std::string& name) {
    if (known_.contains(name)) return true;
    unknown_.emplace(name, place(e));
    return false;
  }

  void add_pair(const XmlElement& e, std::set<Pair>& pairs) {
    const std::string a = text(require(e, "link1")), b = text(require(e, "link2"));
    const bool has_a = is_known(e, a), has_b = is_known(e, b);
    if (has_a && has_b) pairs.insert(std::minmax({a, b}));
  }

  void add_default(const XmlElement& e) {
    const std::string name = text(require(e, "link"));
    if (!is_known(e, name)) return;
    for (const std::string& other : known_) {
      if (other != name) disabled_.insert(std::minmax({name, other}));
    }
  }

  /// A value that is no single number is that of a base, which the pose of the robot says.
  void add_state(const XmlElement& e) {
    const std::string name = text(require(e, "name"));
    auto at = std::ranges::find(robot_.poses, name, &PoseDescription::name);
    if (at == robot_.poses.end()) at = robot_.poses.insert(at, {name, {}});
    for (const XmlElement* j = e.FirstChildElement("joint"); j != nullptr; j = j->NextSiblingElement("joint")) {
      const std::vector<double> value = numbers(require(*j, "value"));
      if (value.size() == 1) at->positions.emplace_back(text(require(*j, "name")), value[0]);
    }
  }

  const XmlElement& root_;
  RobotDescription& robot_;
  std::set<std::string> known_;
  std::set<Pair> disabled_, enabled_;
  std::map<std::string, std::string> unknown_;  ///< name -> its first place
};

}  // namespace

std::string find_srdf(const std::string& urdf, const std::string& robot_name) {
  std::error_code ignored;
  const fs::path file = urdf, folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::exists(file, ignored)) return {};  // a robot given as text
  for (const fs::path& place : {folder, fs::path(tidy_path(folder / ".." / "srdf"))}) {
    if (std::string found = find_in(place, file.stem().string(), robot_name); !found.empty()) return found;
  }
  return {};
}

void read_srdf(const XmlElement& root, RobotDescription& robot) { SrdfReader(root, robot).read(); }

}  // namespace stiction
