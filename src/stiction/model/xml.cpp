#include "stiction/model/xml.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "stiction/base/errors.hpp"
#include "stiction/base/files.hpp"
#include "stiction/base/utf8.hpp"

namespace stiction {

struct XmlDocuments::Document {
  std::string name;
  tinyxml2::XMLDocument xml;
};

namespace {

/// Reads one number and moves `at` behind it; returns false when there is none. Independent of the locale.
bool next_number(const char*& at, const char* end, double& value) {
  if (at != end && *at == '+') ++at;
  const auto [stop, error] = std::from_chars(at, end, value);
  if (error == std::errc::result_out_of_range) value = std::nan("");
  if (error == std::errc::invalid_argument) return false;
  at = stop;
  return true;
}

std::vector<double> all_numbers(const Attribute& a) {
  const std::string_view s(a.text);
  const char *at = s.data(), *end = s.data() + s.size();
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  std::vector<double> values;
  while (true) {
    while (at != end && is_space(*at)) ++at;
    if (at == end) return values;
    double value = 0.0;
    if (!next_number(at, end, value) || (at != end && !is_space(*at))) fail_attribute(a, "numbers separated by spaces");
    values.push_back(value);
  }
}

std::vector<double> exactly(const Attribute& a, std::size_t count) {
  std::vector<double> values = numbers(a);
  if (values.size() != count) fail_attribute(a, fmt::format("{} number{}", count, count == 1 ? "" : "s"));
  return values;
}

}  // namespace

const XmlElement& XmlDocuments::load(const std::string& path) {
  require_file(path);
  auto document = std::make_shared<Document>();
  document->name = path;
  const tinyxml2::XMLError error = document->xml.LoadFile(path.c_str());
  if (error == tinyxml2::XML_ERROR_FILE_NOT_FOUND || error == tinyxml2::XML_ERROR_FILE_COULD_NOT_BE_OPENED ||
      error == tinyxml2::XML_ERROR_FILE_READ_ERROR) {
    throw FileError(path, "", "cannot be read");
  }
  files_.push_back(path);
  return adopt(std::move(document), error);
}

const XmlElement& XmlDocuments::parse(const std::string& content, const std::string& name) {
  auto document = std::make_shared<Document>();
  document->name = name;
  const tinyxml2::XMLError error = document->xml.Parse(content.c_str(), content.size());
  return adopt(std::move(document), error);
}

const XmlElement& XmlDocuments::adopt(std::shared_ptr<Document> document, int error) {
  if (error != tinyxml2::XML_SUCCESS) {
    const int line = document->xml.ErrorLineNum();  // 0: of nothing at all
    throw FileError(document->name, line > 0 ? fmt::format("line {}", line) : "",
                    fmt::format("not well-formed XML ({})", document->xml.ErrorName()));
  }
  const XmlElement* root = document->xml.RootElement();
  if (root == nullptr) throw FileError(document->name, "", "has no root element");
  document->xml.SetUserData(&document->name);
  documents_.push_back(std::move(document));
  return *root;
}

const std::string& source_of(const XmlElement& element) { return *static_cast<const std::string*>(element.GetDocument()->GetUserData()); }

std::string place(const XmlElement& element) { return fmt::format("{}:{}", source_of(element), element.GetLineNum()); }

void fail(const XmlElement& element, std::string_view reason) {
  std::string where = fmt::format("line {}", element.GetLineNum());
  if (const char* own = element.Attribute("name")) {
    where += fmt::format(", {} '{}'", element.Name(), own);
  } else {
    where += fmt::format(", <{}>", element.Name());
    for (const auto* up = element.Parent(); up != nullptr && up->ToElement() != nullptr; up = up->Parent()) {
      if (const char* name = up->ToElement()->Attribute("name")) {
        where += fmt::format(" of {} '{}'", up->ToElement()->Name(), name);
        break;
      }
    }
  }
  throw FileError(source_of(element), where, reason);
}

void fail_attribute(const Attribute& a, std::string_view expected) {
  fail(*a.element, fmt::format("{}=\"{}\": expected {}", a.name, a.text, expected));
}

Attribute attribute(const XmlElement& element, const char* name) { return {&element, name, element.Attribute(name)}; }

Attribute require(const XmlElement& element, const char* name) {
  const Attribute a = attribute(element, name);
  if (!a) fail(element, fmt::format("attribute '{}' is missing", name));
  return a;
}

const XmlElement& require_child(const XmlElement& element, const char* name) {
  const XmlElement* child = element.FirstChildElement(name);
  if (child == nullptr) fail(element, fmt::format("element <{}> is missing", name));
  return *child;
}

std::string text(const Attribute& a) {
  if (*a.text == '\0') fail_attribute(a, "a name");
  if (!is_utf8(a.text)) fail_attribute(a, "a name in UTF-8");
  return a.text;
}

double limit(const Attribute& a) {
  const std::vector<double> values = all_numbers(a);
  if (values.size() != 1 || std::isnan(values[0])) fail_attribute(a, "a number");
  return values[0];
}

std::vector<double> numbers(const Attribute& a) {
  std::vector<double> values = all_numbers(a);
  for (const double value : values) {
    if (!std::isfinite(value)) fail_attribute(a, "finite numbers");
  }
  return values;
}

std::vector<double> numbers(const Attribute& a, std::size_t most) {
  std::vector<double> values = numbers(a);
  if (values.size() > most) fail_attribute(a, fmt::format("at most {} numbers", most));
  return values;
}

double number(const Attribute& a) { return exactly(a, 1)[0]; }
double number_or(const Attribute& a, double fallback) { return a ? number(a) : fallback; }

int integer_or(const Attribute& a, int fallback) {
  if (!a) return fallback;
  const double value = number(a);
  if (value != std::floor(value) || std::abs(value) > 1e9) fail_attribute(a, "an integer");
  return static_cast<int>(value);
}

Eigen::Vector3d vector3(const Attribute& a) { return Eigen::Vector3d(exactly(a, 3).data()); }
Eigen::Vector3d vector3_or(const Attribute& a, const Eigen::Vector3d& fallback) { return a ? vector3(a) : fallback; }
Eigen::Vector4d vector4(const Attribute& a) { return Eigen::Vector4d(exactly(a, 4).data()); }

}  // namespace stiction
