// WithoutRootTests.swift: everything that an ordinary user does, by fusermount3, in a namespace of
// the command's own, and in rootless containers.

import Foundation
import TestSupport
import Testing

@Suite("without root", .requires(.fuse, .root, .setpriv, .namespaces), .serialized)
struct WithoutRootTests {
  private static let scenario = """
    version: 1
    title: A process that is killed keeps what it has committed
    schema: {Dog: {_id: int primary, name: string}}
    processes: {app: [ui], late: [third]}
    steps:
      - ui: open
      - ui: {write: [{upsert: Dog, _id: 1..5, name: random, times: 2}]}
      - third: open
      - third: verify
    killSweep: {process: app, at: every commit step}
    """

  /// The commands of a day; each says how it ended.
  private static let day = """
    umask 022
    $F explore --setup 'echo old > s' --workload 'echo new > t && mv t s && echo saved' \
      --check 'grep -qx new s || ! grep -q saved "$FAULTLINE_OUTPUT"' --budget 40 > out 2>&1
    echo "explored $?"
    token=$(sed -n 's/^replay: faultline replay //p' out)
    $F replay "$token" > replayed 2>&1; echo "replayed $?"
    $F certify --workload 'echo a > t && sync t . && echo saved' --budget 30 \
      --check 'grep -q saved "$FAULTLINE_OUTPUT" || exit 0; grep -q a t' > certified 2>&1
    echo "certified $?"
    $F stress --cuts 2 --workload 'for i in 1 2 3; do echo $i > t; sync t .; echo $i; done' \
      --check true > stressed 2>&1; echo "stressed $?"
    $F run --backend fuse kill.yaml > run 2>&1; echo "run $?"
    for log in out replayed certified stressed run; do grep -i 'fuse:' $log; done
    """

  private static let mounts = """
    mkdir mnt; echo 'faults: [{on: write, file: full, error: ENOSPC}]' > faults.yaml
    $F mount mnt --faults faults.yaml > mounted 2>&1 & p=$!
    n=0; until grep -q "mounted on" mounted || [ $n = 400 ]; do sleep 0.05; n=$((n+1)); done
    stat -c 'root %u %g %a' mnt; echo a > mnt/a; echo b | tee mnt/full; $F fault list mnt
    kill -INT $p; wait $p; echo "mount $?"; cat mounted; ls -A mnt
    """

