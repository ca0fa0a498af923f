// TraceFileRow.swift: one row of a trace file, read column by column; every value is checked.

import Foundation
import GRDB
import LabCore

/// A row whose columns may hold arbitrary values.
struct TraceRow {
  private let row: Row
  private let table: String
  private let index: Int

  init(_ row: Row, table: String, index: Int) {
    self.row = row
    self.table = table
    self.index = index
  }

  func wrong(_ what: String) -> LabError {
    .usage("table \(table), row \(index): \(what)")
  }

  private func value(_ column: Int) -> DatabaseValue.Storage {
    let value: DatabaseValue = row[column]
    return value.storage
  }

  func isNull(_ column: Int) -> Bool {
    if case .null = value(column) { return true }
    return false
  }

  /// Any 64 bits.
  func bits(_ column: Int) throws -> UInt64 {
    guard case .int64(let number) = value(column) else {
      throw wrong("column \(column) is not a number")
    }
    return UInt64(bitPattern: number)
  }

  func number(
    _ column: Int, in range: ClosedRange<UInt64> = 0...UInt64(Int64.max)
  ) throws -> UInt64 {
    let number = try bits(column)
    guard range.contains(number) else {
      throw wrong("column \(column) is \(Int64(bitPattern: number)), not in \(range)")
    }
    return number
  }

  func text(_ column: Int) throws -> String {
    guard case .string(let text) = value(column) else {
      throw wrong("column \(column) is not text")
    }
    return text
  }

  /// The bytes of a blob; nil for null.
  func bytes(_ column: Int) throws -> [UInt8]? {
    switch value(column) {
    case .blob(let data): return Array(data)
    case .null: return nil
    default: throw wrong("column \(column) is neither a blob nor null")
    }
  }

  func name(_ column: Int) throws -> FileName {
    let name = FileName(bytes: try bytes(column) ?? [])
    do throws(ErrorNumber) {
      try FileTree.check(name)
    } catch {
      throw wrong("column \(column) is not the name of a file")
    }
    return name
  }

  /// Two times in seconds, separated by a space; `-` for one that is not set.
  func times(_ column: Int) throws -> [Timestamp?] {
    let text = String(decoding: try bytes(column) ?? [], as: UTF8.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let times = words.map { Timestamp(seconds: String($0)) }
    guard words.count == 2, zip(words, times).allSatisfy({ $0 == "-" || $1 != nil }) else {
      throw wrong("column \(column) is not two times in seconds")
    }
    return times
  }

  func type(_ column: Int) throws -> FileType {
    guard let type = FileType(word: try text(column)) else {
      throw wrong("column \(column) is not a kind of file")
    }
    return type
  }

  /// Mode, user and group from three columns.
  func ownership(_ column: Int) throws -> Ownership {
    Ownership(
      mode: UInt32(try number(column, in: 0...0o7777)),
      user: UInt32(try number(column + 1, in: 0...0xffff_ffff)),
      group: UInt32(try number(column + 2, in: 0...0xffff_ffff)))
  }

  func inode(_ column: Int, _ types: [InodeNumber: FileType]) throws -> InodeNumber {
    let inode = InodeNumber(rawValue: try number(column))
    guard types[inode] != nil else { throw wrong("inode \(inode) does not exist yet") }
    return inode
  }

  func directory(_ column: Int, _ types: [InodeNumber: FileType]) throws -> InodeNumber {
    let inode = try inode(column, types)
    guard types[inode] == .directory else { throw wrong("inode \(inode) is not a directory") }
    return inode
  }
}
