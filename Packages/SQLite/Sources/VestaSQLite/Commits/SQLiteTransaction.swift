import VestaStoreInterop

/// A transaction on the writer's connection.
final class SQLiteTransaction: StoreTransaction {
  let version: StoreVersion
  private(set) var hasChanges = false

  /// Whether the floor of the versions was raised.
  private(set) var hasFloor = false

  /// The first failure of the storage; it ends the transaction, also for a body that continues after it.
  private(set) var failure: StoreError?

  private let writer: WriterSession
  private let request: WriteRequest
  private let versions: StoreVersions
  private var commitTime: StoreVersion?
  private var hasEnded = false
  /// Whether the body has said that it makes room, and what it has tried.
  private var saysItFrees = false
  private var hasPut = false
  private var hasDeleted = false

  init(_ writer: WriterSession, request: WriteRequest, version: StoreVersion, versions: StoreVersions) {
    self.writer = writer
    self.request = request
    self.version = version
    self.versions = versions
  }

  /// The version of the commit; the next one of the store when it was not asked for before.
  func allotted() -> StoreVersion {
    let version = commitTime ?? versions.next()
    commitTime = version
    return version
  }

  func commitVersion() async throws -> StoreVersion { try attempt("commitVersion") { _ in allotted() } }

  /// Makes a floor durable with the commit.
  func setFloor(_ floor: StoreVersion) throws {
    try attempt("raiseFloor") { table in
      hasFloor = true
      try writer.setFloor(floor, in: table)
    }
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    try attempt("get") { try $0.value(for: key) }
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try attempt("get") { table in try keys.map { try table.value(for: $0) } }
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    // An error of the visitor is its own, not a failure of the storage.
    var thrown: (any Error)?
    let end = try attempt("scan") { table in
      try table.scan(range, order: order, limit: limit, check: request.checkCancellation) { key, value in
        do {
          return try visit(key, value)
        } catch {
          thrown = error
          return .stop
        }
      }
    }
    if let thrown { throw thrown }
    return end
  }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try checkLimits(key: key, value: value)
    try attempt("put") { table in
      (hasChanges, hasPut) = (true, true)
      try writer.put(value, for: key, in: table)
    }
  }

  func delete(_ key: [UInt8]) async throws {
    hasDeleted = true
    try attempt("delete") { table in
      if try table.delete(key, hasLarge: writer.hasLarge) { hasChanges = true }
    }
  }

  func deleteRange(_ range: KeyRange) async throws {
    hasDeleted = true
    try attempt("deleteRange") { table in
      if try table.deleteRange(range, hasLarge: writer.hasLarge) { hasChanges = true }
    }
  }

  func freesRoom() { saysItFrees = true }

  func end() {
    hasEnded = true
    request.note(freesRoom: saysItFrees || hasDeleted && !hasPut)
  }

  private func attempt<Result>(_ operation: String, _ body: (EntryTable) throws -> Result) throws -> Result {
    guard !hasEnded else { throw StoreError(.ended, operation: operation, path: writer.path) }
    if let failure { throw failure }
    try request.checkCancellation()
    do {
      return try body(try writer.table())
    } catch let error as StoreError {
      failure = error
      throw error
    }
  }

  private func checkLimits(key: [UInt8], value: [UInt8]) throws {
    if key.count > StoreLimits.maximumKeyLength { throw StoreError(.keyTooLong, operation: "put", path: writer.path) }
    if value.count > StoreLimits.maximumValueLength {
      throw StoreError(.valueTooLong, operation: "put", path: writer.path)
    }
  }
}
