// ErrorNumbers.swift: the numbers of error codes: RealmSwift's for its codes, and numbers from 101
// on for those that only this library has. Invariant: a number never changes its meaning.

import Foundation

extension Realm.Error.Code: RawRepresentable {
  /// The code of a number; nil if no code has it.
  public init?(rawValue: Int) {
    guard let code = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = code
  }

  /// The number of the code.
  public var rawValue: Int {
    switch self {
    case .fail: 1
    case .fileAccess: 2
    case .filePermissionDenied: 3
    case .fileExists: 4
    case .fileNotFound: 5
    case .fileFormatUpgradeRequired: 6
    case .incompatibleLockFile: 8
    case .addressSpaceExhausted: 9
    case .schemaMismatch: 10
    case .incompatibleSyncedFile: 11
    case .alreadyOpen: 12
    case .invalidInput: 13
    case .outOfDiskSpace: 14
    case .incompatibleSession: 15
    case .unsupportedFileFormatVersion: 16
    case .multipleSyncAgents: 17
    case .subscriptionFailed: 18
    case .fileOperationFailed: 19
    case .invalidDatabase: 20
    case .incompatibleHistories: 21
    case .readOnly: 101
    case .schemaVersion: 102
    case .unsupportedClass: 103
    case .invalidValue: 104
    case .wrongThread: 105
    case .frozen: 106
    case .transaction: 107
    case .tooManyVersions: 108
    }
  }
}

extension Realm.Error: CustomNSError {
  /// RealmSwift's name for errors of realms.
  public static var errorDomain: String { "io.realm" }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
