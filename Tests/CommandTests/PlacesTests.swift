// PlacesTests.swift: the lab where it is not root of a whole machine: an ordinary user, a user
// namespace, a container without seccomp(2) or /proc.

import Foundation
import TestSupport
import Testing

@Suite("places", .requires(.fuse, .root, .setpriv), .serialized)
struct PlacesTests {
  private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
  private static let explores =
    "'\(FaultlineCommand.program)' explore --workload 'echo a > t' --check true"

  /// Runs a script while /dev/fuse is open to all, as it is on many machines.
  private func withFuseForAll(_ script: String) throws -> ProgramResult {
    let files = FileManager.default
    let before = try #require(files.attributesOfItem(atPath: "/dev/fuse")[.posixPermissions])
    try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: "/dev/fuse")
    defer { try? files.setAttributes([.posixPermissions: before], ofItemAtPath: "/dev/fuse") }
    return try runShell(script, in: "/")
  }

  @Test("the root of a mount belongs to who mounts it")
  func userMount() throws {
    let directory = try TemporaryDirectory(isForAll: true)
    let mountPoint = directory.file("mnt")
    let result = try withFuseForAll(
      """
      chmod 755 '\(directory.path)'; mkdir '\(mountPoint)'; chown 65534:65534 '\(mountPoint)'
      exec 2>&1
      \(Self.user) '\(FaultlineCommand.program)' mount '\(mountPoint)' & p=$!
      for i in $(seq 200); do
        grep -q ' \(mountPoint) ' /proc/self/mountinfo && break; sleep 0.05
      done
      \(Self.user) sh -c "cd '\(mountPoint)' && stat -c '%u:%g %a' . && touch t && echo made"
      kill -INT $p; wait $p; echo "end $?"
      \(Self.user) \(Self.explores); echo "explored $?"
      """)
    // The mount says where it is at the same time.
    #expect(result.output.contains("65534:65534 755\n"), "\(result.output)")
    #expect(result.output.contains("made\n"), "\(result.output)")
    #expect(result.output.contains("end 0"), "\(result.output)")
    #expect(result.output.contains("explored 0"), "\(result.output)")
  }

  @Test("in a user namespace the directory of the real root is not an obstacle")
  func userNamespace() throws {
    let result = try withFuseForAll(
      """
      exec 2>&1; mkdir -p /dev/shm/faultline-0
      \(Self.user) unshare -Urm \(Self.explores); echo "explored $?"
      """)
    #expect(result.output.contains("explored 0"), "\(result.output)")
  }

  @Test("a place that cannot be used is named with its cause and the variable for another")
  func badPlace() throws {
    let directory = try TemporaryDirectory(isForAll: true)
    let result = try withFuseForAll(
      """
      exec 2>&1; cd '\(directory.path)'; chmod 755 .
      export FAULTLINE_SCRATCH=$PWD; mkdir faultline-65534
      \(Self.user) \(Self.explores); echo "explored $?"
      """)
    #expect(result.output.contains("explored 3"), "\(result.output)")
    #expect(result.output.contains("user 65534 may not write in"), "\(result.output)")
    #expect(result.output.contains("FAULTLINE_SCRATCH"), "\(result.output)")
  }

  @Test("without seccomp(2) a run says what it cannot see, and finds nothing for want of it")
  func withoutSeccomp() throws {
    let program = "'\(FaultlineCommand.folder.path)/posix-cases' --without-seccomp"
    let command = "\(program) '\(FaultlineCommand.program)' "
    let synced = """
      explore --budget 20 --workload 'echo a > t && sync && echo saved' \
        --check 'grep -q saved $FAULTLINE_OUTPUT && exec grep -q a t; true'
      """
    let broken = try runShell(command + synced, in: "/")
    #expect(broken.status == 3 && !broken.output.contains("FINDING"), "\(broken.output)")
    #expect(broken.output.contains("seccomp(2) is refused (Operation not permitted"))
    let fine = try runShell("\(command) explore --workload 'echo a > t' --check true", in: "/")
    #expect(fine.status == 0, "\(fine.output)")
    #expect(fine.output.contains("skipped: sync(2) and syncfs(2) of the workload"))
    let vouched = try runShell("FAULTLINE_WITHOUT_SYNC=1 \(command) \(synced)", in: "/")
    #expect(vouched.status == 1 && vouched.output.contains("FINDING"), "\(vouched.output)")
    // A checker so slow that failures are printed as they are met.
    let slow = synced.replacing("--check '", with: "--jobs 2 --check 'sleep 1.5; ")
    let unannounced = try runShell(command + slow, in: "/")
    #expect(unannounced.status == 3 && !unannounced.output.contains(" met '"))
    let announced = try runShell("FAULTLINE_WITHOUT_SYNC=1 \(command) \(slow)", in: "/")
    #expect(announced.output.contains(" met '"), "the control: \(announced.output)")
    let directory = try TemporaryDirectory()
    let stressed = try runShell(
      """
      \(command) stress --cuts 30 --fail-fast --workload \
        'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo a > t$i; sync; echo $i; done' \
        --check 'for i in $(cat $FAULTLINE_OUTPUT); do grep -q a t$i || exit 1; done'
      """, in: directory.path)
    #expect(stressed.status == 3 && !stressed.output.contains("FINDING"), "\(stressed.output)")
  }

  @Test("without /proc a run fails, and says why")
  func withoutProc() throws {
    let result = try runShell(
      "unshare -m sh -c \"mount -t tmpfs none /proc; exec \(Self.explores)\" 2>&1", in: "/")
    #expect(result.status == 3, "\(result.output)")
    #expect(result.output.contains("/proc is not mounted"), "\(result.output)")
  }
}
