// SyncLimits.swift: the limits. Content that exceeds a limit is rejected with an error before it
// takes memory or time.

/// Limits for decoding and replaying.
public enum SyncLimits {
  /// Bytes of an encoded changeset; a client checks it at its local commit.
  public static let changesetBytesMax = 64 << 20
  /// Bytes of an encoded entry: the changeset, its resolved and its restated operations.
  public static let entryBytesMax = 3 * changesetBytesMax
  /// Operations of a changeset.
  public static let operationsMax = 1 << 22
  /// Bytes of the name of a class or a property.
  public static let nameBytesMax = 255
  /// Bytes of a text, of bytes, and of a dictionary's key.
  public static let valueBytesMax = 16 << 20
  /// Steps to a field: embedded objects in embedded objects.
  public static let stepsMax = 16
  /// Elements of a list, and all that a replay of one ever places.
  public static let elementsMax = 1 << 28
}
