// Reading XML so that every error names the file, the line and the element it came from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tinyxml2.h>
#include <Eigen/Core>

namespace stiction {

using XmlElement = tinyxml2::XMLElement;

/// Owns parsed documents; elements stay valid as long as it lives.
class XmlDocuments {
 public:
  /// Root element. Throws FileError when the file cannot be read or is not well-formed.
  const XmlElement& load(const std::string& path);
  const XmlElement& parse(const std::string& text, const std::string& name);
  /// Paths of all that `load` read.
  const std::vector<std::string>& files() const { return files_; }

 private:
  struct Document;
  const XmlElement& adopt(std::shared_ptr<Document> document, int error);
  std::vector<std::shared_ptr<Document>> documents_;
  std::vector<std::string> files_;
};

/// The file (or name) that the element was read from.
const std::string& source_of(const XmlElement& element);
/// Throws FileError: file, "line 12, <inertial> of link 'foot'", reason.
[[noreturn]] void fail(const XmlElement& element, std::string_view reason);
/// "file:12" for warnings.
std::string place(const XmlElement& element);

/// An attribute's text with the element it stands in; false when absent.
struct Attribute {
  const XmlElement* element = nullptr;
  const char* name = nullptr;
  const char* text = nullptr;
  explicit operator bool() const { return text != nullptr; }
};

Attribute attribute(const XmlElement& element, const char* name);
/// The same, but fails when absent.
Attribute require(const XmlElement& element, const char* name);
/// A child that must be there.
const XmlElement& require_child(const XmlElement& element, const char* name);

std::string text(const Attribute& a);  ///< not empty, or fails
double number(const Attribute& a);     ///< finite, or fails
double number_or(const Attribute& a, double fallback);
double limit(const Attribute& a);  ///< not NaN; infinity allowed
int integer_or(const Attribute& a, int fallback);
std::vector<double> numbers(const Attribute& a);  ///< finite
std::vector<double> numbers(const Attribute& a, std::size_t most);
/// Fails with what is expected in place of the attribute's text.
[[noreturn]] void fail_attribute(const Attribute& a, std::string_view expected);
/// Exactly as many numbers as the vector has.
Eigen::Vector3d vector3(const Attribute& a);
Eigen::Vector3d vector3_or(const Attribute& a, const Eigen::Vector3d& fallback);
Eigen::Vector4d vector4(const Attribute& a);

}  // namespace stiction
