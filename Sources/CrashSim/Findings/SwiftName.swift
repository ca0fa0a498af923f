// SwiftName.swift: [U] short names of functions: `CommitWriter.writeNodes`.
// Safety: the runtime's demangler gets a string that is valid during the call; its result is freed.

import Foundation
import Glibc

@_silgen_name("swift_demangle")
private func demangle(
  _ name: UnsafePointer<CChar>?, _ count: Int, _ output: UnsafeMutablePointer<CChar>?,
  _ outputCount: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// Names of functions.
enum SwiftName {
  /// A symbol without module, parameters and result; other names are unchanged.
  static func short(_ symbol: String) -> String {
    guard symbol.hasPrefix("$s"), let long = demangled(symbol) else { return symbol }
    return shortened(long)
  }

  private static func demangled(_ symbol: String) -> String? {
    guard let name = unsafe demangle(symbol, symbol.utf8.count, nil, nil, 0) else { return nil }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
  }

  /// Shortens a demangled name.
  static func shortened(_ name: String) -> String {
    var name = name
    var prefix = ""
    // `closure #1 (Int) -> () in Module.function()`, possibly nested.
    while name.hasPrefix("closure #") || name.hasPrefix("implicit closure #"),
      let place = name.range(of: " in ")
    {
      prefix = "closure in "
      name = String(name[place.upperBound...])
    }
    // `(name in _8C1B…)` is a private name.
    while let end = name.range(of: " in _"), let open = name[..<end.lowerBound].lastIndex(of: "("),
      let close = name[end.upperBound...].firstIndex(of: ")")
    {
      let word = name[name.index(after: open)..<end.lowerBound]
      name.replaceSubrange(open...close, with: word)
    }
    if name.hasPrefix("(extension in "), let end = name.range(of: "):") {
      name = String(name[end.upperBound...])
    }
    for word in ["static ", "partial apply for ", "merged "] where name.hasPrefix(word) {
      name = String(name.dropFirst(word.count))
    }
    if let of = name.range(of: "specialization <"), let end = name.range(of: "> of ") {
      if of.lowerBound < end.lowerBound { return shortened(String(name[end.upperBound...])) }
    }
    name = String(name.prefix { $0 != "(" && $0 != "<" })
    if let colon = name.range(of: " : ") { name = String(name[..<colon.lowerBound]) }
    let parts = name.split(separator: ".")
    return prefix + (parts.count > 1 ? parts.dropFirst().joined(separator: ".") : name)
  }
}
