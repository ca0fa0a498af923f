// UnicodeCollator.swift: [U] the Unicode order of texts, by ICU. ICU is loaded when a query or an
// index first needs it, so a program starts without it (decision 1021). Safety: the calls have the
// types of ICU's C headers, which are stable since ICU 49; a collator is used on its connection's
// queue only, and closed with it.

import Fleece

#if canImport(Glibc)
  import Glibc
#endif

/// The calls of ICU.
@safe private struct CollatorCalls: @unchecked Sendable {
  typealias Open =
    @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<Int32>?) -> OpaquePointer?
  typealias Close = @convention(c) (OpaquePointer?) -> Void
  typealias Set =
    @convention(c) (OpaquePointer?, Int32, Int32, UnsafeMutablePointer<Int32>?) -> Void
  typealias Compare =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, Int32,
      UnsafeMutablePointer<Int32>?
    ) -> Int32

  @unsafe let open: Open
  @unsafe let close: Close
  @unsafe let set: Set
  @unsafe let compare: Compare

  /// Nil when no ICU of versions 60 to 90 is there.
  static let loaded: CollatorCalls? = {
    for version in (60...90).reversed() {
      guard let library = unsafe dlopen("libicui18n.so.\(version)", RTLD_NOW | RTLD_LOCAL),
        let open = unsafe dlsym(library, "ucol_open_\(version)"),
        let close = unsafe dlsym(library, "ucol_close_\(version)"),
        let set = unsafe dlsym(library, "ucol_setAttribute_\(version)"),
        let compare = unsafe dlsym(library, "ucol_strcollUTF8_\(version)")
      else { continue }
      return unsafe CollatorCalls(
        open: unsafeBitCast(open, to: Open.self), close: unsafeBitCast(close, to: Close.self),
        set: unsafeBitCast(set, to: Set.self), compare: unsafeBitCast(compare, to: Compare.self))
    }
    return nil
  }()
}

/// A collation of ICU.
@safe final class UnicodeCollator {
  private let calls: CollatorCalls
  private let handle: OpaquePointer
  private let isCaseSensitive: Bool

  /// The collator of a locale; nil without ICU, and when ICU fails.
  init?(isCaseSensitive: Bool, isDiacriticSensitive: Bool, locale: String) {
    guard let calls = CollatorCalls.loaded else { return nil }
    self.calls = calls
    self.isCaseSensitive = isCaseSensitive
    var status: Int32 = 0
    guard let handle = unsafe calls.open(locale, &status), status <= 0 else { return nil }
    unsafe self.handle = unsafe handle
    // Strengths are 0 for letters, 1 with marks, 2 with case; attributes 5 and 3.
    let strength: Int32 = isCaseSensitive && isDiacriticSensitive ? 2 : isDiacriticSensitive ? 1 : 0
    unsafe calls.set(handle, 5, strength, &status)
    if isCaseSensitive, !isDiacriticSensitive { unsafe calls.set(handle, 3, 17, &status) }
    guard status <= 0 else { return nil }
  }

  deinit { unsafe calls.close(handle) }

  /// Negative, 0 or positive, as the first text sorts before, with or after the second.
  func order(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int32 {
    let plain = unsafe ASCIIOrder.order(first, second, isCaseSensitive: isCaseSensitive)
    if let plain { return plain }
    var status: Int32 = 0
    let left = unsafe first.baseAddress?.assumingMemoryBound(to: CChar.self)
    let right = unsafe second.baseAddress?.assumingMemoryBound(to: CChar.self)
    return unsafe calls.compare(
      handle, left ?? Self.empty, Int32(clamping: first.count), right ?? Self.empty,
      Int32(clamping: second.count), &status)
  }

  private static var empty: UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped.assumingMemoryBound(to: CChar.self)
  }
}
