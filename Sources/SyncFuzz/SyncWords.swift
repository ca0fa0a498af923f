// SyncWords.swift: entries in words, for findings.

import SyncCore

enum SyncWords {
  /// A line for each entry.
  static func lines(_ entries: [SyncEntry]) -> [String] {
    entries.map { entry in
      let changeset = entry.changeset
      var words = [
        "version \(entry.version.number) client \(changeset.client.number)",
        "sequence \(changeset.sequence) base \(changeset.base.number)",
        "stamp \(changeset.stamp.bits) barrier \(entry.barrier.number):",
      ]
      words += changeset.operations.map(text)
      if entry.refusal != nil { words.append("refused") }
      if let restated = entry.restated {
        words.append("restated to")
        words += restated.map { "\($0.source): \(text($0.operation))" }
      }
      if let resolved = entry.resolved {
        words.append("resolved to")
        words += resolved.map { "\($0.source): \(text($0.operation))" }
      }
      words += entry.overruled.map { "\($0.operation) \($0.cause) by \($0.by.number)" }
      return words.joined(separator: " ")
    }
  }

  private static func text(_ operation: SyncOperation) -> String {
    switch operation {
    case .create(let object): "create(\(text(object)))"
    case .delete(let object): "delete(\(text(object)))"
    case .change(let field, let change):
      "\(text(field.object))\(field.steps.map { ".\($0.property)\($0.place)" }.joined())"
        + ".\(field.property).\(text(change));"
    }
  }

  private static func text(_ object: SyncObject) -> String { "\(object.type)-\(object.key)" }

  private static func text(_ change: SyncChange) -> String {
    "\(change)".replacing("SyncCore.SyncValue.", with: "").replacing("SyncCore.", with: "")
  }
}
