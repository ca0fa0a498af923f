// ErrorNumber.swift: the error of a file operation, as a system call reports it.

import Glibc

/// The number of an error as a system call reports it in `errno`.
public struct ErrorNumber: RawRepresentable, Error, Hashable, Sendable, Codable,
  CustomStringConvertible
{
  /// The number, for example `ENOENT`.
  public let rawValue: Int32

  /// Makes an error from its number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Makes an error from its number.
  public init(_ rawValue: Int32) { self.rawValue = rawValue }

  /// The system's text and the name, for example `No space left on device (ENOSPC)`.
  public var description: String { describe(errno: rawValue) }
}
