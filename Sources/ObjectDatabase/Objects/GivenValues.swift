// GivenValues.swift: the values that an object is made of, by the names of its properties. They
// come from outside, as an answer of a server: names that the class does not have are ignored.

/// Values by property name.
struct GivenValues {
  private var values: [String: Any?]

  /// Takes values by name, in the order of the properties, or of another object.
  ///
  /// Nil for anything else, and for an array of more values than properties.
  init?(_ value: Any, _ info: ClassInfo) {
    switch value {
    case let values as [String: Any?]: self.values = values
    case let object as ObjectBase:
      values = [:]
      let other = object.classInfo
      for property in info.properties where property.type != .linkingObjects {
        guard let number = other.number(of: property.name),
          other.properties[number].type != .linkingObjects
        else { continue }
        values[property.name] = .some(object.value(forKey: property.name))
      }
    case let list as [Any?]:
      let names = info.properties.filter { $0.type != .linkingObjects }.map(\.name)
      guard list.count <= names.count else { return nil }
      values = Dictionary(zip(names, list), uniquingKeysWith: { first, _ in first })
    default: return nil
    }
    // What links here cannot be set.
    for property in info.properties where property.type == .linkingObjects {
      values[property.name] = nil
    }
  }

  /// The value of a property; nil when none is given, `.some(nil)` for a null.
  subscript(name: String) -> Any?? { values[name] }

  mutating func set(_ value: Any?, for name: String) { values[name] = .some(value) }

  /// What is wrong with a value that gives none.
  static func problem(_ value: Any, _ info: ClassInfo) -> String {
    let count = info.properties.count { $0.type != .linkingObjects }
    return "an object of \(info.name) is made of a dictionary, an array of at most \(count) values "
      + "or an object, not of \(Swift.type(of: value))"
  }
}
