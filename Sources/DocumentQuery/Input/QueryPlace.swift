// QueryPlace.swift: positions in a query, for errors. Positions in JSON are links to their parents,
// so that a deep query costs one object per node and no text.

/// A place in a query.
package enum QueryPlace: Sendable, CustomStringConvertible {
  /// A node of JSON.
  case json(Link)
  /// A line and a column of a text, from 1.
  case text(line: Int, column: Int)

  /// A step from the outermost node.
  package final class Link: Sendable {
    let parent: Link?
    let step: Step

    init(parent: Link?, step: Step) {
      self.parent = parent
      self.step = step
    }
  }

  /// A key or an index.
  enum Step: Sendable {
    case root
    case key(String)
    case index(Int)
  }

  /// The whole query.
  package static let root = QueryPlace.json(Link(parent: nil, step: .root))

  /// A path such as `$.WHERE[1]`, or `line:column`.
  package var description: String {
    switch self {
    case .text(let line, let column): return "\(line):\(column)"
    case .json(let link):
      var (parts, next): ([String], Link?) = ([], link)
      while let link = next {
        switch link.step {
        case .root: parts.append("$")
        case .key(let key): parts.append(".\(key.prefix(60))")
        case .index(let index): parts.append("[\(index)]")
        }
        next = link.parent
      }
      return parts.reversed().joined()
    }
  }
}
