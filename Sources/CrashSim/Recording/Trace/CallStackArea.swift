// CallStackArea.swift: [U] the call stacks that programs under test leave for the filesystem.
// A library in the program writes them (Sources/CallStacks) to a file that it maps; the number of
// the thread that waits for an answer names its slot.
// Invariant: what stands there was written by the program under test: every number is checked here,
// and what does not fit is left out.
// Safety: the buffer for frames has the room that the call asks for.

import CSystem
import Foundation
import Glibc
import LabCore

/// The directory that programs under test share with the filesystem for their call stacks.
public struct CallStackDirectory: Sendable {
  /// Variable that tells the library where the directory is.
  static let environmentName = "FAULTLINE_STACKS"
  static let areaName = "threads"
  private static let libraryName = "libfaultline-stacks.so"

  /// Absolute path.
  public let path: String
  private let library: String

  /// Makes what is shared, in an existing directory.
  /// - Parameter path: An empty directory without links in its path.
  /// - Throws: `LabError` when the library is not beside the running program.
  public init(path: String) throws(LabError) {
    let folder = PathCalls.executable().map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    guard let library = folder?.appendingPathComponent(Self.libraryName).path,
      PathCalls.canAccess(library, R_OK)
    else {
      throw .lab(
        "no \(Self.libraryName) in \(folder?.path ?? "?"), which records call stacks; build it "
          + "(swift build --product faultline-stacks) beside this program, or leave --stacks out")
    }
    self.path = path
    self.library = library
    guard unsafe csystem_make_call_stack_area("\(path)/\(Self.areaName)") == 0 else {
      throw .lab("cannot make \(path)/\(Self.areaName): \(describe(errno: errno))")
    }
  }

  /// What a program under test has in its environment so that it leaves its call stacks.
  package var environment: [String: String] {
    let present = ProcessInfo.processInfo.environment["LD_PRELOAD"] ?? ""
    return [
      Self.environmentName: path, "LD_PRELOAD": present.isEmpty ? library : "\(library):\(present)",
    ]
  }
}

/// A call stack as a program left it.
struct LeftCallStack: Hashable {
  /// Number of the execution of a program.
  var image: UInt32
  /// `module << 48 | address`, from the innermost.
  var frames: [UInt64]
}

/// Reads call stacks; used under the file system's lock.
package final class CallStackArea {
  private let directory: String
  private let descriptor: OwnedDescriptor
  private var seen = SeenCallStacks()
  private var frames = [UInt64](repeating: 0, count: CallStacks.framesMax)

  /// Opens the area in a directory.
  /// - Throws: `LabError` when it is not there.
  package init(directory: String) throws(LabError) {
    precondition(csystem_call_stack_frames_max == CallStacks.framesMax)
    let path = "\(directory)/\(CallStackDirectory.areaName)"
    descriptor = OwnedDescriptor(unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0))
    guard descriptor.number >= 0 else {
      throw .lab("cannot open \(path), where call stacks are left: \(describe(errno: errno))")
    }
    self.directory = directory
  }

  /// Forgets what earlier recordings had.
  func begin() { seen = SeenCallStacks() }

  /// The stack of a thread that waits for an answer.
  /// - Returns: A number for `table(of:)`; nil when the thread left none.
  func number(ofThread thread: Int32) -> Int? {
    guard thread > 0 else { return nil }
    var image: UInt32 = 0
    let depth = unsafe frames.withUnsafeMutableBufferPointer { buffer in
      unsafe csystem_read_call_stack(descriptor.number, thread, &image, buffer.baseAddress)
    }
    guard depth > 0 else { return nil }
    return seen.number(of: LeftCallStack(image: image, frames: Array(frames.prefix(Int(depth)))))
  }

  /// More of a list of modules is not read.
  private static let moduleListBytesMax = 1 << 20

  /// What a program wrote down about its modules; nothing where it put no file.
  private static func moduleList(_ path: String) -> Data {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = unsafe csystem_open(path, flags, 0)
    guard descriptor >= 0 else { return Data() }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return (try? file.read(upToCount: moduleListBytesMax)) ?? Data()
  }

  /// Gives events the stacks of the trace instead of the numbers that they were recorded with.
  /// - Returns: The stacks that events have.
  func settle(_ events: inout [TraceEvent]) -> CallStacks {
    let directory = self.directory
    return seen.settle(&events) { image in Self.moduleList("\(directory)/\(image)") }
  }
}