  private func expectDay(_ result: ProgramResult, _ user: OrdinaryUser) {
    let ends = ["explored 1", "replayed 1", "certified 0", "stressed 0", "run 0"]
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines == ends, "\(result.output)\n\(logs(of: user))")
  }

  private func logs(of user: OrdinaryUser) -> String {
    ["out", "replayed", "certified", "stressed", "run"].map { name in
      (try? String(contentsOfFile: "\(user.home)/\(name)", encoding: .utf8)) ?? "no \(name)"
    }.joined(separator: "\n")
  }

  private func dayAsUser(hidesFusermount: Bool, within wrapper: String = "") throws {
    let user = try OrdinaryUser(hidesFusermount: hidesFusermount)
    try user.write(Self.scenario, to: "kill.yaml")
    expectDay(try user.run(Self.day, within: wrapper), user)
  }

  @Test("by fusermount3: explore, certify, stress, run with kills, replay")
  func byFusermount() throws { try dayAsUser(hidesFusermount: false) }

  @Test("a user without a name, as in containers, whom fusermount3 refuses, gets a namespace")
  func nameless() throws {
    let user = try OrdinaryUser(number: 54321)
    let result = try user.run(
      "$F explore --workload 'echo a > t; sync t .; echo saved' --check true --budget 5; $F doctor")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("user 54321 has no name"), "\(result.output)")
    #expect(result.output.contains("verdict: held"), "\(result.output)")
  }

  @Test("without fusermount3, in a namespace of the command's own")
  func byNamespace() throws { try dayAsUser(hidesFusermount: true) }

  @Test("as root of a user namespace")
  func asRootOfNamespace() throws {
    try dayAsUser(hidesFusermount: true, within: "unshare -Urm")
  }

  private static let bubble =
    "bwrap --bind / / --proc /proc --dev /dev --dev-bind /dev/fuse /dev/fuse --die-with-parent"

  @Test("in a container of bubblewrap", .requires(.bubblewrap))
  func inBubblewrap() throws {
    try dayAsUser(hidesFusermount: false, within: Self.bubble)
  }

  @Test("a mount by fusermount3 belongs to the user, has faults, and ends without a word")
  func mountByFusermount() throws {
    let user = try OrdinaryUser()
    let result = try user.run(Self.mounts)
    let text = result.output
    #expect(text.contains("root 65534 65534 755\n"), "\(text)")
    #expect(text.contains("No space left on device") && text.contains("mount 0"), "\(text)")
    #expect(text.contains("hits=1") && !text.contains("fuse:"), "\(text)")
  }

  @Test("a mount in a namespace of its own says how to go there")
  func mountInNamespace() throws {
    let user = try OrdinaryUser(hidesFusermount: true)
    let result = try user.run(
      """
      mkdir mnt; $F mount mnt > mounted 2>&1 & p=$!
      n=0; until grep -q nsenter mounted || [ $n = 200 ]; do sleep 0.05; n=$((n+1)); done
      enter=$(sed -n 's/.*: nsenter/nsenter/p' mounted)
      $enter sh -c "cd $PWD/mnt && echo a > a && stat -c 'file %u %g %a' a && $F fault list ."
      kill -INT $p; wait $p; echo "mount $?"; cat mounted; ls -A mnt
      """)
    #expect(result.output.contains("file 65534 65534 644\n"), "\(result.output)")
    #expect(result.output.contains("mount 0\n"), "\(result.output)")
  }

  @Test("neither the program nor the checker has a capability", arguments: [false, true])
  func withoutCapabilities(hidesFusermount: Bool) throws {
    let user = try OrdinaryUser(hidesFusermount: hidesFusermount)
    let result = try user.run(
      """
      $F explore --workload 'grep -E "Cap(Inh|Prm|Eff|Amb)" /proc/self/status > caps' \
        --check 'cat caps /proc/self/status | grep -E "Cap(Inh|Prm|Eff|Amb)" | \
          grep -v "0000000000000000" && exit 1; true'; echo "explored $?"
      """)
    #expect(result.output.contains("explored 0\n"), "\(result.output)")
  }

  @Test("owners, groups and modes are those of a disk", arguments: [false, true])
  func ownership(hidesFusermount: Bool) throws {
    let user = try OrdinaryUser(hidesFusermount: hidesFusermount)
    let result = try user.run(
      """
      cat > work.sh <<'END'
      stat -c '%n %u:%g %a' .; umask 027; echo a > f; mkdir d; chmod 2770 d; mkdir d/e; echo b > d/f
      chmod 4755 f; echo c >> f; stat -c '%n %a' f; chmod 6755 f; : > f; stat -c '%n %a' f
      chmod 2755 f; fallocate -l 9 f; stat -c '%n %a' f; chown 0 f 2>/dev/null && echo gave away
      mkdir n; echo a > n/a; chmod 600 n; mkdir m; chmod 0 m
      mkdir t; chmod 1777 t; ln -s f l; stat -c '%n %u:%g %a' f d d/e d/f t l
      END
      sh work.sh > real 2>&1
      $F explore --workload "sh $PWD/work.sh > '$PWD/lab' 2>&1" --check true > out 2>&1
      echo "explored $?"; sed 1d real > a; sed 1d lab > b; diff a b && echo same; head -1 lab
      """)
    let lines = result.output.split(separator: "\n")
    #expect(lines == ["explored 0", "same", ". 65534:65534 755"], "\(result.output)")
  }

  @Test("run directories are closed to others, and no link leads to one")
  func runDirectories() throws {
    let user = try OrdinaryUser()
    let result = try user.run(
      """
      umask 000; mkdir s other; ln -s "$PWD/other" s/faultline-$(id -u)
      export FAULTLINE_SCRATCH=$PWD/s
      $F explore --workload 'echo a > t' --check "stat -c %a '$PWD'/s/*/*/1 >> '$PWD/modes'" > out
      echo "explored $?"; sort -u modes; ls -A other; stat -c %a s/*-*-*
      rm s/faultline-$(id -u); rmdir s/*; mkdir -m 777 s/faultline-$(id -u)
      $F explore --workload true --check true > out
      echo "explored $?"; stat -c %a s/*
      """)
    let lines = result.output.split(separator: "\n")
    #expect(
      lines == ["explored 0", "700", "700", "explored 0", "700"], "\(result.output)")
  }

  @Test("a calibration that can mount nothing does not hold")
  func calibration() throws {
    let user = try OrdinaryUser()
    let result = try user.run(
      "$F calibrate --on ext4 --model ext4-ordered --probe overwrite; echo \"calibrated $?\"")
    #expect(result.output.contains("nothing was compared"), "\(result.output)")
    #expect(result.output.hasSuffix("calibrated 3\n"), "\(result.output)")
    #expect(!result.output.contains("verdict"), "\(result.output)")
  }
}
