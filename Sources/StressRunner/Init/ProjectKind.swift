// ProjectKind.swift: what kind of project a directory holds, by the file of its build tool.

import Foundation
import LabCore

/// A kind of project: how it is built, and how a workload calls its program.
struct ProjectKind: Equatable {
  /// The file that gives the kind away; empty when there is none that we know.
  let marker: String
  /// Builds it, in its directory; empty when nothing has to be built.
  let build: String
  /// The program for a shell script in which `$project` is the project's directory.
  let program: String

  /// What was recognized, for people.
  var summary: String {
    marker.isEmpty ? "no build file that is known; any program can be tested" : "\(marker) found"
  }

  /// The kind of a directory; where several build files are, the one that names a program.
  static func found(in directory: String) -> ProjectKind {
    for (marker, make) in makers {
      guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(marker)") else {
        continue
      }
      return make(marker, String(decoding: bytes.prefix(1 << 16), as: UTF8.self))
    }
    return ProjectKind(marker: "", build: "", program: "\"$project/your-program\"")
  }

  private typealias Maker = @Sendable (_ marker: String, _ text: String) -> ProjectKind

  /// In this order, because a Makefile often stands beside another build file.
  private static let makers: [(String, Maker)] = [
    (
      "Cargo.toml",
      { marker, text in
        let name = plainName(in: text, #/(?m)^\s*name\s*=\s*"([^"]*)"/#)
        return ProjectKind(
          marker: marker, build: "cargo build --release",
          program: "\"$project/target/release/\(name)\"")
      }
    ),
    (
      "Package.swift",
      { marker, text in
        let target = #/\.executable(?:Target)?\(\s*name:\s*"([^"]*)"/#
        let name = plainName(in: text, target)
        return ProjectKind(
          marker: marker, build: "swift build -c release",
          program: "\"$project/.build/release/\(name)\"")
      }
    ),
    (
      "go.mod",
      { marker, text in
        let name = plainName(in: text, #/(?m)^module\s+(\S+)/#)
        return ProjectKind(
          marker: marker, build: "go build -o build/\(name) .",
          program: "\"$project/build/\(name)\"")
      }
    ),
    (
      "package.json",
      { marker, text in
        let main = text.firstMatch(of: #/"main"\s*:\s*"([A-Za-z0-9._\/-]+)"/#)
        return ProjectKind(
          marker: marker, build: "npm ci",
          program: "node \"$project/\(main.map { String($0.1) } ?? "index.js")\"")
      }
    ),
    (
      "pyproject.toml",
      { marker, text in
        let name = plainName(in: text, #/(?m)^\s*name\s*=\s*["']([^"']*)["']/#)
        return ProjectKind(
          marker: marker, build: "python3 -m pip install .",
          program: "python3 -m \(name.replacing("-", with: "_"))")
      }
    ),
    (
      "pom.xml",
      { marker, _ in
        ProjectKind(
          marker: marker, build: "mvn --batch-mode package -DskipTests",
          program: "java -cp \"$project/target/classes\" your.Program")
      }
    ),
    ("build.gradle", gradle), ("build.gradle.kts", gradle),
    ("setup.py", python), ("requirements.txt", python),
    (
      "CMakeLists.txt",
      { marker, text in
        let name = plainName(in: text, #/(?mi)^\s*add_executable\s*\(\s*([^\s)]+)/#)
        return ProjectKind(
          marker: marker, build: "cmake -B build && cmake --build build",
          program: "\"$project/build/\(name)\"")
      }
    ),
    (
      "Makefile",
      { marker, _ in
        ProjectKind(marker: marker, build: "make", program: "\"$project/your-program\"")
      }
    ),
  ]

  private static let gradle: Maker = { marker, _ in
    ProjectKind(
      marker: marker, build: "gradle build",
      program: "java -cp \"$project/build/classes/java/main\" your.Program")
  }

  private static let python: Maker = { marker, _ in
    ProjectKind(marker: marker, build: "", program: "python3 \"$project/your-program.py\"")
  }

  /// The last part of the name that a build file gives, if a shell script can hold it as it is.
  private static func plainName(
    in text: String, _ pattern: Regex<(Substring, Substring)>
  ) -> String {
    let whole = text.firstMatch(of: pattern)?.1 ?? ""
    let last = whole.split(separator: "/").last.map(String.init) ?? ""
    let isPlain = !last.isEmpty && last.wholeMatch(of: #/[A-Za-z0-9_][A-Za-z0-9._-]*/#) != nil
    return isPlain ? last : "your-program"
  }
}
