// FileIdentityTests.swift: another file, no file, and no word of the system are three answers.

import Glibc
import Testing

@testable import Engine

@Suite struct FileIdentityTests {
  @Test("only a missing name is not a file; any other failure is an I/O error")
  func paths() throws {
    #expect(try FileIdentity.at("/proc/self/exe") != nil)
    #expect(try FileIdentity.at("/proc/self/no-such-name") == nil)
    let error = #expect(throws: EngineError.self) {
      try FileIdentity.at("/proc/self/exe/below-a-file")
    }
    #expect(error?.code == .io)
  }

  @Test("a descriptor of which nothing can be said is an I/O error")
  func descriptors() throws {
    let error = #expect(throws: EngineError.self) { try FileIdentity.of(-1, "data.realm") }
    #expect(error?.code == .io && error?.message.contains("data.realm") == true)
  }
}
