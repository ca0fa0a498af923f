// Fingerprints.swift: whether all files are as they were at some mark, for files that are written
// in place, whose contents nobody can name.

import Recording

/// What all touched files were at the marks, one number for each.
struct Fingerprints: Sendable {
  /// The trees themselves, but for the one before the run; none where no file is written in place.
  private(set) var trees: [(crashPoint: Int, tree: TreeImage)] = []
  /// The number at each mark, before the run and after it; empty when no file is written in place.
  private(set) var numbers: [(crashPoint: Int, number: Int)] = []
  private(set) var paths: [String] = []

  /// More marks than these are not compared.
  private static let marksMax = 2_000

  mutating func note(_ tree: TreeImage, at crashPoint: Int) {
    if trees.count < Self.marksMax { trees.append((crashPoint, tree)) }
  }

  /// The numbers, once all touched paths are known.
  func finished(_ history: FileHistory, _ initial: TreeImage) -> Fingerprints {
    var result = Fingerprints()
    guard history.files.values.contains(where: \.isManaged), trees.count < Self.marksMax else {
      return result
    }
    result.paths = history.paths.filter { !FileNames.isLock($0) }
    result.trees = trees
    result.numbers = [(0, result.number(of: initial))]
    for (point, tree) in trees { result.numbers.append((point, result.number(of: tree))) }
    return result
  }

  /// One number for all touched files of a tree; equal in one process for equal contents.
  func number(of tree: TreeImage) -> Int {
    var hasher = Hasher()
    for path in paths {
      hasher.combine(path)
      guard let inode = tree.inode(at: path), let image = tree.inodes[inode] else { continue }
      hasher.combine(image.visibleBytes)
    }
    return hasher.finalize()
  }

  /// The latest mark before a promise at which all was as it is now, if it is no later state.
  func wentBack(_ number: Int, before promise: Int) -> Bool {
    let isLater = numbers.contains { $0.crashPoint >= promise && $0.number == number }
    return !isLater && numbers.contains { $0.crashPoint < promise && $0.number == number }
  }
}

extension TreeImage {
  /// The inode at a path, whose names are separated by `/`; symbolic links are not followed.
  func inode(at path: String) -> InodeNumber? {
    var number = InodeNumber.root
    for name in path.utf8.split(separator: UInt8(ascii: "/")) {
      guard let next = inodes[number]?.entries[FileName(bytes: Array(name))] else { return nil }
      number = next
    }
    return number
  }

  /// Whether some file is these bytes, or holds them.
  func holds(_ bytes: [UInt8]) -> Bool {
    regularFiles().contains { _, image in
      image.sizeBytes >= UInt64(bytes.count) && image.visibleBytes?.contains(bytes: bytes) == true
    }
  }

  /// All regular files, by path, in a fixed order.
  package func regularFiles() -> [(path: String, image: InodeImage)] {
    var files: [(path: String, image: InodeImage)] = []
    var open: [(path: String, inode: InodeNumber)] = [("", .root)]
    while let (path, number) = open.popLast() {
      guard let image = inodes[number] else { continue }
      if image.type == .regular { files.append((path, image)) }
      for (name, child) in image.entries.sorted(by: { $0.key > $1.key }) {
        open.append((path.isEmpty ? "\(name)" : "\(path)/\(name)", child))
      }
    }
    return files
  }
}
