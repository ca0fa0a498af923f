// FaultRule+Files.swift: rejects rules for files that can never have such an operation: a read of a
// folder, a path through a symbolic link. A missing file may become anything, so only existing
// files count against a rule; other rules that never match are reported at the end (FaultPlan).

import LabCore
import Recording

extension FaultRule.Match {
  /// Rejects globs that fit no path at all.
  func validatePath() throws(LabError) {
    guard let path, !path.isEmpty else { return }
    func refuse(_ why: String) -> LabError {
      .usage("fault rule: file '\(path.prefix(200))' never matches: \(why)")
    }
    if path.hasPrefix("/") {
      throw refuse("paths begin at the mount's root, without a slash; leave the first one out")
    }
    if path.hasSuffix("/") { throw refuse("no path ends with a slash; leave the last one out") }
    // A class may contain a slash, which is not a component boundary.
    if path.contains("[") { return }
    let components = path.split(separator: "/", omittingEmptySubsequences: false)
    if let odd = components.first(where: { ["", ".", ".."].contains($0) }) {
      throw refuse("no path has '\(odd)' between slashes; leave it out")
    }
  }

  /// Rejects kinds of operations that an existing file cannot have.
  func validateFiles(of tree: FileTree) throws(LabError) {
    guard let path, !path.isEmpty, !path.contains("[") else { return }
    let components = path.split(separator: "/").map(String.init)
    if components.count == 1 {
      guard !Self.isGlob(path) else { return }
      let name = FileName(path)
      let types = tree.inodes.values.filter { $0.names.contains { $0.name == name } }.map(\.type)
      try refuse(path, among: Set(types))
      return
    }
    var folder = tree.root
    for (place, component) in components.enumerated() {
      guard !Self.isGlob(component), let entry = folder.entries[FileName(component)] else { return }
      if place == components.count - 1 { return try refuse(path, among: [entry.inode.type]) }
      let way = components[...place].joined(separator: "/")
      switch entry.inode.type {
      case .directory: folder = entry.inode
      case .symbolicLink:
        let target = String(decoding: entry.inode.target.prefix(200), as: UTF8.self)
        throw .usage(
          "fault rule: file '\(path)' never matches: '\(way)' is a symbolic link to '\(target)', "
            + "and operations have the path of the file itself; give that")
      default:
        throw .usage("fault rule: file '\(path)' never matches: '\(way)' is a file, no folder")
      }
    }
  }

  /// Rejects a rule if none of the types can have any of its kinds.
  private func refuse(_ path: String, among types: Set<FileType>) throws(LabError) {
    guard let type = types.min(by: { $0.rawValue < $1.rawValue }),
      types.allSatisfy({ kinds.isDisjoint(with: $0.kinds) })
    else { return }
    let list = kinds.sorted().map(\.rawValue).joined(separator: ", ")
    let others = type.kinds.sorted().map(\.rawValue).joined(separator: ", ")
    throw .usage(
      "fault rule: \(list) never hits '\(path)': it is \(type.noun), which has \(others) only")
  }

  private static func isGlob(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }
}

extension FileType {
  /// The kinds of operations on such a file that reach the file system.
  fileprivate var kinds: Set<OperationKind> {
    let all = Set(OperationKind.allCases)
    let ofContent: Set<OperationKind> = [.read, .write, .truncate, .allocate, .sync, .seek]
    let ofFolders: Set<OperationKind> = [.readDirectory, .syncDirectory]
    switch self {
    case .regular: return all.subtracting(ofFolders).subtracting([.readLink])
    case .directory: return all.subtracting(ofContent).subtracting([.readLink, .link])
    case .symbolicLink:
      return all.subtracting(ofContent).subtracting(ofFolders).subtracting([.open, .close])
    // The kernel opens them without asking the file system.
    case .fifo, .socket, .characterDevice, .blockDevice:
      return all.subtracting(ofContent).subtracting(ofFolders)
        .subtracting([.open, .close, .readLink])
    }
  }

  fileprivate var noun: String {
    switch self {
    case .regular: "a file with content"
    case .directory: "a folder"
    case .symbolicLink: "a symbolic link"
    case .fifo: "a pipe"
    case .socket: "a socket"
    case .characterDevice, .blockDevice: "a device"
    }
  }
}

extension FaultFileSystem {
  /// Adds rules after those in force; their counts start at 0.
  /// - Returns: Their numbers.
  /// - Throws: `LabError` with code `.usage` for a rule that can never take effect; then none is
  ///   added.
  @discardableResult
  func addRules(_ rules: [FaultRule]) throws(LabError) -> [Int] {
    for rule in rules {
      try rule.validate()
      try rule.when.validateFiles(of: tree)
      if case .reorder(let before) = rule.what { try before.validateFiles(of: tree) }
    }
    return try plan.add(rules)
  }
}
