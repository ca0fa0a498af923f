// IndexNames.swift: the names of indexes' tables, letter by letter as the real library's.
//   full text    kv_X::NAME
//   array        kv_X:unnest:PATH, in the list; its SHA-1 as lowercase hex digits in SQL from 3.2.1
//   predictive   kv_X:predict:DIGEST, base64 of the SHA-1 of the prediction's canonical JSON
// The part after the last colon has `\` before each capital letter, like names of key stores.

/// Names of tables.
enum IndexNames {
  static func fullText(_ name: String, in store: KeyStoreName) -> String {
    "\(store.table)::\(KeyStoreName.mangled(name))"
  }

  static func array(_ path: String, in store: KeyStoreName) -> String {
    "\(store.table):unnest:\(KeyStoreName.mangled(path))"
  }

  /// The table of the containing array, for arrays in items of others.
  static func parent(ofArray listed: String) -> String? {
    listed.range(ofLast: "[].").map { String(listed[..<$0]) }
  }

  static func predictive(_ digest: [UInt8], in store: KeyStoreName) -> String {
    "\(store.table):predict:\(KeyStoreName.mangled(Base64.text(digest)))"
  }

  /// The path of an array's table.
  static func path(ofArray listed: String) -> String? {
    guard let start = listed.range(ofFirst: ":unnest:") else { return nil }
    let mangled = Array(listed[start...].dropFirst(8).unicodeScalars)
    var path = String.UnicodeScalarView()
    for (place, scalar) in mangled.enumerated() {
      let next = place + 1 < mangled.count ? mangled[place + 1] : "."
      if scalar != "\\" || !("A"..."Z").contains(next) { path.append(scalar) }
    }
    return String(path)
  }

  static func hashed(_ listed: String) -> String { hex(SHA1.digest(Array(listed.utf8))) }

  /// A name in SQL as the real library writes it: quoted only where it must be.
  static func sql(_ name: String) -> String {
    let isPlain = name.utf8.enumerated().allSatisfy { place, byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "_"):
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): place > 0
      default: false
      }
    }
    return isPlain && !name.isEmpty ? name : identifier(name)
  }
}

extension String {
  /// Where the first occurrence of a text begins.
  fileprivate func range(ofFirst text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }

  /// Where the last occurrence of a text begins.
  fileprivate func range(ofLast text: String) -> Index? {
    indices.last { self[$0...].hasPrefix(text) }
  }
}
