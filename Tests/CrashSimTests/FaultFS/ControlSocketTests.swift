// ControlSocketTests.swift: fault rules over the control socket: acknowledged, counted, cleared;
// and what hostile bytes do to it, which is nothing.

import Foundation
import Glibc
import LabCore
import Scenarios
import TestSupport
import Testing

@testable import FaultFS

@Suite(
  "Control socket",
  .requires(.fuse), .serialized)
struct ControlSocketTests {
  private let place: TemporaryDirectory
  private let socket: String
  private let mount: FaultMount

  init() throws {
    place = try TemporaryDirectory()
    socket = place.file("control")
    mount = try FaultMount(
      ["open f cw", "write 0 100 a"], options: FaultFSOptions(controlPath: socket))
  }

  private func rules(_ yaml: String) throws -> [FaultRule] {
    try FaultFile.parse(yaml, file: "test")
  }

  @Test("rules come and go by number, with counts, for others than the mount's maker")
  func addListClear() throws {
    let control = try FaultControl(mountPoint: mount.mount.path)
    #expect(try control.list().isEmpty)
    let added = try control.add(try rules("[{on: write, error: EIO}, {on: sync, ignore: true}]"))
    #expect(added.map(\.id) == [1, 2])
    #expect(
      try mount.run(["open f w", "write 0 1 b", "fsync"])[1...] == ["write EIO", "fsync ok 0"])
    #expect(try control.list().map(\.hits.hitCount) == [1, 1])
    #expect(try control.clear([1]).map(\.hits.hitCount) == [1])
    #expect(try control.list().map(\.id) == [2])
    #expect(try mount.run(["open f w", "write 0 1 b"])[1] == "write ok 1")
    // A number is never given again.
    #expect(try control.add(try rules("{on: write, error: EIO}")).map(\.id) == [3])
    let unknown = #expect(throws: LabError.self) { try control.clear([3, 9]) }
    #expect(unknown?.code == .usage && unknown?.message.contains("no fault rule 9") == true)
    #expect(try control.list().count == 2)
    #expect(try control.clear().map(\.id) == [2, 3])
  }

  @Test("a rule that cannot be is refused, and none of its neighbours is added")
  func refused() throws {
    let control = try FaultControl(mountPoint: mount.mount.path)
    let good = FaultRule(when: FaultRule.Match([.write]), what: .error(EIO))
    let bad = FaultRule(when: FaultRule.Match([.write]), what: .error(EROFS))
    let error = #expect(throws: LabError.self) { try control.add([good, bad]) }
    #expect(error?.code == .usage && error?.message.contains("it may return EAGAIN, ") == true)
    #expect(try control.list().isEmpty)
    let many = [FaultRule](repeating: good, count: 1001)
    #expect(throws: LabError.self) { try control.add(many) }
    #expect(try control.list().isEmpty)
    let any = FaultRule(when: FaultRule.Match([.write]), what: .error(EROFS), allowsAnyErrno: true)
    #expect(try control.add([any]).count == 1)
    let never = FaultRule(
      when: FaultRule.Match([.sync]), what: .error(ENOSYS), allowsAnyErrno: true)
    #expect(throws: LabError.self) { try control.add([never]) }
  }

  @Test("a socket replaces one of an earlier mount, and no file")
  func taken() throws {
    let path = place.file("notes")
    try Data("kept".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: LabError.self) { try PathSocket.listen(at: path) }
    #expect(error?.code == .usage && error?.message.contains("something else is there") == true)
    #expect(FileManager.default.contents(atPath: path) == Data("kept".utf8))
    for _ in 0..<2 { close(try PathSocket.listen(at: place.file("again"))) }
  }

  /// Sends bytes; what came back, and whether the daemon ended the connection.
  private func send(_ bytes: [UInt8]) throws -> (reply: String, isEnded: Bool) {
    let file = place.file("bytes")
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    let result = try runShell("'\(posixCasesProgram)' --socket '\(socket)' < '\(file)'", in: "/")
    return (result.output, result.status == 1)
  }

  private func framed(_ text: String) -> [UInt8] {
    let count = UInt32(text.utf8.count)
    return (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(text.utf8)
  }

  @Test("hostile bytes get an error or nothing, and the mount goes on")
  func hostile() throws {
    let cases: [(bytes: [UInt8], reply: String, isEnded: Bool)] = [
      ([], "", false),
      ([1], "", false),
      ([5, 0, 0, 0, 65], "", false),
      ([0, 0, 0, 0], "cannot read a control message", false),
      ([255, 255, 255, 255] + [UInt8](repeating: 7, count: 100_000), "exceeds", true),
      ([1, 0, 16, 0], "exceeds", true),
      (framed("{}"), "cannot read a control message", false),
      (framed("{\"shutdown\":{}}"), "only the process that made the mount", false),
      (framed("{\"endRecording\":{\"path\":\"/tmp/x\"}}"), "only the process", false),
      (framed("{\"registerGroup\":{\"_0\":-1}}"), "only the process", false),
      (framed(String(repeating: "[", count: 1_000_000)), "cannot read a control message", false),
      (framed("{\"removeRules\":{\"_0\":[9223372036854775807,-1]}}"), "no fault rule", false),
      (framed("{\"listRules\":{}}"), "\"rules\":[]", false),
    ]
    for (bytes, reply, isEnded) in cases {
      let answer = try send(bytes)
      #expect(
        reply.isEmpty ? answer.reply.isEmpty : answer.reply.contains(reply),
        "\(bytes.prefix(40)): \(answer.reply.prefix(200))")
      #expect(answer.isEnded == isEnded, "\(bytes.prefix(40))")
    }
    var generator = PRNG(Seed(rawValue: 8412))
    for _ in 0..<20 {
      let count = 1 + generator.below(4000)
      var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      if generator.below(2) == 0, count > 4 {
        bytes[1] = 1
        bytes[2] = 0
        bytes[3] = 0
      }
      _ = try send(bytes)
    }
    #expect(try mount.run(["statfs"]) == ["statfs ok 0"])
    #expect(try FaultControl(mountPoint: mount.mount.path).list().isEmpty)
    let attributes = try FileManager.default.attributesOfItem(atPath: socket)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("hostile rules in well-formed messages are refused")
  func hostileRules() throws {
    let match = "\"kinds\":[\"write\"],\"offset\":0,\"includesWriteBack\":false"
    let rule = { (match: String, what: String) in
      "{\"addRules\":{\"_0\":[{\"when\":{\(match)},\"what\":\(what),\"seed\":1,"
        + "\"allowsAnyErrno\":false}]}}"
    }
    let lose = "{\"lose\":{}}"
    let wrong = [
      rule(match + ",\"chance\":{\"numerator\":1,\"denominator\":0}", lose),
      rule(match + ",\"chance\":{\"numerator\":-1,\"denominator\":-5}", lose),
      rule(match + ",\"everyKth\":0", lose), rule(match + ",\"toByte\":0", lose),
      rule(match + ",\"process\":-1", lose), rule(match + ",\"times\":0", lose),
      rule(match + ",\"path\":\"" + String(repeating: "*", count: 5000) + "\"", lose),
      rule(match, "{\"flip\":{\"bits\":99999999}}"),
      rule(match, "{\"misdirect\":{\"byBytes\":-9223372036854775808}}"),
      rule(match, "{\"delay\":{\"milliseconds\":-1}}"),
      rule(
        match,
        "{\"tear\":{\"_0\":{\"cut\":{\"fileUnits\":{\"bytes\":0}},"
          + "\"keep\":{\"random\":{}}}}}"),
      rule(
        match,
        "{\"tear\":{\"_0\":{\"cut\":{\"equalParts\":{\"_0\":0}},"
          + "\"keep\":{\"random\":{}}}}}"),
    ]
    for text in wrong {
      let reply = try send(framed(text)).reply
      #expect(reply.contains("fault rule: "), "\(text.prefix(200)) → \(reply.prefix(200))")
    }
    // The same shapes with sound numbers are taken: what was refused were the numbers.
    let sound = try send(framed(rule(match + ",\"times\":1", lose)))
    #expect(sound.reply.contains("\"rules\":[{"), "\(sound.reply.prefix(300))")
    #expect(try mount.client.rules().count == 1)
  }

  @Test("more peers than there is room for are sent away, and the others are served")
  func manyPeers() throws {
    var open: [FaultControl] = []
    for _ in 0..<16 { open.append(try FaultControl(mountPoint: mount.mount.path)) }
    for control in open { #expect(try control.list().isEmpty) }
    let late = try FaultControl(mountPoint: mount.mount.path)
    let error = #expect(throws: LabError.self) { try late.list() }
    #expect(error?.message.contains("16 peers") == true)
    open.removeFirst()
    usleep(50_000)
    #expect(try FaultControl(mountPoint: mount.mount.path).list().isEmpty)
  }

  @Test("errors name the directory: no mount, a mount without a socket, a socket path too long")
  func errors() throws {
    let none = #expect(throws: LabError.self) { try FaultControl(mountPoint: place.path) }
    #expect(none?.message.contains("no faulty file system is mounted on \(place.path)") == true)
    let plain = try FaultMount()
    let without = #expect(throws: LabError.self) { try FaultControl(mountPoint: plain.mount.path) }
    #expect(without?.message.contains("has no control socket") == true)
    let long = "/tmp/" + String(repeating: "x", count: 120)
    let refused = #expect(throws: LabError.self) {
      try FaultMount(options: FaultFSOptions(controlPath: long))
    }
    #expect(refused?.message.contains("path_bytes=125") == true)
    let comma = #expect(throws: LabError.self) {
      try FaultMount(options: FaultFSOptions(controlPath: "/tmp/a,allow_other"))
    }
    #expect(comma?.code == .usage)
  }
}
