// PersistenceModel+Parameters.swift: the parameters of a model as words, for files and replay
// tokens, and the combinations that the mechanism supports.
// Invariant: every parameter of a model is in `ModelParameter.all` with all its values, so that a
// model is fully described by its name, its version and one word for each.

import LabCore

/// One parameter of a persistence model, as a user writes it.
public struct ModelParameter: Sendable {
  /// The key.
  public let key: String
  /// Its possible values.
  public let words: [String]
  /// The value in a model.
  public let word: @Sendable (PersistenceModel) -> String
  /// Changes a model; the word must be one of `words`.
  package let set: @Sendable (inout PersistenceModel, String) -> Void

  private static func flag(
    _ key: String, _ path: WritableKeyPath<PersistenceModel, Bool> & Sendable
  ) -> ModelParameter {
    ModelParameter(
      key: key, words: ["true", "false"], word: { $0[keyPath: path] ? "true" : "false" },
      set: { $0[keyPath: path] = $1 == "true" })
  }

  private static func choice<Value: RawRepresentable<String> & CaseIterable & SendableMetatype>(
    _ key: String, _ path: WritableKeyPath<PersistenceModel, Value> & Sendable
  ) -> ModelParameter {
    ModelParameter(
      key: key, words: Value.allCases.map(\.rawValue), word: { $0[keyPath: path].rawValue },
      set: { if let value = Value(rawValue: $1) { $0[keyPath: path] = value } })
  }

  /// A model's value for a key; empty for an unknown key.
  package static func word(of key: String, in model: PersistenceModel) -> String {
    all.first { $0.key == key }?.word(model) ?? ""
  }

  /// All parameters, in the order in which messages list them.
  public static let all: [ModelParameter] = [
    ModelParameter(
      key: "dataUnitBytes", words: ["512", "1024", "2048", "4096"],
      word: { "\($0.dataUnitBytes)" },
      set: { $0.dataUnitBytes = Int($1) ?? $0.dataUnitBytes }),
    choice("metadataOrder", \.metadataOrder),
    choice("dataOrder", \.dataOrder),
    choice("syncCoverage", \.syncCoverage),
    flag("delayedAllocation", \.delayedAllocation),
    flag("renameIsAtomic", \.renameIsAtomic),
    flag("appendIsAtomic", \.appendIsAtomic),
    choice("dataBeforeGrowth", \.dataBeforeGrowth),
    flag("shrinkIsAtomic", \.shrinkIsAtomic),
    flag("safeReplaceByRename", \.safeReplaceByRename),
    flag("safeCloseAfterTruncate", \.safeCloseAfterTruncate),
    flag("failedSyncDropsData", \.failedSyncDropsData),
    ModelParameter(
      key: "sectorBytes", words: ["none", "512"],
      word: { $0.sectorBytes.map { "\($0)" } ?? "none" }, set: { $0.sectorBytes = Int($1) }),
    flag("powersafeOverwrite", \.powersafeOverwrite),
    flag("sectorOverwriteIsAtomic", \.sectorOverwriteIsAtomic),
    choice("staleBytes", \.staleBytes),
  ]
}

/// Two parameters of one model that contradict each other.
public struct ModelConflict: Sendable, Hashable {
  /// The parameter to change, unless the other one is changed.
  public let key: String
  /// The problem and its remedy.
  public let message: String
}

extension PersistenceModel {
  /// Longest name.
  package static let nameLettersMax = 40

  /// Combinations that the mechanism does not support; empty for a valid model.
  public var conflicts: [ModelConflict] {
    var found: [ModelConflict] = []
    func demand(_ isGood: Bool, _ key: String, _ message: String) {
      if !isGood { found.append(ModelConflict(key: key, message: message)) }
    }
    let isTotal = metadataOrder == .total
    let hasJournal = metadataOrder == .journal
    if isTotal {
      demand(
        syncCoverage == .everything, "syncCoverage",
        "with metadataOrder: total a sync covers all before it; write everything")
      demand(renameIsAtomic, "renameIsAtomic", "metadataOrder: total makes it true")
      demand(appendIsAtomic, "appendIsAtomic", "metadataOrder: total makes it true")
      demand(shrinkIsAtomic, "shrinkIsAtomic", "metadataOrder: total makes it true")
      demand(
        dataOrder == .unordered, "dataOrder",
        "metadataOrder: total orders data already; write unordered")
      demand(
        sectorBytes == nil, "sectorBytes",
        "with metadataOrder: total no write is torn; write none")
      demand(
        !failedSyncDropsData, "failedSyncDropsData",
        "with metadataOrder: total no operation can be dropped; write false")
    }
    demand(
      syncCoverage != .journalOfInode || hasJournal, "syncCoverage",
      "journalOfInode needs metadataOrder: journal")
    demand(
      ![.journal, .afterMetadata].contains(dataOrder) || hasJournal, "dataOrder",
      "\(dataOrder.rawValue) needs metadataOrder: journal")
    if dataOrder == .journal { conflictsOfJournaledData(demand) }
    demand(
      delayedAllocation || hasJournal, "delayedAllocation",
      "false puts sizes into the journal, which needs metadataOrder: journal")
    demand(
      !safeReplaceByRename || renameIsAtomic, "safeReplaceByRename",
      "it needs renameIsAtomic: true")
    demand(
      !safeCloseAfterTruncate || hasJournal || isTotal, "safeCloseAfterTruncate",
      "it needs metadataOrder: journal, whose next entry waits for the data")
    demand(
      powersafeOverwrite || sectorBytes != nil, "powersafeOverwrite",
      "false damages sectors, which needs sectorBytes")
    demand(
      sectorOverwriteIsAtomic || sectorBytes != nil, "sectorOverwriteIsAtomic",
      "false damages sectors, which needs sectorBytes")
    demand(
      powersafeOverwrite || !sectorOverwriteIsAtomic, "sectorOverwriteIsAtomic",
      "with powersafeOverwrite: false no sector is safe; write false")
    demand(
      sectorOverwriteIsAtomic || staleBytes == .anywhere, "staleBytes",
      "sectorOverwriteIsAtomic: false damages every sector in flight; write anywhere")
    return found
  }

