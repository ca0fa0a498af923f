// QueryPieces.swift: the parts of a typed query: words, arguments, and paths of properties, and how
// a condition on the objects of a collection becomes a subquery.

import Query

/// Words and arguments of a query, in their order.
enum QueryPiece {
  case words(String)
  case argument(Any?)
  case path(QueryNames)
}

/// A path of properties.
struct QueryNames {
  /// One step.
  enum Step: Hashable {
    case property(String)
    /// `@count` and its like.
    case operation(String)
    /// The value of a map's key.
    case key(String)
    /// An element of a list in a mixed value.
    case index(Int)
    /// All elements of a collection in a mixed value.
    case all
  }

  /// The variable of a subquery that it starts at; nil for the object of the query.
  var variable: String?
  var steps: [Step] = []
  /// The number of steps to the first collection, whose objects have the rest of the path; nil
  /// without one.
  var collectionEnd: Int?

  /// The path in words; keys are arguments.
  func pieces(_ write: (QueryPiece) -> Void) {
    var text = variable.map { "$\($0)" } ?? ""
    for step in steps {
      switch step {
      case .property(let name):
        let isFirst = text.isEmpty
        text += (isFirst ? "" : ".") + ParsedQuery.written(name: name, isFirst: isFirst)
      case .operation(let name): text += "." + name
      case .key(let key):
        write(.words(text + "["))
        write(.argument(key))
        text = "]"
      case .index(let index): text += "[\(index)]"
      case .all: text += "[*]"
      }
    }
    write(.words(text))
  }
}

/// A list of pieces.
struct QueryPieces {
  var all: [QueryPiece] = []

  /// The text and the arguments in their order.
  var text: (words: String, arguments: [Any?]) {
    var words = ""
    var arguments: [Any?] = []
    func write(_ piece: QueryPiece) {
      switch piece {
      case .words(let more): words += more
      case .argument(let value):
        words += "$\(arguments.count)"
        arguments.append(value)
      case .path(let names): names.pieces(write)
      }
    }
    for piece in all { write(piece) }
    return (words, arguments)
  }

  private static let opening = "SUBQUERY("

  /// The number of objects that meet the condition, in the one collection that it refers to.
  ///
  /// Properties of the object itself stay its own. A condition about no collection, or about
  /// several, stops the process.
  func counted() -> QueryPieces {
    var collection: [QueryNames.Step]?
    var subqueryCount = 0
    for piece in all {
      if case .words(Self.opening) = piece { subqueryCount += 1 }
      guard case .path(let names) = piece, let end = names.collectionEnd else { continue }
      let steps = Array(names.steps.prefix(end))
      guard collection == nil || collection == steps else {
        Misuse.stop(
          "a subquery counts the objects of one collection, and its condition is about two: "
            + "\(text.words); make a subquery of each")
      }
      collection = steps
    }
    guard let collection else {
      Misuse.stop(
        "a subquery counts the objects of a collection that meet a condition, as in "
          + "($0.dogs.age > 3).count, and this condition is about none: \(text.words)")
    }
    let variable = "x\(subqueryCount)"
    var pieces: [QueryPiece] = [
      .words(Self.opening), .path(QueryNames(steps: collection)), .words(", $\(variable), "),
    ]
    for piece in all {
      guard case .path(let names) = piece, let end = names.collectionEnd else {
        pieces.append(piece)
        continue
      }
      pieces.append(
        .path(QueryNames(variable: variable, steps: Array(names.steps.dropFirst(end)))))
    }
    return QueryPieces(all: pieces + [.words(").@count")])
  }
}
