// Damage.swift: what is wrong with a content, compared with the whole one, in words.

/// How a content differs from the whole one.
struct Damage {
  let text: String

  init(_ bytes: [UInt8], of whole: [UInt8]) {
    if bytes.isEmpty {
      text = "it is empty"
    } else if bytes.allSatisfy({ $0 == 0 }) && whole.contains(where: { $0 != 0 }) {
      text = "it holds nothing but zeros"
    } else if whole.starts(with: bytes) {
      text = "it ends after \(bytes.count) of \(whole.count) bytes"
    } else if bytes.count <= whole.count, zip(bytes, whole).allSatisfy({ $0 == $1 || $0 == 0 }) {
      let at = zip(bytes, whole).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
      text = "zeros stand where data was written, from byte \(at) on"
    } else {
      text = "it is none of the contents that were ever completed"
    }
  }
}
