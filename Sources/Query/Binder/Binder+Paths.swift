// Binder+Paths.swift: binds paths to columns. A named column stays pending until the next step
// determines how it is used: followed, indexed for one element, or read. After a mixed column the
// table of a row depends on the value, so the next name is looked up in every table.

import Engine

/// A path while its steps are read.
private struct PathBinding {
  /// The table of the rows that the steps so far lead to.
  var table: Int
  var steps: [BoundStep] = []
  var isMany = false
  /// The column that was named last and not used yet.
  var column: ColumnID?
  /// Which element of it.
  var choice: ElementChoice?
  /// Whether `[*]` or `@values` said that all elements of it are meant.
  var isSpread = false
  /// What of the collections in its values, or in those of its elements.
  var nested: [NestedChoice] = []
  /// The operation on all values.
  var finish = PathFinish.none
  /// Set by a step that must be the last one.
  var type: OperandType?
  /// Whether the rows are of any table, because a mixed column led to them.
  var isAnyTable = false
  /// The columns of the name that was read last and not used yet, by table, after a mixed column.
  var named: [ColumnID?]?
}

extension Binder {
  private func unfit(_ path: QueryPath, _ message: String) -> QueryError {
    QueryError(.type, "\(Self.text(path)): \(message)")
  }

  /// A path with the steps that its arguments name.
  ///
  /// One that begins with `$name` is a variable's when there is such a variable, else that of a
  /// property with the dollar in its name.
  private func expanded(_ path: QueryPath) throws(QueryError) -> (path: QueryPath, origin: Int) {
    var path = path
    if let name = path.variable, !scopes.contains(where: { $0.variable == name }) {
      guard schema.tables[scopes[0].table].hasProperty("$" + name) else {
        throw QueryError(
          .unknownName,
          "\(Self.text(path)): there is no variable $\(name) here, and no property of that name; "
            + "SUBQUERY(collection, $\(name), …) makes a variable")
      }
      path.variable = nil
      path.steps.insert(.property("$" + name), at: 0)
    }
    let origin = scopes.lastIndex { $0.variable == path.variable } ?? 0
    var hasNames = false
    for case .pathArgument in path.steps { hasNames = true }
    guard hasNames else { return (path, origin) }
    var steps: [QueryStep] = []
    for step in path.steps {
      guard case .pathArgument(let number) = step else {
        steps.append(step)
        continue
      }
      guard case .string(let name) = try argument(number),
        let named = Parser.steps(ofKeyPath: name)
      else {
        throw QueryError(
          .argument,
          "\(Self.text(path)): $K\(number) needs the path of a property as argument \(number), a "
            + "text such as \"name\" or \"owner.name\"")
      }
      steps += named
    }
    guard steps.count <= QueryLimits.pathStepsMax else {
      throw QueryError(
        .limit, "\(Self.text(path)): a path has more than \(QueryLimits.pathStepsMax) steps")
    }
    path.steps = steps
    return (path, origin)
  }

  /// Binds a path.
  func bind(_ written: QueryPath) throws(QueryError) -> (path: BoundPath, type: OperandType) {
    let (path, origin) = try expanded(written)
    var binding = PathBinding(table: scopes[origin].table)
    for (index, step) in path.steps.enumerated() {
      guard binding.type == nil else {
        throw unfit(path, "nothing can follow the step before the last one")
      }
      try take(step, isLast: index == path.steps.count - 1, &binding, path)
    }
    let type = try end(&binding, path)
    let isReduced: Bool
    switch binding.finish {
    case .none, .type, .length: isReduced = false
    default: isReduced = true
    }
    let bound = BoundPath(
      origin: origin, steps: binding.steps, finish: binding.finish,
      isMany: binding.isMany && !isReduced, isMixed: type == .mixed)
    return (bound, type)
  }

