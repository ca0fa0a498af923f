// CallStackArea.swift: [U] reads the call stacks that programs under test record for FaultFS.
// A library in the program (Sources/CallStacks) writes them to a file that it maps; the number of
// the thread that waits for an answer selects its slot.
// Invariant: the file was written by the program under test: every number is checked here, and
// invalid ones are left out.
// Safety: the frame buffer is as large as the call requires.

import CSystem
import Foundation
import Glibc
import LabCore

/// The directory through which programs under test pass their call stacks to FaultFS.
public struct CallStackDirectory: Sendable {
  /// Environment variable with the directory's path.
  static let environmentName = "FAULTLINE_STACKS"
  static let areaName = "threads"
  private static let libraryName = "libfaultline-stacks.so"

  /// Absolute path.
  public let path: String
  private let library: String

  /// Creates the shared files in an existing directory.
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

  /// Environment variables that make a program under test record its call stacks.
  package var environment: [String: String] {
    let present = ProcessInfo.processInfo.environment["LD_PRELOAD"] ?? ""
    return [
      Self.environmentName: path, "LD_PRELOAD": present.isEmpty ? library : "\(library):\(present)",
    ]
  }
}

/// A call stack as recorded by a program.
struct LeftCallStack: Hashable {
  /// Number of the program's execution.
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
  /// - Throws: `LabError` when it does not exist.
  package init(directory: String) throws(LabError) {
    precondition(csystem_call_stack_frames_max == CallStacks.framesMax)
    let path = "\(directory)/\(CallStackDirectory.areaName)"
    descriptor = OwnedDescriptor(unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0))
    guard descriptor.number >= 0 else {
      throw .lab("cannot open \(path), where call stacks are left: \(describe(errno: errno))")
    }
    self.directory = directory
  }

  /// Forgets the stacks of earlier recordings.
  func begin() { seen = SeenCallStacks() }

  /// The stack of a thread that waits for an answer.
  /// - Returns: A number for `settle`; nil when the thread recorded none.
  func number(ofThread thread: Int32) -> Int? {
    guard thread > 0 else { return nil }
    var image: UInt32 = 0
    let depth = unsafe frames.withUnsafeMutableBufferPointer { buffer in
      unsafe csystem_read_call_stack(descriptor.number, thread, &image, buffer.baseAddress)
    }
    guard depth > 0 else { return nil }
    return seen.number(of: LeftCallStack(image: image, frames: Array(frames.prefix(Int(depth)))))
  }

  /// Longer module lists are cut here.
  private static let moduleListBytesMax = 1 << 20

  /// A program's list of its modules; empty if it wrote none.
  private static func moduleList(_ path: String) -> Data {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = unsafe csystem_open(path, flags, 0)
    guard descriptor >= 0 else { return Data() }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    return (try? file.read(upToCount: moduleListBytesMax)) ?? Data()
  }

  /// Replaces the provisional stack numbers in events with those of the trace's stacks.
  /// - Returns: The stacks that events refer to.
  func settle(_ events: inout [TraceEvent]) -> CallStacks {
    let directory = self.directory
    return seen.settle(&events) { image in Self.moduleList("\(directory)/\(image)") }
  }
}

/// The distinct call stacks of a recording, in order of appearance.
struct SeenCallStacks {
  private var numbers: [LeftCallStack: Int] = [:]
  private var stacks: [LeftCallStack] = []

  /// Most distinct stacks of a recording; later ones are left out.
  private static let stacksMax = 1 << 16

  /// The number of a stack; nil when there are too many.
  mutating func number(of stack: LeftCallStack) -> Int? {
    if let number = numbers[stack] { return number }
    guard stacks.count < Self.stacksMax else { return nil }
    numbers[stack] = stacks.count
    stacks.append(stack)
    return stacks.count - 1
  }

  /// Replaces these stack numbers in events with those of the trace's stacks.
  /// - Parameters:
  ///   - events: The events.
  ///   - moduleList: The file of an image.
  /// - Returns: The stacks that events refer to.
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

/// Converts the stacks that programs recorded into those of a trace.
struct CallStackSettler {
  private let seen: [LeftCallStack]
  private let moduleList: (UInt32) -> Data
  private var paths: [UInt32: [String]] = [:]
  private var modules: [String: Int] = [:]
  private var numbers: [[CodeAddress]: Int] = [:]
  private var settled: [Int: Int?] = [:]
  private(set) var stacks = CallStacks()

  /// Starts without stacks.
  /// - Parameters:
  ///   - seen: The stacks that programs recorded.
  ///   - moduleList: The file of an image.
  init(_ seen: [LeftCallStack], moduleList: @escaping (UInt32) -> Data) {
    self.seen = seen
    self.moduleList = moduleList
  }

  /// The number of a stack in the trace; nil when none of its frames is valid.
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
  /// Makes a new directory in which programs under test record their call stacks.
  package func makeCallStackDirectory() throws(LabError) -> CallStackDirectory {
    let path = try subdirectory("stacks")
    try DirectoryCleaner(path: path).clear()
    return try CallStackDirectory(path: path)
  }
}