/// The call stacks of a recording as they come, each once.
struct SeenCallStacks {
  private var numbers: [LeftCallStack: Int] = [:]
  private var stacks: [LeftCallStack] = []

  /// Most different stacks of one recording; later ones are left out.
  private static let stacksMax = 1 << 16

  /// The number of a stack; nil when there are too many.
  mutating func number(of stack: LeftCallStack) -> Int? {
    if let number = numbers[stack] { return number }
    guard stacks.count < Self.stacksMax else { return nil }
    numbers[stack] = stacks.count
    stacks.append(stack)
    return stacks.count - 1
  }

  /// Gives events the stacks of the trace instead of these numbers.
  /// - Parameters:
  ///   - events: The events.
  ///   - moduleList: The file of an image.
  /// - Returns: The stacks that events have.
  func settle(
    _ events: inout [TraceEvent], moduleList: @escaping (UInt32) -> Data
  ) -> CallStacks {
    var settler = CallStackSettler(stacks, moduleList: moduleList)
    for index in events.indices {
      guard let stack = events[index].stack else { continue }
      events[index].stack = settler.number(of: stack)
    }
    return settler.stacks
  }
}

/// Turns what programs left into the stacks of a trace.
struct CallStackSettler {
  private let seen: [LeftCallStack]
  private let moduleList: (UInt32) -> Data
  private var paths: [UInt32: [String]] = [:]
  private var modules: [String: Int] = [:]
  private var numbers: [[CodeAddress]: Int] = [:]
  private var settled: [Int: Int?] = [:]
  private(set) var stacks = CallStacks()

  /// Begins without stacks.
  /// - Parameters:
  ///   - seen: What programs left.
  ///   - moduleList: The file of an image.
  init(_ seen: [LeftCallStack], moduleList: @escaping (UInt32) -> Data) {
    self.seen = seen
    self.moduleList = moduleList
  }

  /// The number that a stack has in the trace; nil when no frame of it makes sense.
  mutating func number(of left: Int) -> Int? {
    if let known = settled[left] { return known }
    let number = settle(seen[left])
    settled[left] = .some(number)
    return number
  }

  private mutating func settle(_ left: LeftCallStack) -> Int? {
    let paths = self.paths(of: left.image)
    var frames: [CodeAddress] = []
    for frame in left.frames {
      let index = Int(frame >> 48)
      guard paths.indices.contains(index), CallStacks.isModulePath(paths[index]) else { break }
      guard let module = module(paths[index]) else { break }
      frames.append(CodeAddress(module: module, address: frame & (CallStacks.addressEnd - 1)))
    }
    if frames.isEmpty { return nil }
    if let number = numbers[frames] { return number }
    numbers[frames] = stacks.stacks.count
    stacks.stacks.append(frames)
    return stacks.stacks.count - 1
  }

  private mutating func paths(of image: UInt32) -> [String] {
    if let known = paths[image] { return known }
    let list = moduleList(image)
      .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    paths[image] = list
    return list
  }

  private mutating func module(_ path: String) -> Int? {
    if let known = modules[path] { return known }
    guard stacks.modules.count < CallStacks.modulesMax else { return nil }
    modules[path] = stacks.modules.count
    stacks.modules.append(path)
    return stacks.modules.count - 1
  }
}

extension RunDirectory {
  /// Makes a new place where programs under test leave their call stacks.
  package func makeCallStackDirectory() throws(LabError) -> CallStackDirectory {
    let path = try subdirectory("stacks")
    try DirectoryCleaner(path: path).clear()
    return try CallStackDirectory(path: path)
  }
}