  private func take(
    _ step: QueryStep, isLast: Bool, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    if case .linkCount? = binding.steps.last {
      guard step == .operation(.count) || step == .operation(.size) else {
        throw unfit(path, "@count comes after @links, or the name of a class")
      }
      binding.type = .int
      return
    }
    switch step {
    case .property("length") where hasLength(binding):
      guard isLast else { throw unfit(path, "nothing may come after .length") }
      guard binding.finish == .none else {
        throw unfit(path, "one aggregate in a path, not .length after another")
      }
      binding.finish = .length
    case .property(let name): try takeProperty(name, &binding, path)
    case .backlinks(let origin, let property):
      try follow(&binding, path)
      try takeBacklinks(origin, property, &binding, path)
    case .links:
      try follow(&binding, path)
      guard !binding.isAnyTable else {
        throw unfit(path, "@links comes after links to one class, not after a mixed property")
      }
      var columns: [ColumnID] = []
      for (table, origin) in schema.tables.enumerated() {
        for (column, other) in origin.schema.columns.enumerated()
        where other.target == schema.tables[binding.table].schema.name {
          columns.append(ColumnID(table: table, column: column))
        }
      }
      binding.steps.append(.linkCount(columns))
    case .index(let index): try choose(.index(index), &binding, path)
    case .firstElement: try choose(.index(0), &binding, path)
    case .lastElement: try choose(.last, &binding, path)
    case .allElements where isInMixed(binding): binding.nested.append(.all)
    case .allElements:
      guard let column = binding.column, binding.choice == nil, !binding.isSpread,
        schema.column(column).collection != .none
      else { throw unfit(path, "[*] comes after a collection" + mixedNote(binding)) }
      binding.isSpread = true
    case .pathArgument: preconditionFailure("arguments were expanded above")
    case .key(let key): try choose(.key(key), &binding, path)
    case .argument(let number):
      switch try argument(number) {
      case .int(let index): try choose(.index(Int(clamping: index)), &binding, path)
      case .string(let key): try choose(.key(key), &binding, path)
      default: throw unfit(path, "[$\(number)] needs an int or a string as argument \(number)")
      }
    case .elementCount:
      guard let column = binding.column, binding.choice == nil,
        schema.column(column).collection != .none
      else { return try takeOperation(.size, isLast, &binding, path) }
      binding.steps.append(.elementCount(column))
      binding.column = nil
      binding.type = .int
    case .operation(let operation): try takeOperation(operation, isLast, &binding, path)
    }
  }

  /// Whether `.length` is that of texts or binaries here, and no property.
  private func hasLength(_ binding: PathBinding) -> Bool {
    let columns = binding.named?.compactMap { $0 } ?? binding.column.map { [$0] } ?? []
    guard let first = columns.first else { return false }
    if binding.named == nil {
      switch schema.column(first).type {
      case .string, .binary: return true
      case .mixed: break
      default: return false
      }
    }
    return !schema.tables.contains { $0.column(named: "length") != nil }
  }

  /// Whether the next brackets are those of a collection in a mixed value.
  private func isInMixed(_ binding: PathBinding) -> Bool {
    guard schema.mixedCollections != nil, let column = binding.column,
      schema.column(column).type == .mixed
    else { return false }
    return schema.column(column).collection == .none || binding.choice != nil || binding.isSpread
  }

  /// What to add to a message about brackets after a value of any type.
  private func mixedNote(_ binding: PathBinding) -> String {
    guard let column = binding.column ?? binding.named?.compactMap({ $0 }).first,
      binding.named != nil || schema.column(column).type == .mixed
    else { return "" }
    return "; a value of type mixed holds no collection"
  }

  private func takeProperty(
    _ name: String, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    if let column = binding.column, binding.choice == nil, !binding.isSpread,
      schema.column(column).collection == .dictionary, schema.column(column).type != .link
    {
      binding.choice = .key(name)
      return
    }
    // A name that no class has a property of is a key.
    if isInMixed(binding), !schema.tables.contains(where: { $0.column(named: name) != nil }) {
      binding.nested.append(.one(.key(name)))
      return
    }
    try follow(&binding, path)
    guard !binding.isAnyTable else {
      let columns = schema.tables.enumerated().map { table, definition in
        definition.column(named: name).map { ColumnID(table: table, column: $0) }
      }
      guard columns.contains(where: { $0 != nil }) else {
        throw QueryError(
          .unknownName, "\(Self.text(path)): no class has a property \"\(name)\" of its own")
      }
      binding.named = columns
      return
    }
    let table = schema.tables[binding.table]
    if let column = table.column(named: name) {
      binding.column = ColumnID(table: binding.table, column: column)
      return
    }
    guard let backlink = table.backlinks.first(where: { $0.name == name }) else {
      throw QueryError(
        .unknownName,
        "\(Self.text(path)): \(table.schema.name) has no property \"\(name)\"; it has "
          + table.names)
    }
    try takeBacklinks(backlink.originTable, backlink.originColumn, &binding, path)
  }

