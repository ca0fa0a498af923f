// IndexPlan+FullText.swift: full-text indexes: a table of SQLite's FTS4 with a column for each
// property, whose row IDs are those of the documents.

extension IndexPlan {
  mutating func planFullText(
    _ wanted: IndexSpecification, _ options: FullTextOptions, _ store: KeyStoreName
  ) throws(DocumentStoreError) {
    let new = try Self.translate(wanted, rows: .texts, body: "new.body")
    let old = try Self.translate(wanted, rows: .texts, body: "old.body")
    var columns: [String] = []
    for path in new.paths {
      guard let path, !path.isEmpty, !path.contains("\"") else {
        throw Self.invalid(wanted, "a full-text index is of properties, without \" in their names")
      }
      columns.append("\"\(path)\"")
    }
    guard !columns.isEmpty else {
      throw Self.invalid(wanted, "a full-text index needs a property")
    }
    let name = IndexNames.fullText(wanted.name, in: store)
    let table = identifier(name)
    let (list, texts) = (
      columns.joined(separator: ", "), new.expressions.joined(separator: ", ")
    )
    let isNew = Self.condition(new.condition, prefix: "new.", store)
    let wasOld = Self.condition(old.condition, prefix: "old.", store)
    let parent = identifier(store.table)
    let insert = "INSERT INTO \(table) (docid, \(list)) VALUES (new.rowid, \(texts))"
    let delete = "DELETE FROM \(table) WHERE docid = old.rowid"
    tables = [
      Table(
        name: name,
        sql: "CREATE VIRTUAL TABLE \(table) USING fts4(\(list), \(try Self.tokenizer(options)))",
        columns: "docid, \(list)",
        rows: "SELECT new.rowid AS docid, \(texts) FROM \(parent) AS new"
          + (isNew.isEmpty ? "" : " WHERE \(isNew)"),
        triggers: [
          Self.trigger(name, "ins", at: "AFTER INSERT", on: parent, when: isNew, do: insert),
          Self.trigger(name, "del", at: "AFTER DELETE", on: parent, when: wasOld, do: delete),
          Self.trigger(
            name, "preupdate", at: "BEFORE UPDATE OF body", on: parent, when: wasOld, do: delete),
          Self.trigger(
            name, "postupdate", at: "AFTER UPDATE OF body", on: parent, when: isNew, do: insert),
        ])
    ]
    listedTable = name
  }

  /// The tokenizer's name and options.
  private static func tokenizer(_ options: FullTextOptions) throws(DocumentStoreError) -> String {
    var text = "tokenize=unicodesn"
    let language = options.language.map { String($0.prefix { $0 != "_" }) }
    if let language, !language.utf8.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) }) {
      throw DocumentStoreError(
        .invalidParameter, "\(quoted(language)) is not a language; name it by two letters")
    }
    if let words = options.stopWords {
      let plain = words.map { "\",\0".contains($0) ? " " : String($0) }.joined()
      text += " \"stopwordlist=\(plain)\""
    } else if let language {
      text += " \"stopwords=\(language)\""
    }
    // A language without a stemmer is indexed anyway, as with the real library.
    if let language, options.stems, Connection.hasStemmer(language) {
      text += " \"stemmer=\(language)\""
    }
    if !options.ignoresDiacritics { text += " \"remove_diacritics=0\"" }
    return text
  }
}
