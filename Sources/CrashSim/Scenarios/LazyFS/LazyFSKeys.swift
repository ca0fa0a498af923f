// LazyFSKeys.swift: the keys of a fault, from a configuration or from a command of the pipe.

import LabCore

/// Keys with values; the pipe has all of them as text.
struct LazyFSKeys {
  private let values: [String: TOMLValue]

  init(_ values: [String: TOMLValue]) { self.values = values }

  init(text: [String: String]) { values = text.mapValues { .string($0) } }

  func string(_ key: String) throws(LabError) -> String? {
    switch values[key] {
    case nil: return nil
    case .string(let text): return text.isEmpty || text == "none" ? nil : text
    default: throw .usage("\(key): give a text in quotes")
    }
  }

  func integer(_ key: String) throws(LabError) -> Int? {
    switch values[key] {
    case nil: return nil
    case .integer(let number): return number
    case .string(let text):
      guard let number = Int(text) else { throw .usage("\(key) should be a number") }
      return number
    default: throw .usage("\(key) should be a number")
    }
  }

  func boolean(_ key: String) throws(LabError) -> Bool? {
    switch values[key] {
    case nil: return nil
    case .boolean(let value): return value
    case .string(let text):
      guard ["true", "false"].contains(text.lowercased()) else { break }
      return text.lowercased() == "true"
    default: break
    }
    throw .usage("\(key) should be a boolean")
  }

  /// A list, or numbers with commas between them.
  func numbers(_ key: String) throws(LabError) -> [Int] {
    var numbers: [Int?] = []
    switch values[key] {
    case nil: return []
    case .array(let list):
      numbers = list.map { value in
        if case .integer(let number) = value { number } else { nil }
      }
    case .string(let text): numbers = text.split(separator: ",").map { Int($0) }
    case .integer(let number): numbers = [number]
    default: numbers = [nil]
    }
    guard numbers.count <= 1000, !numbers.contains(nil) else {
      throw .usage("\(key) should be a list of numbers")
    }
    return numbers.compactMap { $0 }
  }

  /// Which match it is; older configurations spell the key with one r.
  func occurrence() throws(LabError) -> Int {
    let (number, older) = (try integer("occurrence"), try integer("ocurrence"))
    let occurrence = number ?? older ?? 1
    guard occurrence > 0 else { throw .usage("occurrence must be greater than 0") }
    return occurrence
  }
}
