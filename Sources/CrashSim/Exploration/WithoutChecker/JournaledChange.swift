// JournaledChange.swift: changes in place that a program protects by a journal: it copies the old
// bytes to another file before it writes over them (undo), or the new ones (redo), and gives the
// copy up afterwards. Bytes are compared, so the formats of file and journal do not matter.
// Invariant: a change counts only when the program itself gave the journal up later in the run: a
// backup that stays is no journal.

import CrashStates
import Recording

/// One change of a file in place, from its first write until its journal was given up.
struct JournaledChange: Sendable {
  /// One write of it.
  struct Piece: Sendable {
    let range: Range<Int>
    let before: [UInt8]
    let after: [UInt8]
  }

  let path: String
  let journal: String
  /// Whether the journal has the old bytes; else it has the new ones.
  let isUndo: Bool
  /// The file before the first write.
  let start: [UInt8]
  /// Whether the journal has the whole file as it was, however short the writes are.
  var isOfWhole = false
  private(set) var pieces: [Piece] = []
  /// Crash point from which on the journal was removed; nil when it was given up otherwise.
  var removedSince: Int?

  /// How a state looks like in the light of a change.
  enum Look: Equatable {
    /// Something else is different, too.
    case elsewhere
    /// The state is before the change, after it, or its journal can complete or undo it.
    case whole
    /// The change is done in part, and the journal lacks what is needed.
    case torn
  }

  init(path: String, journal: String, isUndo: Bool, start: [UInt8]) {
    self.path = path
    self.journal = journal
    self.isUndo = isUndo
    self.start = start
  }

  /// Adds a write, as far as it is over what was there at the start: a journal can undo no growth.
  mutating func add(_ range: Range<Int>, _ after: [UInt8]) {
    let range = range.clamped(to: 0..<start.count)
    if range.isEmpty { return }
    pieces.append(
      Piece(range: range, before: Array(start[range]), after: Array(after.prefix(range.count))))
  }

  /// Looks at a state.
  /// - Parameters:
  ///   - bytes: What the file is there.
  ///   - others: What other files are there.
  /// - Returns: How the state looks.
  func look(at bytes: [UInt8], _ others: () -> [[UInt8]]) -> Look {
    guard bytes.count >= start.count else { return .elsewhere }
    var end = start
    for piece in pieces { end.replaceSubrange(piece.range, with: piece.after) }
    var isMixed = false
    var (hasOld, hasNew) = (false, false)
    for index in start.indices {
      let byte = bytes[index]
      if byte != start[index] {
        guard byte == end[index] else {
          // Between two writes of one place there may be what is neither.
          guard pieces.contains(where: { Self.has($0, index, byte) }) else { return .elsewhere }
          isMixed = true
          continue
        }
        hasNew = true
      } else if byte != end[index] {
        hasOld = true
      }
    }
    guard isMixed || (hasOld && hasNew) else { return .whole }
    let there = others()
    let isCovered = pieces.allSatisfy { piece in
      let found = bytes[piece.range]
      let wanted = isUndo ? piece.before : Array(end[piece.range])
      if found.elementsEqual(wanted) { return true }
      if isOfWhole { return there.contains { $0.contains(bytes: start) } }
      return there.contains { $0.contains(bytes: isUndo ? wanted : piece.after) }
    }
    return isCovered ? .whole : .torn
  }

  /// Whether a journal of old bytes holds all of them, so that it undoes the change.
  func undoes(_ journal: [UInt8]) -> Bool {
    if isOfWhole { return journal.contains(bytes: start) }
    return isUndo && !pieces.isEmpty && pieces.allSatisfy { journal.contains(bytes: $0.before) }
  }

  private static func has(_ piece: Piece, _ index: Int, _ byte: UInt8) -> Bool {
    piece.range.contains(index) && piece.after[index - piece.range.lowerBound] == byte
  }
}
