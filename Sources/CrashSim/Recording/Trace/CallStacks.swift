// CallStacks.swift: where in a program its operations were asked for, as far as that was recorded.
// Invariant: addresses are those of the modules' files, so that the same program gives the same
// stacks wherever the kernel loads it; stacks are numbered by the first events that have them.

/// A place in the code of a module.
public struct CodeAddress: Hashable, Sendable {
  /// Index of the module.
  public var module: Int
  /// The return address as the module's file has it.
  public var address: UInt64

  /// Makes an address.
  public init(module: Int, address: UInt64) {
    self.module = module
    self.address = address
  }
}

/// The call stacks of one recording, each once.
public struct CallStacks: Hashable, Sendable {
  /// Most frames of a stack, from the innermost.
  public static let framesMax = 48
  /// Most modules, and the end of the addresses in one.
  static let modulesMax = 1 << 16
  static let addressEnd: UInt64 = 1 << 48

  /// Absolute paths of programs and libraries.
  public var modules: [String] = []
  /// The frames of each stack, the innermost first; none is empty.
  public var stacks: [[CodeAddress]] = []

  /// No call stacks.
  public init() {}

  /// True for a path that a module may have: what asks other programs about it does so in lines.
  static func isModulePath(_ path: String) -> Bool {
    path.hasPrefix("/")
      && path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\"" && $0.value != 0x7f }
  }
}
