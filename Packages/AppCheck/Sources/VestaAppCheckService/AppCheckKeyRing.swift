import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

/// The rows of the store.
///
/// | key | value |
/// |---|---|
/// | `"keys"` | ``SigningKeysRow``: the key that signs, and the one before |
/// | `"debug"`, app, digest | nothing; a secret for development |
/// | `"consumed"`, id | nothing; a token that was consumed |
/// | `"end"`, time, id | nothing; when the row before may go |
enum AppCheckKeys {
  static let keys = KeyEncoder(.string("keys")).bytes

  static func debug(_ appID: String, _ secret: String) -> [UInt8] {
    KeyEncoder(.string("debug"), .string(appID), .bytes(SHA256.digest(Array(secret.utf8)))).bytes
  }

  static func consumed(_ id: String) -> [UInt8] { KeyEncoder(.string("consumed"), .string(id)).bytes }

  static func end(_ time: Int64, _ id: String) -> [UInt8] {
    KeyEncoder(.string("end"), .int(time), .string(id)).bytes
  }

  /// The rows of tokens that have ended at a time.
  static func ended(by time: Int64) -> KeyRange {
    KeyRange(
      from: KeyEncoder(.string("end")).range.lower, to: KeyEncoder(.string("end"), .int(time)).bytes)
  }

  static func id(ofEnd key: [UInt8]) throws -> String {
    var decoder = KeyDecoder(key)
    _ = try decoder.string()
    _ = try decoder.int()
    return try decoder.string()
  }
}

/// The keys of a project.
struct SigningKeysRow: FieldRecord {
  var keyID = ""
  var pem = ""
  var createTime: Int64 = 0
  var previousID: String?
  var previousPEM: String?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &keyID)
    try visitor.field(2, &pem)
    try visitor.field(3, &createTime)
    try visitor.field(4, &previousID)
    try visitor.field(5, &previousPEM)
    if visitor.isReading, pem.isEmpty { throw BytesError(.malformed, "It has no key.") }
  }
}

/// The keys that sign and verify tokens: kept in the store, and in memory once they have been read.
///
/// A key signs for `signingKeyLifetime`, then a new one takes its place; the one before verifies on, as a key lasts for
/// longer than any token.
final class AppCheckKeyRing: Sendable {
  private struct Loaded: Sendable {
    let row: SigningKeysRow
    let signer: any SigningKey
    let verifiers: [any VerificationKey]
  }

  private let crypto: any CryptoProvider
  private let options: AppCheckServiceOptions
  private let store: @Sendable () async throws -> any OrderedStore
  private let loaded = Locked<Loaded?>(nil)
  private let loads = SingleFlight<Bool, Loaded>()

  init(
    crypto: any CryptoProvider, options: AppCheckServiceOptions,
    store: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.crypto = crypto
    self.options = options
    self.store = store
  }

  func signer(now: Int64) async throws -> any SigningKey { try await current(now).signer }

  func verifiers(now: Int64) async throws -> [any VerificationKey] { try await current(now).verifiers }

  /// The keys that verify a token: read again where its key is not known, as another process may have made it.
  func verifiers(now: Int64, for keyID: String?) async throws -> [any VerificationKey] {
    let keys = try await current(now).verifiers
    guard let keyID, !keys.contains(where: { $0.keyID == keyID }), let row = try await stored() else { return keys }
    return try keep(row).verifiers
  }

  private func current(_ now: Int64) async throws -> Loaded {
    if let keys = loaded.withLock({ $0 }), isFresh(keys.row, now) { return keys }
    return try await loads.value(for: true) { [self] in
      if let row = try await stored(), isFresh(row, now) { return try keep(row) }
      return try await make(now)
    }
  }

  private func isFresh(_ row: SigningKeysRow, _ now: Int64) -> Bool {
    let age = now.subtractingReportingOverflow(row.createTime)
    return !age.overflow && age.partialValue < options.signingKeyLifetime.microseconds
  }

  private func stored() async throws -> SigningKeysRow? {
    usable(try await store().read { try await $0.get(AppCheckKeys.keys) })
  }

  /// The keys of a row; `nil` where they cannot be read.
  ///
  /// New keys cost every client one more exchange, as tokens are short-lived. Without them every caller would be
  /// refused for good.
  private func usable(_ bytes: [UInt8]?) -> SigningKeysRow? {
    guard let bytes else { return nil }
    do {
      let row = try SigningKeysRow(fieldBytes: bytes)
      _ = try keys(of: row)
      return row
    } catch {
      log.error("I-ACS000002", "The keys of App Check's tokens cannot be read, and are replaced. \(error)")
      return nil
    }
  }

  /// Makes a key and puts it in place of the current one, unless another process was faster.
  private func make(_ now: Int64) async throws -> Loaded {
    let key = try await crypto.generateSigningKey(.rs256)
    let pem = try key.privatePEM()
    let row = try await store().write { transaction in
      try await self.put(SigningKeysRow(keyID: key.keyID, pem: pem, createTime: now), transaction)
    }
    return try keep(row.value)
  }

  private func put(_ made: SigningKeysRow, _ transaction: any StoreTransaction) async throws -> SigningKeysRow {
    var row = made
    if let present = usable(try await transaction.get(AppCheckKeys.keys)) {
      if isFresh(present, row.createTime) { return present }
      (row.previousID, row.previousPEM) = (present.keyID, present.pem)
    }
    try await transaction.put(row.fieldBytes(), for: AppCheckKeys.keys)
    return row
  }

  private func keep(_ row: SigningKeysRow) throws -> Loaded {
    if let keys = loaded.withLock({ $0 }), keys.row.keyID == row.keyID { return keys }
    let keys = try keys(of: row)
    loaded.withLock { $0 = keys }
    return keys
  }

  private func keys(of row: SigningKeysRow) throws -> Loaded {
    let signer = try crypto.signingKey(pem: row.pem, algorithm: .rs256, keyID: row.keyID)
    var verifiers = [signer.verificationKey]
    if let pem = row.previousPEM, let id = row.previousID {
      verifiers.append(try crypto.signingKey(pem: pem, algorithm: .rs256, keyID: id).verificationKey)
    }
    return Loaded(row: row, signer: signer, verifiers: verifiers)
  }
}

/// The tokens that were consumed, each until it would have ended.
struct ConsumedTokens {
  let transaction: any StoreTransaction

  /// For how long a token is remembered after its end: a call may have verified it before, and consume it after.
  private static let kept: Int64 = 300_000_000

  /// Consumes a token, and forgets some that have ended.
  ///
  /// - Returns: Whether it was consumed before.
  func consume(_ id: String, end: Int64, _ now: Int64, _ limit: Int) async throws -> Bool {
    for entry in try await transaction.entries(in: AppCheckKeys.ended(by: now - Self.kept), limit: limit) {
      // A damaged row goes, too: it must not keep every other token from being consumed.
      if let id = try? AppCheckKeys.id(ofEnd: entry.key) { try await transaction.delete(AppCheckKeys.consumed(id)) }
      try await transaction.delete(entry.key)
    }
    if try await transaction.get(AppCheckKeys.consumed(id)) != nil { return true }
    try await transaction.put([], for: AppCheckKeys.consumed(id))
    try await transaction.put([], for: AppCheckKeys.end(end, id))
    return false
  }
}

private let log = Logger(service: "VestaAppCheckService")
