// CallStacks.swift: the places in a program that called its operations, where recorded.
// Invariant: addresses are those in the modules' files, so that the same program gives the same
// stacks wherever the kernel loads it; stacks are numbered in order of the first event with each.

/// A place in the code of a module.
public struct CodeAddress: Hashable, Sendable {
  /// Index of the module.
  public var module: Int
  /// The return address, relative to the module's file.
  public var address: UInt64

  /// Makes an address.
  public init(module: Int, address: UInt64) {
    self.module = module
    self.address = address
  }
}

/// The distinct call stacks of a recording.
public struct CallStacks: Hashable, Sendable {
  /// Most frames of a stack, from the innermost.
  public static let framesMax = 48
  /// Upper bound of module indices and of addresses in a module.
  static let modulesMax = 1 << 16
  static let addressEnd: UInt64 = 1 << 48

  /// Absolute paths of programs and libraries.
  public var modules: [String] = []
  /// The frames of each stack, the innermost first; none is empty.
  public var stacks: [[CodeAddress]] = []

  /// No call stacks.
  public init() {}

  /// True for a valid module path: symbolizers are sent one path per line.
  static func isModulePath(_ path: String) -> Bool {
    path.hasPrefix("/")
      && path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\"" && $0.value != 0x7f }
  }
}