  private func conflictsOfJournaledData(_ demand: (Bool, String, String) -> Void) {
    demand(
      dataUnitBytes == 4096, "dataUnitBytes",
      "with dataOrder: journal each page is one entry of the journal; write 4096")
    demand(
      !delayedAllocation, "delayedAllocation",
      "with dataOrder: journal pages are allocated at once; write false")
    demand(
      dataBeforeGrowth == .wholeWrite, "dataBeforeGrowth",
      "with dataOrder: journal a size comes with its data; write wholeWrite")
    demand(
      shrinkIsAtomic, "shrinkIsAtomic",
      "with dataOrder: journal a truncate and its zeros are one entry; write true")
    demand(
      sectorBytes == nil, "sectorBytes",
      "with dataOrder: journal no page is torn; write none")
    demand(
      !failedSyncDropsData, "failedSyncDropsData",
      "with dataOrder: journal the journal keeps the data; write false")
    demand(
      syncCoverage != .object && syncCoverage != .objectAndNames, "syncCoverage",
      "with dataOrder: journal a sync commits the journal; write journalOfInode or everything")
  }

  /// True for a name that `--model` accepts.
  package static func isPlain(name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= nameLettersMax
      && name.utf8.allSatisfy { byte in
        (97...122).contains(byte) || (48...57).contains(byte) || byte == 45
      }
  }

  /// Rejects parameters that the mechanism does not support.
  /// - Throws: `LabError` with code `.usage`.
  public func validate() throws(LabError) {
    guard Self.isPlain(name: name) else {
      throw .usage(
        "model name '\(name.prefix(60))': use 1 to \(Self.nameLettersMax) lower case letters, "
          + "digits and '-' only")
    }
    for parameter in ModelParameter.all {
      let word = parameter.word(self)
      guard parameter.words.contains(word) else {
        throw .usage(
          "model \(name): \(parameter.key)=\(word), must be one of "
            + parameter.words.joined(separator: ", "))
      }
    }
    if let conflict = conflicts.first {
      throw .usage("model \(name): \(conflict.key): \(conflict.message)")
    }
  }

  // MARK: A model as one word

  /// The model as one word without commas, as accepted in replay tokens and by `--model`: the name
  /// of a stock model, or `name@version:key=value;…` with every parameter that differs from
  /// `posix`.
  public var specification: String {
    if Self.named(name) == self { return name }
    let base = PersistenceModel.posix
    let differences = ModelParameter.all.filter { $0.word(self) != $0.word(base) }
      .map { "\($0.key)=\($0.word(self))" }
    return "\(name)@\(version):" + differences.joined(separator: ";")
  }

  /// The name of the model that a specification describes.
  package static func name(ofSpecification text: String) -> String {
    String(text.prefix { $0 != "@" })
  }

  /// The model of a specification that is not a plain name.
  static func parse(specification text: String) throws(LabError) -> PersistenceModel {
    guard let colon = text.firstIndex(of: ":") else {
      throw .usage("'\(text.prefix(60))' is not a model; write name@version:key=value;…")
    }
    let head = text[..<colon].split(separator: "@", omittingEmptySubsequences: false)
    guard head.count == 2, let version = Int(head[1]), version > 0 else {
      throw .usage("model '\(text.prefix(60))': write name@version before ':', as in mine@1")
    }
    var model = PersistenceModel.posix
    model.name = String(head[0])
    model.version = version
    for part in text[text.index(after: colon)...].split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, let parameter = ModelParameter.all.first(where: { $0.key == pair[0] })
      else {
        throw .usage(
          "model \(model.name.prefix(60)): '\(part.prefix(60))' sets no parameter; use "
            + ModelParameter.all.map(\.key).joined(separator: ", "))
      }
      guard parameter.words.contains(String(pair[1])) else {
        throw .usage(
          "model \(model.name.prefix(60)): \(parameter.key)=\(pair[1].prefix(60)), must be one of "
            + parameter.words.joined(separator: ", "))
      }
      parameter.set(&model, String(pair[1]))
    }
    guard named(model.name) == nil else {
      throw .usage("model '\(model.name)' is a stock model; give yours another name")
    }
    try model.validate()
    return model
  }
}
