// FuzzTarget.swift: the registry of fuzz targets. Each takes bytes; a trap, a hang or unbounded
// memory is a finding, whatever the bytes say. FUZZ_TARGET names the one that libFuzzer drives.

/// A function that must survive any bytes.
struct FuzzTarget: Sendable {
  let name: String
  let run: @Sendable ([UInt8]) -> Void

  static let all = [
    FuzzTarget(name: "header") { HeaderTarget.run($0) },
    FuzzTarget(name: "image") { ImageTarget.run($0) },
  ]

  static func named(_ name: String) -> FuzzTarget? {
    all.first { $0.name == name }
  }
}
