// QueryPrinter.swift: prints a tree as text. Parentheses are added where the tree has a node that
// the grammar would not make without them, so that the text parses to an equal tree.

import Engine

/// Writes a tree down.
struct QueryPrinter {
  private(set) var text = ""

  private mutating func write(_ part: String) { text += part }

  // MARK: queries

  mutating func print(_ query: ParsedQuery) {
    print(query.predicate)
    for clause in query.clauses {
      write(" ")
      switch clause {
      case .sort(let keys):
        write("SORT(")
        join(keys) { printer, key in
          printer.print(key.path)
          printer.write(key.isAscending ? " ASC" : " DESC")
        }
        write(")")
      case .distinct(let paths):
        write("DISTINCT(")
        join(paths) { $0.print($1) }
        write(")")
      case .limit(let count): write("LIMIT(\(count))")
      }
    }
  }

  private mutating func join<Member>(
    _ members: [Member], _ separator: String = ", ", _ body: (inout QueryPrinter, Member) -> Void
  ) {
    for (index, member) in members.enumerated() {
      if index > 0 { write(separator) }
      body(&self, member)
    }
  }

  // MARK: conditions

  mutating func print(_ predicate: QueryPredicate) {
    switch predicate {
    case .constant(let isTrue): write(isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE")
    case .all(let members):
      join(members, " AND ") { printer, member in
        if case .any = member { return printer.printNested(member) }
        if case .all = member { return printer.printNested(member) }
        printer.print(member)
      }
    case .any(let members):
      join(members, " OR ") { printer, member in
        if case .any = member { return printer.printNested(member) }
        printer.print(member)
      }
    case .not(let member):
      write("NOT ")
      switch member {
      case .all, .any: printNested(member)
      default: print(member)
      }
    case .comparison(let comparison): print(comparison)
    }
  }

  private mutating func printNested(_ predicate: QueryPredicate) {
    write("(")
    print(predicate)
    write(")")
  }

  private mutating func print(_ comparison: QueryComparison) {
    if let quantifier = comparison.leftQuantifier { write(quantifier.rawValue + " ") }
    print(comparison.left)
    write(" " + comparison.comparison.rawValue + Self.options(comparison))
    if let quantifier = comparison.rightQuantifier { write(quantifier.rawValue + " ") }
    print(comparison.right)
  }

  /// `[c]`, `[d]`, `[cd]` or nothing, and the space after an operator.
  private static func options(_ comparison: QueryComparison) -> String {
    switch (comparison.ignoresCase, comparison.ignoresMarks) {
    case (false, false): " "
    case (true, false): "[c] "
    case (false, true): "[d] "
    case (true, true): "[cd] "
    }
  }

  // MARK: operands

  mutating func print(_ operand: QueryOperand) {
    switch operand {
    case .literal(let literal): print(literal)
    case .argument(let number): write("$\(number)")
    case .list(let members):
      write("{")
      join(members) { $0.print($1) }
      write("}")
    case .path(let path): print(path)
    case .arithmetic(let first, let terms):
      let isProduct = terms.first?.arithmetic.isProduct ?? false
      printTerm(first, inProduct: isProduct)
      for term in terms {
        write(" \(term.arithmetic.rawValue) ")
        printTerm(term.operand, inProduct: isProduct)
      }
    case .subquery(let subquery):
      write("SUBQUERY(")
      print(subquery.collection)
      write(", $\(subquery.variable), ")
      print(subquery.predicate)
      write(").@count")
    case .shape(let shape): print(shape)
    }
  }

  private mutating func printTerm(_ operand: QueryOperand, inProduct: Bool) {
    guard case .arithmetic(_, let terms) = operand,
      inProduct || !(terms.first?.arithmetic.isProduct ?? false)
    else { return print(operand) }
    write("(")
    print(operand)
    write(")")
  }

  mutating func print(_ path: QueryPath) {
    var isFirst = true
    if let variable = path.variable {
      write("$" + variable)
      isFirst = false
    } else if path.startsAtItself {
      write("SELF")
      isFirst = false
    }
    for step in path.steps {
      switch step {
      case .index(let index): write("[\(index)]")
      case .firstElement: write("[FIRST]")
      case .lastElement: write("[LAST]")
      case .allElements: write("[*]")
      case .elementCount: write("[SIZE]")
      case .key(let key):
        write("[")
        write(Self.quoted(key))
        write("]")
      case .argument(let number): write("[$\(number)]")
      case .property, .backlinks, .links, .operation, .pathArgument:
        if !isFirst { write(".") }
        write(Self.named(step, isFirst: isFirst))
      }
      isFirst = false
    }
  }

  private static func named(_ step: QueryStep, isFirst: Bool) -> String {
    switch step {
    case .property(let name): self.name(name, canBeReserved: !isFirst)
    case .backlinks(let table, let property):
      "@links.\(name(table, canBeReserved: true)).\(name(property, canBeReserved: true))"
    case .links: "@links"
    case .operation(let operation): "@" + operation.rawValue
    case .pathArgument(let number): "$K\(number)"
    default: ""
    }
  }

  private mutating func print(_ shape: QueryShape) {
    switch shape {
    case .box(let first, let second):
      write("geoBox(")
      join([first, second]) { $0.print($1) }
    case .circle(let centre, let radius):
      write("geoCircle(")
      print(centre)
      write(", ")
      print(radius)
    case .polygon(let rings):
      write("geoPolygon(")
      join(rings) { printer, ring in
        printer.write("{")
        printer.join(ring) { $0.print($1) }
        printer.write("}")
      }
    }
    write(")")
  }

  private mutating func print(_ point: QueryPoint) {
    write("[")
    print(point.longitude)
    write(", ")
    print(point.latitude)
    write("]")
  }

  private mutating func print(_ literal: QueryLiteral) {
    switch literal {
    case .value(let value): write(Self.written(value))
    case .number(let text): write(text)
    case .object(let table, let key, let isRowKey):
      write("obj(" + Self.quoted(table) + ", ")
      if isRowKey { write("O") }
      write(Self.written(key))
      write(")")
    }
  }
}
