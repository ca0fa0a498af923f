// SuperJournal.swift: the file that joins the journals of an SQLite transaction over several
// databases. As long as it is there, each of these journals undoes its part; each journal ends with
// its path.
//   offset from the end  size  field
//        16 + 4 + name     4   page number that no page has
//             16 + name  name  path of the file
//                    16     4  length of the name
//                    12     4  sum of the name's bytes
//                     8     8  magic number

/// Reads the end of a journal, as SQLite does.
enum SuperJournal {
  private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
  private static let footBytes = 16

  /// The last component of the path that a journal ends with; nil without one.
  static func name(in journal: [UInt8]) -> String? {
    let name = path(in: journal)?.split(separator: UInt8(ascii: "/")).last
    return name.map { String(decoding: $0, as: UTF8.self) }
  }

  /// A journal that is undone whatever became of the file.
  static func removed(from journal: [UInt8]) -> [UInt8] {
    guard let bytes = path(in: journal) else { return journal }
    return Array(journal.dropLast(footBytes + bytes.count + 4))
  }

  private static func path(in journal: [UInt8]) -> ArraySlice<UInt8>? {
    guard journal.count > footBytes, journal.suffix(8).elementsEqual(magic) else { return nil }
    let foot = journal.suffix(footBytes)
    func number(_ offset: Int) -> Int {
      foot.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
    let count = number(0)
    guard count > 0, count + footBytes + 4 <= journal.count else { return nil }
    let bytes = journal.dropLast(footBytes).suffix(count)
    let sum = bytes.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
    return Int(sum) == number(4) ? bytes : nil
  }
}
