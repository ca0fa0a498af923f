// MemoryQuota.swift: the memory that the files of one tree may use, and do use.

/// Memory that all files of one tree share.
package final class MemoryQuota {
  /// The maximum.
  package let limitBytes: UInt64
  package private(set) var usedBytes: UInt64 = 0
  /// Pages that all files occupy.
  package var pageCount: UInt64 = 0

  init(limitBytes: UInt64) { self.limitBytes = limitBytes }

  /// Reserves bytes; false when they would exceed the quota.
  func reserve(_ countBytes: Int) -> Bool {
    let (sum, overflow) = usedBytes.addingReportingOverflow(UInt64(countBytes))
    if overflow || sum > limitBytes { return false }
    usedBytes = sum
    return true
  }

  func release(_ countBytes: Int) {
    precondition(UInt64(countBytes) <= usedBytes, "released more than was reserved")
    usedBytes -= UInt64(countBytes)
  }
}
