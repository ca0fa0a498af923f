// FaultSites.swift: every fault of a medium in one file at one moment, by number, so that few are
// tried exhaustively and many are sampled by a seed.
// Invariants: variants of a site differ; the same seed gives the same ones; the list depends only
// on the file, its history and the declaration.
// on the file, its history and the declaration alone.

import CrashStates
import LabCore

/// The possible faults in one file.
struct FaultSites {
  /// A sector and a kind of fault.
  struct Site: Hashable {
    let sector: Int
    let kind: MediumFault.Kind
    let part: FileStructure
  }

  let path: String
  let bytes: [UInt8]
  let map: StructureMap
  let sectorBytes: Int
  /// Sorted by position in the file, then by kind.
  private(set) var sites: [Site] = []
  private let history: MediumHistory
  private let place: MediaPlace?
  private let seed: Seed

  init(
    _ history: MediumHistory, path: String, bytes: [UInt8], map: StructureMap,
    _ declaration: MediaDeclaration, seed: Seed
  ) {
    self.path = path
    self.bytes = bytes
    self.map = map
    self.history = history
    self.seed = seed
    sectorBytes = declaration.sectorBytes
    place = declaration.place
    for sector in 0..<(bytes.count + sectorBytes - 1) / sectorBytes {
      let start = UInt64(sector * sectorBytes)
      let isHit = place?.contains(start..<start + UInt64(sectorBytes), map) ?? true
      guard isHit else { continue }
      for kind in declaration.kinds {
        sites.append(Site(sector: sector, kind: kind, part: map.part(at: start)))
      }
    }
  }

  /// Positions of a cut in a sector: at its start, and at this many drawn bytes.
  private static let cutsInside = 2

  private func range(of sector: Int) -> Range<Int> {
    sector * sectorBytes..<min((sector + 1) * sectorBytes, bytes.count)
  }

  /// Number of variants of a site; some of them may have no effect.
  func variantCount(of site: Site) -> Int {
    switch site.kind {
    case .bitFlip: bits(of: site.sector).reduce(0) { $0 + Self.count($1) } * 8
    case .zeroSector: 1
    case .staleSector: MediumHistory.staleMax
    case .misdirectedSector: (bytes.count + sectorBytes - 1) / sectorBytes - 1
    case .truncatedTail: 1 + Self.cutsInside
    }
  }

  /// The fault with this number; nil when it has no effect.
  func variant(_ number: Int, of site: Site) -> MediumFault? {
    let range = range(of: site.sector)
    func fault(_ count: Int, at offset: Int, _ source: Int) -> MediumFault {
      MediumFault(
        kind: site.kind, file: path, offsetBytes: UInt64(offset), countBytes: count,
        source: UInt64(source))
    }
    switch site.kind {
    case .bitFlip:
      let (byte, bit) = bit(number, of: site.sector)
      return fault(1, at: byte, bit)
    case .zeroSector:
      guard bytes[range].contains(where: { $0 != 0 }) else { return nil }
      return fault(range.count, at: range.lowerBound, 0)
    case .staleSector:
      let contents = history.earlierContents(at: path, sector: site.sector)
      guard number < contents.count else { return nil }
      return fault(range.count, at: range.lowerBound, contents[number].event)
    case .misdirectedSector:
      let count = variantCount(of: site)
      let step = permuted(number, of: count, "misdirected \(site.sector)")
      let source = (site.sector + 1 + step) % (count + 1) * sectorBytes
      guard source + range.count <= bytes.count,
        bytes[source..<source + range.count] != bytes[range]
      else { return nil }
      return fault(range.count, at: range.lowerBound, source)
    case .truncatedTail:
      if number == 0 { return fault(0, at: range.lowerBound, 0) }
      guard range.count > number else { return nil }
      let inside = permuted(number - 1, of: range.count - 1, "cut \(site.sector)")
      return fault(0, at: range.lowerBound + 1 + inside, 0)
    }
  }

  // MARK: - Bits

  /// The bytes of a sector that may be damaged: those with a meaning, and the others.
  private func bits(of sector: Int) -> [[Range<Int>]] {
    var whole = range(of: sector)
    if case .bytes(let offset, let length) = place {
      let first = Int(clamping: offset)
      whole = whole.clamped(to: first..<max(first, Int(clamping: offset &+ length)))
    }
    let start = whole.lowerBound / StructureMap.sectorBytes * StructureMap.sectorBytes
    var meant: [Range<Int>] = []
    var others: [Range<Int>] = []
    var next = whole.lowerBound
    for used in map.used[start / StructureMap.sectorBytes] {
      let used = (start + used.lowerBound..<start + used.upperBound).clamped(to: whole)
      guard !used.isEmpty else { continue }
      if next < used.lowerBound { others.append(next..<used.lowerBound) }
      meant.append(used)
      next = used.upperBound
    }
    if next < whole.upperBound { others.append(next..<whole.upperBound) }
    return [meant, others]
  }

  private static func count(_ ranges: [Range<Int>]) -> Int { ranges.reduce(0) { $0 + $1.count } }

  /// The bit with this number: alternately one with a meaning and one without, while there are
  /// both.
  private func bit(_ number: Int, of sector: Int) -> (byte: Int, bit: Int) {
    let groups = bits(of: sector)
    let counts = groups.map { Self.count($0) * 8 }
    let shorter = min(counts[0], counts[1])
    var group = number % 2
    var place = number / 2
    if number >= shorter * 2 {
      group = counts[0] > counts[1] ? 0 : 1
      place = number - shorter
    }
    let chosen = permuted(place, of: counts[group], "bits \(sector) \(group)")
    var rest = chosen / 8
    for range in groups[group] {
      if rest < range.count { return (range.lowerBound + rest, chosen % 8) }
      rest -= range.count
    }
    preconditionFailure("a number above the number of bits")
  }

  /// The image of a number under a random permutation of 0 ..< count.
  private func permuted(_ number: Int, of count: Int, _ label: String) -> Int {
    guard count > 1 else { return 0 }
    var generator = PRNG(seed.derived(label))
    let first = generator.below(count)
    var step = 1 + generator.below(count - 1)
    while !Self.areCoprime(step, count) { step = step % (count - 1) + 1 }
    let (high, low) = number.multipliedFullWidth(by: step)
    let product = count.dividingFullWidth((high, low)).remainder
    return (product + first) % count
  }

  private static func areCoprime(_ a: Int, _ b: Int) -> Bool {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a == 1
  }
}