  private func takeBacklinks(
    _ origin: String, _ property: String, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    guard !binding.isAnyTable else {
      throw unfit(path, "@links comes after links to one class, not after a mixed property")
    }
    let table = try schema.table(named: origin)
    let target = schema.tables[binding.table].schema.name
    guard let column = schema.tables[table].column(named: property) else {
      throw QueryError(
        .unknownName,
        "\(Self.text(path)): \(origin) has no property \"\(property)\"; it has "
          + schema.tables[table].names)
    }
    let id = ColumnID(table: table, column: column)
    guard schema.column(id).target == target else {
      throw unfit(
        path, "\(schema.name(id)) is \(described(id)), which does not link to \(target)")
    }
    binding.steps.append(.backlinks(id))
    binding.table = table
    binding.isMany = true
  }

  private func takeOperation(
    _ operation: PathOperation, _ isLast: Bool, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    guard binding.finish == .none else {
      throw unfit(path, "one aggregate in a path, not @\(operation.rawValue) after another")
    }
    switch operation {
    case .keys, .values:
      guard let column = binding.column, binding.choice == nil, !binding.isSpread,
        schema.column(column).collection == .dictionary
      else {
        throw unfit(path, "@\(operation.rawValue) comes after a dictionary")
      }
      guard operation == .keys else {
        binding.isSpread = true
        return
      }
      binding.steps.append(.keys(column))
      binding.column = nil
      binding.isMany = true
      guard isLast else {
        throw unfit(path, "nothing may come after @keys")
      }
      binding.type = .string
    case .count, .size, .type:
      guard isLast else { throw unfit(path, "nothing may come after @\(operation.rawValue)") }
      binding.finish = operation == .type ? .type : .count
    case .sum: binding.finish = .sum
    case .avg: binding.finish = .average
    case .min: binding.finish = .minimum
    case .max: binding.finish = .maximum
    }
  }

  private func choose(
    _ choice: ElementChoice, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    if isInMixed(binding) {
      binding.nested.append(.one(choice))
      return
    }
    guard let column = binding.column, binding.choice == nil, !binding.isSpread else {
      throw unfit(path, "[…] comes after a list or a dictionary" + mixedNote(binding))
    }
    let kind = schema.column(column).collection
    let isKey = if case .key = choice { true } else { false }
    guard kind == (isKey ? .dictionary : .list) else {
      throw unfit(
        path,
        "\(schema.name(column)) is \(described(column)); an index comes after a list, a key in "
          + "quotes after a dictionary" + (kind == .none ? mixedNote(binding) : ""))
    }
    binding.choice = choice
  }

  /// Moves from the pending column to the rows it links to.
  private func follow(_ binding: inout PathBinding, _ path: QueryPath) throws(QueryError) {
    if let columns = binding.named { return try follow(columns, &binding, path) }
    guard let column = binding.column else { return }
    let definition = schema.column(column)
    guard definition.type == .link || definition.type == .mixed else {
      throw unfit(
        path, "\(schema.name(column)) is \(described(column)); only links have properties")
    }
    if !binding.nested.isEmpty {
      takeNested(column, &binding)
    } else if let choice = binding.choice {
      binding.steps.append(.element(column, choice, isFollowed: true))
    } else if definition.collection == .none {
      binding.steps.append(.link(column))
    } else {
      binding.steps.append(.links(column))
      binding.isMany = true
    }
    if let target = definition.target {
      binding.table = try schema.table(named: target)
    } else {
      binding.isAnyTable = true
    }
    binding.column = nil
    binding.choice = nil
    binding.isSpread = false
  }

