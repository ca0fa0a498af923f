// Site.swift: one place where a small bug can be switched on, and how it is written down.

/// What a mutant changes.
enum MutantKind: String, CaseIterable, Codable {
  case boundMoved = "bound moved"
  case comparisonFlipped = "comparison flipped"
  case statementDropped = "statement left out"
  case statementsSwapped = "statements swapped"
  case callDropped = "call left out"
  case syncDropped = "sync left out"
  case nilTestDropped = "nil test left out"
  case andOr = "&& and ||"
  case plusMinus = "+ and -"
  case returnDropped = "early return left out"
  case branchDropped = "branch left out"
  case negationDropped = "negation left out"
  case answerFlipped = "answer flipped"
}

/// A change that the finder has found possible; numbered once it is drawn.
struct Candidate {
  let kind: MutantKind
  /// Bytes of the file that the replacement takes the place of.
  let span: Range<Int>
  let line: Int
  let function: String
  let before: String
  let after: String
  /// The text that does either, by a condition.
  let replacement: (_ condition: String) -> String
}

/// A drawn mutant, as the list has it.
struct Mutant: Codable {
  let number: Int
  let folder: String
  let file: String
  let line: Int
  let function: String
  let kind: MutantKind
  let before: String
  let after: String
  /// Lines of the rewritten file, first and last, by which an error of the compiler is placed.
  var written: [Int]
}
