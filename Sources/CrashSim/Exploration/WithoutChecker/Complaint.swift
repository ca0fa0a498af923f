// Complaint.swift: what is wrong with one file of a crash state, judged without a checker.

/// How bad a complaint is; the higher, the worse.
enum ComplaintLevel: Int, Sendable, Comparable, Codable {
  /// Only the program knows whether it minds.
  case note
  /// Data may be lost that the program shows no sign of protecting.
  case warning
  /// Data is lost that the program had, or had promised.
  case error

  static func < (a: ComplaintLevel, b: ComplaintLevel) -> Bool { a.rawValue < b.rawValue }

  var name: String {
    switch self {
    case .note: "note"
    case .warning: "warning"
    case .error: "error"
    }
  }
}

/// The rules, as docs/reference/judging.md names them.
enum JudgingRule: String, Sendable, CaseIterable, Codable {
  case unreadable
  case halfWritten = "half-written"
  case neither, mixed
  case wentBack = "went-back"
  case dangling

  /// What each promises, for findings.
  var promise: String {
    switch self {
    case .unreadable: "what could be opened before can be opened after a crash"
    case .halfWritten: "a file holds a content that the program completed"
    case .neither: "the old content is there until the new one is"
    case .mixed: "files that change together are of one time"
    case .wentBack: "what was printed as done survives"
    case .dangling: "a file that names another one leads to it"
    }
  }
}

/// One file of one state, and what is wrong with it.
struct Complaint: Sendable, Hashable {
  let level: ComplaintLevel
  let rule: JudgingRule
  let path: String
  /// A sentence without a full stop.
  let text: String
  /// What a reader says besides.
  var detail: String?
}
