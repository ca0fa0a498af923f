// BoundTree.swift: a query whose names are columns and whose operators fit the types. Links among
// values are `.typedLink` with the index of the table in the query's schema, wherever they come
// from, so that two of them are equal when they lead to the same row.

import Engine

/// A condition on columns.
indirect enum BoundPredicate: Sendable {
  case constant(Bool)
  case all([BoundPredicate])
  case any([BoundPredicate])
  case not(BoundPredicate)
  case comparison(BoundComparison)
}

extension BoundPredicate {
  /// Whether objects have to be looked up before it can be planned.
  var needsLookup: Bool {
    switch self {
    case .constant: false
    case .not(let member): member.needsLookup
    case .all(let members), .any(let members): members.contains(where: \.needsLookup)
    case .comparison(let comparison):
      comparison.left.needsLookup || comparison.right.needsLookup
    }
  }
}

/// The test of a comparison for a pair of values.
enum BoundOperator: Hashable, Sendable {
  case equal, notEqual, less, lessEqual, greater, greaterEqual
  case beginsWith, endsWith, contains, like
  /// The right operand is a list of both ends.
  case between
  /// The types have a bit in common, or none.
  case sharesType, sharesNoType
  /// The right operand is a text of words to look for.
  case text
  /// The left operand is a row with a point, the right one an area of the Earth.
  case within
}

/// Two operands that fit each other.
struct BoundComparison: Sendable {
  var left: BoundOperand
  /// The quantifier of a left operand with many values.
  var leftQuantifier: Quantifier
  var operation: BoundOperator
  var ignoresCase: Bool
  var ignoresMarks: Bool
  var right: BoundOperand
  var rightQuantifier: Quantifier
  /// Whether two collections are compared pair by pair, in order: without a quantifier.
  var isWhole: Bool
  /// The comparison as text, for `explain`.
  var text: String
  /// The bytes of a constant text on the right that is searched for exactly.
  var wantedBytes: [UInt8]?

  /// Whether texts are compared exactly.
  var isExact: Bool { !ignoresCase && !ignoresMarks }

  /// Whether it looks for a part of texts that is constant and empty.
  var searchesEmpty: Bool {
    switch operation {
    case .beginsWith, .endsWith, .contains: break
    default: return false
    }
    switch right.constant {
    case .string(let text): return text.isEmpty
    case .binary(let bytes): return bytes.isEmpty
    default: return false
    }
  }
}

/// An operand.
indirect enum BoundOperand: Sendable {
  case value(Value)
  /// A number with a fraction as written, until the other operand decides its type.
  case number(String)
  /// A row of a table by its primary key or by its own key, looked up when the query runs.
  case object(table: Int, key: Value, isRowKey: Bool)
  /// A link with the table as the database numbers it.
  case engineLink(table: UInt32, key: Int64)
  case list([BoundOperand])
  case path(BoundPath)
  case arithmetic(BoundOperand, [BoundTerm])
  case subquery(BoundSubquery)
  case words(WordSearch)
  case area(GeoArea)

  /// The constant that it is.
  var constant: Value? {
    if case .value(let value) = self { value } else { nil }
  }

  /// Whether objects have to be looked up before it has a value.
  var needsLookup: Bool {
    switch self {
    case .object, .engineLink: true
    case .list(let members): members.contains(where: \.needsLookup)
    case .subquery(let subquery): subquery.predicate.needsLookup
    case .value, .number, .path, .arithmetic, .words, .area: false
    }
  }
}

/// An operator and its right operand.
struct BoundTerm: Sendable {
  let arithmetic: ArithmeticOperator
  let operand: BoundOperand
}

/// Steps from a row to values.
struct BoundPath: Sendable {
  /// The row where it starts: 0 for the row of the query, then those of subqueries, from the
  /// outermost in.
  var origin: Int
  var steps: [BoundStep]
  var finish: PathFinish
  /// Whether steps can lead to several values.
  var isMany: Bool
  /// Whether aggregates are of values of any type.
  var isMixed = false
  /// What one scan finds out for all rows, if the planner saw that it can.
  var tally: Tally?
}

/// One step; all but the last one lead to rows.
enum BoundStep: Hashable, Sendable {
  case link(ColumnID)
  case links(ColumnID)
  case backlinks(ColumnID)
  /// One element of a collection; it is a row when the path continues.
  case element(ColumnID, ElementChoice, isFollowed: Bool)
  case value(ColumnID)
  /// What is in collections in mixed values: of a column's value, of one of its elements, or of
  /// all of them.
  case nested(ColumnID, ElementChoice?, [NestedChoice])
  case elements(ColumnID)
  case keys(ColumnID)
  case elementCount(ColumnID)
  /// How often any of these columns links to the row.
  case linkCount([ColumnID])
  /// The targets of a link property with this name, in rows of any table: the column of each table
  /// that has it, by the table's index.
  case namedLinks([ColumnID?])
  /// The values of a property of one name, in rows of any table.
  case named([ColumnID?])
  /// The row itself.
  case itself
}

/// Which element of a collection.
enum ElementChoice: Hashable, Sendable {
  case index(Int)
  case last
  case key(String)
}

/// Which elements of a collection in a mixed value.
enum NestedChoice: Hashable, Sendable {
  case one(ElementChoice)
  case all
}

/// The operation on the values at the end of a path.
enum PathFinish: Hashable, Sendable {
  /// `length` is of each value: the bytes of a text or binary; `linkCount` leaves nulls out.
  case none, count, linkCount, length, sum, average, minimum, maximum, type
}

/// A collection of rows, and a condition on each of them.
struct BoundSubquery: Sendable {
  let collection: BoundPath
  let predicate: BoundPredicate
  /// What one scan finds out for all rows, if the planner saw that it can.
  var tally: Tally?
}

/// A clause applied to the rows that were found.
enum BoundClause: Sendable {
  case sort([BoundSortKey])
  case distinct([BoundPath])
  case limit(Int)
}

/// A path to sort by.
struct BoundSortKey: Sendable {
  let path: BoundPath
  let isAscending: Bool
}
