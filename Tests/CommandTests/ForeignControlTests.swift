// ForeignControlTests.swift: the control socket of a mount, and other users of the machine: a
// server of theirs at its path is asked nothing, and a client of theirs is told nothing.

import Foundation
import TestSupport
import Testing

@Suite("control sockets of other users", .requires(.fuse, .root, .setpriv, .namespaces, .python3))
struct ForeignControlTests {
  /// Root plays both users: the one who mounts, and another one.
  private static let script = """
    as() { user=$1; shift; setpriv --reuid $user --regid $user --clear-groups \
      env -u FAULTLINE_SCRATCH HOME="$PWD/home" TMPDIR="$PWD/home" "$@"; }
    mount --bind fuse /dev/fuse && cd home
    as 65534 mkdir mnt
    as 65534 "$F" mount mnt > mounted 2>&1 & p=$!
    n=0; until grep -q " $PWD/mnt " /proc/self/mountinfo || [ $n = 400 ]; do
      sleep 0.05; n=$((n+1))
    done
    socket=$(sed -n "s|.* $PWD/mnt .* - [^ ]* \\([^ ]*\\) .*|\\1|p" /proc/self/mountinfo)
    as 65534 "$F" fault list mnt; echo "own $?"
    # Even where modes let everybody in.
    folder=$(dirname "$socket"); chmod 777 "$folder" "$socket"
    f=$folder; while [ "$f" != / ]; do chmod o+x "$f"; f=$(dirname "$f"); done
    as 65533 "$F" fault add mnt 'on: write, error: EIO' > foreign 2>&1; echo "client $?"
    as 65534 "$F" fault list mnt; echo "rules $?"
    mv "$socket" "$socket.real"
    cat > server.py <<'END'
    import os, socket, sys
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    os.chmod(sys.argv[1], 0o777)
    server.listen()
    with open("listens.tmp", "w") as file:
        file.write(str(os.getpid()))
    os.rename("listens.tmp", "listens")
    while True:
        peer = server.accept()[0]
        print("asked:", peer.recv(1000), flush=True)
        peer.close()
    END
    chmod 777 .
    as 65533 python3 server.py "$socket" > asked 2>&1 & q=$!
    n=0; until [ -e listens ] || [ $n = 200 ]; do sleep 0.05; n=$((n+1)); done
    as 65534 "$F" fault list mnt 2>&1; echo "server $?"
    sleep 0.1; sed "s/asked: b''//" asked
    kill $(cat listens); wait $q; mv "$socket.real" "$socket"; umount mnt; wait $p
    """

  @Test("nobody else answers for a mount, and nobody else is answered")
  func foreign() throws {
    let user = try OrdinaryUser(hidesFusermount: false)
    let script = user.directory.file("foreign.sh")
    try Self.script.write(toFile: script, atomically: false, encoding: .utf8)
    let result = try runShell(
      "cd '\(user.directory.path)' && F='\(FaultlineCommand.program)' unshare -m sh '\(script)'",
      in: "/")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("own 0"), "\(result.output)")
    #expect(lines.contains("client 3") && lines.contains("rules 0"), "\(result.output)")
    #expect(!lines.contains { $0.contains("EIO") }, "\(result.output)")
    #expect(
      result.output.contains("is another user's; it is not asked anything"), "\(result.output)")
    #expect(lines.contains("server 3") && !result.output.contains("asked: b"), "\(result.output)")
  }
}
