// InitFile.swift: the files that `faultline init` writes: scripts that run as they are, with
// comments on what to replace. Tests run them.

/// A file to begin with.
struct InitFile {
  static let folder = "crash-test"
  static let gitHub = ".github/workflows/crash-test.yml"
  static let gitLab = "\(folder)/gitlab-ci.yml"

  /// Place in the project's directory.
  let path: String
  /// What it is, for the list of what was written.
  let purpose: String
  let text: String

  /// The files for a project, in the order in which a reader wants them.
  static func all(of project: ProjectKind, ci: Init.System) -> [InitFile] {
    var files = [
      InitFile(
        path: "\(folder)/workload.sh", purpose: "what is recorded", text: workload(project)),
      InitFile(
        path: "\(folder)/check.sh", purpose: "what must hold after a power failure", text: check),
      InitFile(path: "\(folder)/run.sh", purpose: "runs both", text: run(project)),
    ]
    switch ci {
    case .github: files.append(InitFile(path: gitHub, purpose: "CI", text: workflow(project)))
    case .gitlab: files.append(InitFile(path: gitLab, purpose: "CI", text: pipeline(project)))
    case .none: break
    }
    return files
  }

  private static func workload(_ project: ProjectKind) -> String {
    """
    #!/bin/sh
    # What Faultline records: a run of your program that saves something.
    # It starts in an empty directory ($FAULTLINE_DIR). Only files in that directory lose data when
    # the power fails, so let your program keep its data there; it is the current directory.
    set -eu
    project=$(cd "$(dirname "$0")/.." && pwd)

    # Each line of output is an acknowledgement: what it says must survive from then on. Print one
    # when your program has reported success to its user, and not before.
    #
    # Example to replace: it saves a number three times, each time in a new file that replaces the
    # old one. Leave out one of the two syncs, and 'sh \(folder)/run.sh' finds what is lost.
    # Your program would be called here, as in:
    #   \(project.program) save "$number"
    for number in 1 2 3; do
      echo "number=$number" > settings.new
      sync settings.new             # the content, before it gets its name
      mv settings.new settings
      sync .                        # the name
      echo "saved $number"
    done

    """
  }

  private static let check = """
    #!/bin/sh
    # Judges one state that a power failure could leave. It starts in a directory with that state's
    # files. $FAULTLINE_OUTPUT is a file with what the workload had printed before the power failed.
    # Exit status 0: the state is all right. Any other: it is not, and what is printed says why;
    # states with the same words are one finding.
    set -eu

    # Example to replace: the file is whole, and has the number that was reported last, or a later
    # one. Let your program open its files here, as after a real power failure, then ask for data.
    acknowledged=$(sed -n 's/^saved //p' "$FAULTLINE_OUTPUT" | tail -n 1)
    if [ ! -e settings ]; then
      [ -z "$acknowledged" ] && exit 0
      echo "saved, but there are no settings"
      exit 1
    fi
    number=$(sed -n 's/^number=//p' settings)
    [ -n "$number" ] || { echo "the settings are damaged"; exit 1; }
    if [ "$number" -lt "${acknowledged:-0}" ]; then
      echo "saved, but the old settings are back"
      exit 1
    fi

    """

  private static func run(_ project: ProjectKind) -> String {
    let build =
      project.build.isEmpty
      ? "" : "\n# Build what the workload calls:\n# (cd \"$here/..\" && \(project.build))\n"
    return """
      #!/bin/sh
      # Checks every state that a power failure could leave of the workload. Options are those of
      # 'faultline explore', as in: sh \(folder)/run.sh --model all --report crash-report
      set -eu
      here=$(cd "$(dirname "$0")" && pwd)
      \(build)
      # The replay command of a finding has these commands, so they name the scripts by full paths.
      quoted="'$(printf '%s' "$here" | sed "s/'/'\\\\\\\\''/g")'"
      exec faultline explore --workload "sh $quoted/workload.sh" --check "sh $quoted/check.sh" "$@"

      """
  }

  private static func workflow(_ project: ProjectKind) -> String {
    let build = project.build.isEmpty ? "" : "\n      # - run: \(project.build)"
    return """
      # Loses the power at every moment of \(folder)/workload.sh, on each push.
      name: crash-test
      on: [push, pull_request]

      permissions:
        contents: read
        security-events: write

      jobs:
        crash-test:
          runs-on: ubuntu-24.04
          steps:
            - uses: actions/checkout@v4
            # Build what the workload calls.\(build)
            # OWNER has Faultline's repository.
            - uses: OWNER/faultline@v0
              with:
                workload: sh "$GITHUB_WORKSPACE/\(folder)/workload.sh"
                check: sh "$GITHUB_WORKSPACE/\(folder)/check.sh"
                # What the file systems of your users promise; 'all' checks every model.
                models: ext4-ordered
                # States for each model; the most telling ones come first.
                budget: 2000

      """
  }

  private static func pipeline(_ project: ProjectKind) -> String {
    let build = project.build.isEmpty ? "" : "\n    # - \(project.build)"
    return """
      # Loses the power at every moment of \(folder)/workload.sh, on each push. In .gitlab-ci.yml:
      #   include:
      #     - local: \(folder)/gitlab-ci.yml
      # The runner needs `privileged = true` and `devices = ["/dev/fuse"]`.
      crash-test:
        image: debian:13-slim
        variables:
          # Where the package of the release lies: faultline_…_amd64.deb.
          FAULTLINE_PACKAGE: faultline.deb
          FAULTLINE_WORKLOAD: sh "$CI_PROJECT_DIR/\(folder)/workload.sh"
          FAULTLINE_CHECK: sh "$CI_PROJECT_DIR/\(folder)/check.sh"
          FAULTLINE_MODELS: ext4-ordered
          FAULTLINE_BUDGET: "2000"
        script:
          - apt-get update -qq
          - apt-get install -y -qq "./$FAULTLINE_PACKAGE"
          # Build what the workload calls.\(build)
          - sh /usr/share/faultline/ci.sh
        artifacts:
          when: always
          paths: [faultline-report]
          reports:
            junit: faultline-report/report.xml

      """
  }
}