  /// Reads what was chosen of collections in a column's values.
  private func takeNested(_ column: ColumnID, _ binding: inout PathBinding) {
    binding.steps.append(.nested(column, binding.choice, binding.nested))
    let isOne = binding.choice != nil || schema.column(column).collection == .none
    if !isOne || binding.nested.contains(.all) { binding.isMany = true }
    binding.nested = []
  }

  /// Continues from a property of rows of any table.
  private func follow(
    _ columns: [ColumnID?], _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) {
    let definitions = columns.compactMap { $0 }.map(schema.column)
    guard definitions.contains(where: { $0.type == .link || $0.type == .mixed }) else {
      throw unfit(path, "no class has links under \(definitions[0].name)")
    }
    binding.steps.append(.namedLinks(columns))
    if definitions.contains(where: { $0.collection != .none }) { binding.isMany = true }
    binding.named = nil
  }

  /// Reads the pending column, and checks the operation on its values.
  private func end(_ binding: inout PathBinding, _ path: QueryPath) throws(QueryError)
    -> OperandType
  {
    if case .linkCount? = binding.steps.last, binding.type != nil {
      // Over all rows that the path leads to.
      if binding.steps.count > 1 { binding.finish = .sum }
      return .int
    }
    var type = binding.type ?? .object(binding.isAnyTable ? nil : binding.table)
    if let columns = binding.named {
      binding.steps.append(.named(columns))
      let definitions = columns.compactMap { $0 }.map(schema.column)
      if definitions.contains(where: { $0.collection != .none }) { binding.isMany = true }
      type = .mixed
    } else if let column = binding.column {
      let definition = schema.column(column)
      let target: Int? =
        if let name = definition.target { try schema.table(named: name) } else { nil }
      type = OperandType(definition.type, target: target)
      if !binding.nested.isEmpty {
        takeNested(column, &binding)
      } else if let choice = binding.choice {
        binding.steps.append(.element(column, choice, isFollowed: false))
      } else if definition.collection == .none {
        binding.steps.append(.value(column))
      } else {
        binding.steps.append(.elements(column))
        binding.isMany = true
      }
    } else if binding.type == nil {
      if case .linkCount? = binding.steps.last {
        throw unfit(path, "@links needs .@count, or the name of a class and its property")
      }
      binding.steps.append(.itself)
    }
    return try finished(type, &binding, path)
  }

  private func finished(
    _ type: OperandType, _ binding: inout PathBinding, _ path: QueryPath
  ) throws(QueryError) -> OperandType {
    switch binding.finish {
    case .none: return type
    case .type: return .typeName
    case .length: return .int
    case .count, .linkCount:
      switch (type, binding.steps.last) {
      case (.object, .value?), (.object, .element?): binding.finish = .linkCount
      case _ where binding.isMany: break
      case (.object, _): binding.finish = .linkCount
      case (.string, _), (.binary, _), (.mixed, _): binding.finish = .length
      default:
        throw unfit(
          path,
          "@count is for collections, links, strings and binaries, not "
            + type.named(schema))
      }
      return .int
    case .sum, .average, .minimum, .maximum:
      let isExtreme = binding.finish == .minimum || binding.finish == .maximum
      guard binding.isMany else { throw unfit(path, "an aggregate comes after a collection") }
      guard type.isNumeric || type == .mixed || type == .date && isExtreme else {
        throw unfit(
          path,
          "an aggregate is for numbers\(isExtreme ? " and dates" : ""), not "
            + type.named(schema))
      }
      if isExtreme || type == .mixed { return type }
      if binding.finish == .average { return type == .decimal ? .decimal : .double }
      return type == .float ? .double : type
    }
  }

  /// The type of a column in words.
  func described(_ id: ColumnID) -> String {
    let column = schema.column(id)
    let collection = column.collection == .none ? "" : "\(column.collection) of "
    return "\(collection)\(column.type)" + (column.target.map { " to \($0)" } ?? "")
  }
}
