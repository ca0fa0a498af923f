// LeafView+Shim.swift: until columns come.

extension LeafView {
  @inline(__always)
  func nulls(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    guard let array = PackedArray(in: node.bytes, at: 0, count: count, width: 0, base: 0) else {
      throw .corrupted("")
    }
    return array
  }
  @inline(__always)
  func words(_ column: Int, _ shape: LeafShape) throws(EngineError) -> PackedArray {
    try integers(column, shape)
  }
}
