// OperationCoding.swift: operations as bytes (docs/reference/sync-format.md, section 3). An
// operation encodes its object and field only as far as they differ from those of the previous
// operation.

/// Writes operations one after another.
struct OperationWriter {
  var body = ByteWriter()
  private var names: NameTable? = NameTable()
  private var object: SyncObject?
  private var field: SyncField?

  /// The names that the operations use.
  var nameTable: [SyncText] { names?.names ?? [] }

  mutating func append(_ operations: [SourcedOperation], isSourced: Bool) {
    body.append(count: operations.count)
    (object, field) = (nil, nil)
    var source = 0
    for operation in operations {
      if isSourced {
        body.append(count: operation.source - source)
        source = operation.source
      }
      append(operation.operation)
    }
  }

  mutating func append(_ operation: SyncOperation) {
    switch operation {
    case .create(let object): append(kind: 0, object)
    case .delete(let object): append(kind: 1, object)
    case .change(let place, let change):
      append(kind: kind(of: change), place.object, place)
      append(change)
    }
  }

  /// Forgets all operations.
  mutating func removeAll() {
    body.removeAll()
    names?.removeAll()
    (object, field) = (nil, nil)
  }

  /// The number of a name that is used now.
  mutating func number(of name: SyncText) -> Int { names?.number(of: name) ?? 0 }

  /// Sets the object and field of the previous operation, which another writer encoded.
  mutating func goOn(behind object: SyncObject, _ field: SyncField?) {
    self.object = object
    self.field = field
  }

  private mutating func append(kind: UInt8, _ object: SyncObject, _ place: SyncField? = nil) {
    let isSameObject = object == self.object
    let isSameField = place != nil && place == field
    body.append(kind | (isSameObject ? 0x80 : 0) | (isSameField ? 0x40 : 0))
    if !isSameObject { body.append(object: object, in: &names) }
    if let place, !isSameField { append(place) }
    self.object = object
    field = place
  }

  private mutating func append(_ place: SyncField) {
    body.append(count: place.steps.count)
    for step in place.steps {
      switch step.place {
      case .value: body.append(0)
      case .element: body.append(1)
      case .entry: body.append(2)
      }
      body.append(name: step.property, in: &names)
      switch step.place {
      case .value: break
      case .element(let index): body.append(count: index)
      case .entry(let key): body.append(text: key)
      }
    }
    body.append(name: place.property, in: &names)
  }

  private func kind(of change: SyncChange) -> UInt8 {
    switch change {
    case .set: 2
    case .setDefault: 3
    case .increment: 4
    case .listInsert: 5
    case .listErase: 6
    case .listMove: 7
    case .listSet: 8
    case .listClear: 9
    case .listAssign: 10
    case .listFill: 11
    case .setInsert: 12
    case .setErase: 13
    case .dictionarySet: 14
    case .dictionaryRemove: 15
    }
  }

  private mutating func append(_ change: SyncChange) {
    switch change {
    case .set(let value), .setDefault(let value), .setInsert(let value), .setErase(let value):
      body.append(value: value, in: &names)
    case .increment(let amount): body.append(signed: amount)
    case .listInsert(let index, let values):
      body.append(count: index)
      append(values)
    case .listErase(let index, let count):
      body.append(count: index)
      body.append(count: count)
    case .listMove(let from, let to):
      body.append(count: from)
      body.append(count: to)
    case .listSet(let index, let value):
      body.append(count: index)
      body.append(value: value, in: &names)
    case .listClear: break
    case .listAssign(let values), .listFill(let values): append(values)
    case .dictionarySet(let key, let value):
      body.append(text: key)
      body.append(value: value, in: &names)
    case .dictionaryRemove(let key): body.append(text: key)
    }
  }

  private mutating func append(_ values: [SyncValue]) {
    body.append(count: values.count)
    for value in values { body.append(value: value, in: &names) }
  }
}

extension ByteReader {
  /// Reads operations; `sources` is the number of their originals, nil if they are originals
  /// themselves.
  mutating func operations(sources: Int?) throws(SyncError) -> [SourcedOperation] {
    let count = try count(max: SyncLimits.operationsMax)
    var operations: [SourcedOperation] = []
    operations.reserveCapacity(min(count, 4096))
    var object: SyncObject?
    var field: SyncField?
    var source = 0
    for number in 0..<count {
      if let sources {
        let (next, overflow) = source.addingReportingOverflow(try index(max: sources))
        guard !overflow, next < sources else { throw malformed("a source beyond the originals") }
        source = next
      } else {
        source = number
      }
      let operation = try operation(&object, &field)
      if case .change(_, .listFill) = operation, sources == nil {
        throw malformed("a fill among original operations")
      }
      operations.append(SourcedOperation(source: source, operation))
    }
    return operations
  }

  private mutating func operation(
    _ object: inout SyncObject?, _ field: inout SyncField?
  ) throws(SyncError) -> SyncOperation {
    let first = try byte()
    let kind = first & 0x3f
    guard kind <= 15 else { throw malformed("operation of kind \(kind)") }
    let here: SyncObject
    if first & 0x80 != 0 {
      guard let same = object else { throw malformed("no object before this one") }
      here = same
    } else {
      here = try self.object()
      guard here != object else { throw malformed("an object twice") }
    }
    object = here
    guard kind >= 2 else {
      guard first & 0x40 == 0 else { throw malformed("a field of a whole object") }
      field = nil
      return kind == 0 ? .create(here) : .delete(here)
    }
    if first & 0x40 != 0 {
      guard let same = field, same.object == here else { throw malformed("no field before this") }
      return .change(same, try change(kind))
    }
    let place = try place(of: here)
    guard place != field else { throw malformed("a field twice") }
    field = place
    return .change(place, try change(kind))
  }

  private mutating func place(of object: SyncObject) throws(SyncError) -> SyncField {
    var field = SyncField(object, [], "")
    for _ in 0..<(try index(max: SyncLimits.stepsMax)) {
      let kind = try byte()
      let name = try name()
      switch kind {
      case 0: field.steps.append(SyncStep(name, .value))
      case 1:
        field.steps.append(SyncStep(name, .element(try index(max: SyncLimits.elementsMax))))
      case 2: field.steps.append(SyncStep(name, .entry(try text())))
      default: throw malformed("step of kind \(kind)")
      }
    }
    field.property = try name()
    return field
  }

  private mutating func change(_ kind: UInt8) throws(SyncError) -> SyncChange {
    let most = SyncLimits.elementsMax
    switch kind {
    case 2: return .set(try value())
    case 3: return .setDefault(try value())
    case 4: return .increment(try signed())
    case 5: return .listInsert(at: try index(max: most), try values())
    case 6: return .listErase(at: try index(max: most), count: try index(max: most))
    case 7: return .listMove(from: try index(max: most), to: try index(max: most))
    case 8: return .listSet(at: try index(max: most), try value())
    case 9: return .listClear
    case 10: return .listAssign(try values())
    case 11: return .listFill(try values())
    case 12: return .setInsert(try value())
    case 13: return .setErase(try value())
    case 14: return .dictionarySet(try text(), try value())
    default: return .dictionaryRemove(try text())
    }
  }
}
