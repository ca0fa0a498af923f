// QueryNode+JSON.swift: a query read from JSON, by way of Fleece, whose reader is fuzzed.

import Fleece

extension QueryNode {
  /// Reads JSON.
  /// - Parameter text: The text of an array or a dict.
  /// - Throws: `DocumentQueryError` with code `.syntax` and line and column, or `.limit`.
  /// - Complexity: O(bytes).
  package init(json text: String) throws(DocumentQueryError) {
    let size = text.utf8.count
    guard size <= QueryLimits.sizeMaxBytes else {
      throw DocumentQueryError(
        .limit, "\(size) bytes > \(QueryLimits.sizeMaxBytes)", at: .root)
    }
    do {
      let bytes = try FleeceEncoder.bytes(ofJSON: text)
      var left = QueryLimits.nodesMax
      self = try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
        try QueryNode(root, at: QueryPlace.Link(parent: nil, step: .root), left: &left)
      }
      guard left >= 0 else {
        throw DocumentQueryError(.limit, "more than \(QueryLimits.nodesMax) values", at: .root)
      }
    } catch let error as DocumentQueryError {
      throw error
    } catch let error as FleeceError {
      throw Self.refusal(error)
    } catch {
      preconditionFailure("no other error is thrown")
    }
  }

  private static func refusal(_ error: FleeceError) -> DocumentQueryError {
    let place = error.position.map { QueryPlace.text(line: $0.line, column: $0.column) }
    let code: DocumentQueryError.Code = error.code == .limit ? .limit : .syntax
    return DocumentQueryError(code, error.message, at: place ?? .root)
  }

  // The depth is bounded by the reader of JSON.
  private init(
    _ value: FleeceValue, at link: QueryPlace.Link, left: inout Int
  ) throws(FleeceError) {
    place = .json(link)
    left -= 1
    guard left >= 0 else {
      self.value = .null
      return
    }
    switch value.kind {
    case .null, .undefined, .data: self.value = .null
    case .boolean: self.value = .boolean(value.boolean ?? false)
    case .integer:
      if let number = value.integer {
        self.value = .integer(number)
      } else {
        self.value = .unsigned(value.unsignedInteger ?? 0)
      }
    case .real: self.value = .real(value.double ?? 0)
    case .text: self.value = .text(value.text ?? "")
    case .array:
      var items: [QueryNode] = []
      if let array = value.array {
        for index in 0..<array.count {
          guard left >= 0, let item = try array.value(at: index) else { break }
          let link = QueryPlace.Link(parent: link, step: .index(index))
          items.append(try QueryNode(item, at: link, left: &left))
        }
      }
      self.value = .array(items)
    case .dict:
      var pairs: [Pair] = []
      if let dict = value.dict {
        for index in 0..<dict.count {
          guard left >= 0, case .text(let key) = try dict.key(at: index) else { break }
          let link = QueryPlace.Link(parent: link, step: .key(key.text))
          pairs.append(
            Pair(key.text, try QueryNode(dict.value(at: index), at: link, left: &left)))
        }
      }
      self.value = .dict(pairs)
    }
  }
}
