// KeyPathFilter.swift: the properties whose changes a callback requests: `name`, `owner.name`,
// `dogs.age`, `owners.name` through linking objects.

import Engine

/// Paths from a class to properties.
struct KeyPathFilter {
  /// One property on the way.
  struct Step {
    let info: ClassInfo
    let property: Int
  }

  let paths: [[Step]]

  /// An invalid path stops the process.
  init(_ texts: [String], _ access: _TableAccess) {
    paths = texts.map { Self.path($0, access) }
  }

  private static func path(_ text: String, _ access: _TableAccess) -> [Step] {
    var steps: [Step] = []
    var info: ClassInfo? = access.info
    for name in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard let here = info, let number = here.number(of: String(name)) else {
        Misuse.stop(
          "the key path \"\(text)\" of \(access.name) leads to no property at \"\(name)\"; there "
            + "are \(info?.properties.map(\.name).joined(separator: ", ") ?? "none")")
      }
      steps.append(Step(info: here, property: number))
      info = here.properties[number].objectClassName.flatMap { access.core.access(named: $0)?.info }
    }
    return steps
  }
}
