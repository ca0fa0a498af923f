// ProcessClasses.swift [U]: the classes of the process that are kept in realms, from the records
// that the compiler leaves of all types (a section of each image) and the runtime lists.
// Only the superclasses' descriptions are followed, so no other class is initialized. Invariant: a
// record of a form that is not known is skipped: its class joins a realm when it is used first.

import Glibc

enum ProcessClasses {
  /// The classes that are part of the default schema, and fit into one: without those that cannot
  /// be kept, and those of which another has the name.
  ///
  /// An image that is loaded later is not seen.
  static let all: [ClassInfo] = {
    var infos: [String: [ClassInfo]] = [:]
    for type in types where type.shouldIncludeInDefaultSchema() {
      guard let info = try? Discovery.info(for: type) else { continue }
      infos[info.name, default: []].append(info)
    }
    let distinct = infos.values.filter { $0.count == 1 }.map { $0[0] }
    return distinct.filter { (try? ClassSet(reachableFrom: [$0])) != nil }
      .sorted { $0.name < $1.name }
  }()

  /// The non-generic classes of the process that are derived from `Object` and `EmbeddedObject`.
  /// - Complexity: O(types of the process); less than a millisecond for 2,600 of them.
  static var types: [ObjectBase.Type] {
    var search = ClassSearch()
    let sections = unsafe sections()
    for index in unsafe sections.indices { unsafe search.take(sections[index]) }
    return search.found
  }

  /// The sections of types of all images; none if the runtime does not list them.
  private static func sections() -> [UnsafeRawBufferPointer] {
    typealias Body = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool
    typealias Enumerate = @convention(c) (Body, UnsafeMutableRawPointer?) -> Void
    // Safety: RTLD_DEFAULT is the null handle; a name that is not there gives nil.
    guard let symbol = unsafe dlsym(nil, "swift_enumerateAllMetadataSections") else {
      return unsafe []
    }
    // Safety: the runtime declares the function so.
    let enumerate = unsafe unsafeBitCast(symbol, to: Enumerate.self)
    var found: [UnsafeRawBufferPointer] = unsafe []
    unsafe withUnsafeMutablePointer(to: &found) { list in
      unsafe enumerate(
        { image, list in
          guard let image = unsafe image, let list = unsafe list else { return true }
          // Safety: four words, then ranges of start and length: protocols, conformances, types.
          let (start, lengthBytes) = unsafe (
            image.load(fromByteOffset: 64, as: UnsafeRawPointer?.self),
            image.load(fromByteOffset: 72, as: Int.self)
          )
          unsafe list.assumingMemoryBound(to: [UnsafeRawBufferPointer].self).pointee.append(
            UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : lengthBytes))
          return true
        }, list)
    }
    return unsafe found
  }
}

/// Finds classes by the descriptions of their superclasses.
private struct ClassSearch {
  private(set) var found: [ObjectBase.Type] = []
  /// Whether a class of a description is kept in realms.
  private var known: [UInt: Bool] = [:]
  /// No class has more superclasses.
  private static let superclassesMax = 1000

  init() {
    known[Self.description(of: Object.self)] = true
    known[Self.description(of: EmbeddedObject.self)] = true
    known[Self.description(of: DynamicObject.self)] = false
  }

  private static func description(of type: ObjectBase.Type) -> UInt {
    // Safety: a class's metadata has its description at this place, on 64-bit Linux.
    unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
      .load(fromByteOffset: 40, as: UInt.self)
  }

  /// Looks at the records of an image.
  mutating func take(_ section: UnsafeRawBufferPointer) {
    guard let start = section.baseAddress else { return }
    for offset in stride(from: 0, to: section.count - 3, by: 4) {
      let record = unsafe start + offset
      // Safety: a record is a relative reference of four bytes.
      let value = unsafe record.load(as: Int32.self)
      let isIndirect = value & 3 == 1
      guard value & 3 <= 1, value & ~3 != 0 else { continue }
      var description = unsafe record + Int(value & ~3)
      if isIndirect {
        guard let target = unsafe description.load(as: UnsafeRawPointer?.self) else { continue }
        unsafe description = unsafe target
      }
      if let type = unsafe type(description) { found.append(type) }
    }
  }

  /// The class of a description, if it is kept in realms and is not generic.
  private mutating func type(_ description: UnsafeRawPointer) -> ObjectBase.Type? {
    let isGeneric: UInt32 = 0x80
    // Safety: a description begins with its flags.
    let flags = unsafe description.load(as: UInt32.self)
    guard Self.isClass(flags), flags & isGeneric == 0,
      known[UInt(bitPattern: description)] == nil, unsafe isKept(description)
    else { return nil }
    // Safety: the fourth word of a type's description refers to the function that gives its
    // metadata, whose first result is in the register of a C function's.
    let access = unsafe description + 12
    let function = unsafe access + Int(access.load(as: Int32.self))
    typealias Metadata = @convention(c) (Int) -> UnsafeRawPointer?
    guard let metadata = unsafe unsafeBitCast(function, to: Metadata.self)(0) else { return nil }
    return unsafe unsafeBitCast(metadata, to: AnyClass.self) as? ObjectBase.Type
  }

  private static func isClass(_ flags: UInt32) -> Bool { flags & 0x1f == 16 }

  /// Whether one of a class's superclasses is kept in realms.
  private mutating func isKept(_ description: UnsafeRawPointer) -> Bool {
    var seen: [UInt] = []
    var isKept = false
    var next: UnsafeRawPointer? = unsafe description
    while let description = unsafe next, seen.count < Self.superclassesMax {
      if let answer = known[UInt(bitPattern: description)] {
        isKept = answer
        break
      }
      seen.append(UInt(bitPattern: description))
      unsafe next = unsafe Self.superclass(of: description)
    }
    // The class itself is asked about once only.
    for description in seen.dropFirst() { known[description] = isKept }
    return isKept
  }

  /// The description of a class's superclass; nil without one, and for one that is not named by a
  /// reference.
  private static func superclass(of description: UnsafeRawPointer) -> UnsafeRawPointer? {
    // Safety: a class's sixth word refers to the mangled name of its superclass, which begins with
    // a byte 1 and a reference to a description, or with a byte 2 and one to a pointer to it.
    let flags = unsafe description.load(as: UInt32.self)
    let place = unsafe description + 20
    let offset = unsafe place.load(as: Int32.self)
    guard isClass(flags), offset != 0 else { return nil }
    let name = unsafe place + Int(offset)
    let kind = unsafe name.load(as: UInt8.self)
    guard kind == 1 || kind == 2 else { return nil }
    let reference = unsafe name + 1
    let target = unsafe reference + Int(reference.loadUnaligned(as: Int32.self))
    return unsafe kind == 1 ? target : target.load(as: UnsafeRawPointer?.self)
  }
}
