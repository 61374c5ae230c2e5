import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaStoreInterop

/// The keys that sign and verify tokens: kept in the store, and in memory once they have been read.
///
/// A key signs for `signingKeyLifetime`, then a new one takes its place. Retired keys verify for as long as the longest
/// token that they may have signed, a session cookie of two weeks. The keys in memory are a cache: it is
/// compared with the store once a minute, so a rotation reaches every process that shares the store.
final class KeyRing: Sendable {
  /// The keys as they are used.
  struct Loaded: Sendable {
    let signer: any SigningKey
    let createdAt: Int64
    let verifiers: [any VerificationKey]
    /// The certificates of the keys by their names.
    let certificates: [String: String]
    /// The identifiers of the keys, and when they were last seen in the store.
    let ids: [String]
    var seenAt: Int64
  }

  private static let retirement: Int64 = 15 * 86_400_000

  /// For how long the keys in memory are used without reading the store: a minute.
  private static let recheck: Int64 = 60_000

  private enum Load: Hashable, Sendable { case keys, account }

  private let store: @Sendable () async throws -> any OrderedStore
  private let crypto: any CryptoProvider
  private let options: AuthServiceOptions
  private let projectID: String
  private let loaded = Locked<Loaded?>(nil)
  private let account = Locked<(any SigningKey)?>(nil)
  private let loads = SingleFlight<Load, Loaded>()
  private let accountLoads = SingleFlight<Load, ServiceAccountRecord>()

  init(
    crypto: any CryptoProvider, options: AuthServiceOptions, projectID: String,
    store: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.store = store
    self.crypto = crypto
    self.options = options
    self.projectID = projectID
  }

  // MARK: Tokens of users

  /// The key that signs now; made, or made again, where it is time.
  func signer() async throws -> any SigningKey { try await current().signer }

  /// The certificates of the keys that verify, by the names of the keys.
  func certificates() async throws -> [String: String] { try await current().certificates }

  /// The keys that verify, the signing one first.
  func verifiers() async throws -> [any VerificationKey] { try await current().verifiers }

  /// The key of a token; read again from the store where it is not known, as another process may have made it.
  func verifier(keyID: String?) async throws -> (any VerificationKey)? {
    guard let keyID else { return nil }
    if let key = try await current().verifiers.first(where: { $0.keyID == keyID }) { return key }
    // A forged token must not make every call read the store.
    guard keyID.utf8.count <= 128, let record = try await stored(), Self.ids(of: record).contains(keyID) else {
      return nil
    }
    return try keep(record).verifiers.first { $0.keyID == keyID }
  }

  /// Signs with a new key from now on.
  func rotate() async throws { _ = try await makeKey(replacing: nil) }

  private func current() async throws -> Loaded {
    let now = options.now()
    // Either way: a clock that was set back turns a past time into a future one.
    if let keys = loaded.withLock({ $0 }), isFresh(keys.createdAt, now), abs(now - keys.seenAt) < Self.recheck {
      return keys
    }
    return try await loads.value(for: .keys) {
      let record = try await self.stored()
      if let record, self.isFresh(record.current.createdAt, now) { return try self.keep(record) }
      return try await self.makeKey(replacing: record.map(\.current.id) ?? "")
    }
  }

  private func isFresh(_ createdAt: Int64, _ now: Int64) -> Bool {
    now - createdAt < options.signingKeyLifetime.milliseconds
  }

  private func stored() async throws -> SigningKeysRecord? {
    try await store().read(expecting: .keys([Keys.signingKeys])) {
      try await $0.record(SigningKeysRecord.self, Keys.signingKeys)
    }
  }

  /// Makes a key and puts it in place of the current one.
  ///
  /// - Parameter old: The key to replace: where another one exists by now, that one stays. `nil` for any.
  private func makeKey(replacing old: String?) async throws -> Loaded {
    let key = try await crypto.generateSigningKey(.rs256)
    let now = options.now()
    let made = SigningKeysRecord.Key(id: key.keyID, pem: try key.privatePEM(), createdAt: now)
    let record = try await store().write { transaction in
      let present = try await transaction.record(SigningKeysRecord.self, Keys.signingKeys)
      if let present, let old, present.current.id != old { return present }
      var record = SigningKeysRecord(current: made)
      if var retired = present?.current {
        retired.retiredAt = now
        record.previous = [retired] + (present?.previous ?? [])
      }
      record.previous.removeAll { now - ($0.retiredAt ?? now) > Self.retirement }
      try await transaction.put(record, Keys.signingKeys)
      return record
    }
    return try keep(record.value)
  }

  private func keep(_ record: SigningKeysRecord) throws -> Loaded {
    let (ids, now) = (Self.ids(of: record), options.now())
    if var keys = loaded.withLock({ $0 }), keys.ids == ids {
      keys.seenAt = now
      loaded.withLock { $0 = keys }
      return keys
    }
    let keys = try load(record, ids: ids, now: now)
    loaded.withLock { $0 = keys }
    return keys
  }

  private func load(_ record: SigningKeysRecord, ids: [String], now: Int64) throws -> Loaded {
    let signer = try crypto.signingKey(pem: record.current.pem, algorithm: .rs256, keyID: record.current.id)
    let previous = try record.previous.map {
      (key: try crypto.signingKey(pem: $0.pem, algorithm: .rs256, keyID: $0.id), createdAt: $0.createdAt)
    }
    var certificates: [String: String] = [:]
    for (key, createdAt) in [(signer, record.current.createdAt)] + previous {
      certificates[key.keyID] = try certificate(of: key, createdAt: createdAt)
    }
    return Loaded(
      signer: signer, createdAt: record.current.createdAt,
      verifiers: [signer.verificationKey] + previous.map(\.key.verificationKey), certificates: certificates, ids: ids,
      seenAt: now)
  }

  /// A certificate for as long as the key signs and its tokens may be used; the same in every process.
  private func certificate(of key: any SigningKey, createdAt: Int64) throws -> String? {
    let name = try crypto.digest(.sha256, of: Array(key.keyID.utf8))
    let serial = name.prefix(7).reduce(UInt64(1)) { $0 << 8 | UInt64($1) }
    let facts = CertificateFacts(
      commonName: "securetoken.system.gserviceaccount.com", serialNumber: serial, validFrom: createdAt / 1000,
      validUntil: (createdAt + options.signingKeyLifetime.milliseconds + Self.retirement) / 1000)
    do throws(CryptoError) {
      return try key.certificate(facts)
    } catch {
      guard error.code == .unsupported else { throw error }
      return nil
    }
  }

  private static func ids(of record: SigningKeysRecord) -> [String] {
    [record.current.id] + record.previous.map(\.id)
  }

  // MARK: Custom tokens

  /// The service account; made when it is first asked for.
  func serviceAccount() async throws -> ServiceAccountRecord {
    try await accountLoads.value(for: .account) {
      let store = try await self.store()
      if let record = try await store.read({ try await $0.record(ServiceAccountRecord.self, Keys.serviceAccount) }) {
        return record
      }
      let key = try await self.crypto.generateSigningKey(.rs256)
      let made = ServiceAccountRecord(
        clientEmail: "firebase-adminsdk@\(self.projectID).iam.gserviceaccount.com", keyID: key.keyID,
        pem: try key.privatePEM())
      return try await store.write { transaction in
        if let other = try await transaction.record(ServiceAccountRecord.self, Keys.serviceAccount) { return other }
        try await transaction.put(made, Keys.serviceAccount)
        return made
      }.value
    }
  }

  /// The service account's name and key; `nil` until the account was requested.
  func customTokenKey() async throws -> (clientEmail: String, key: any SigningKey)? {
    let record = try await store().read {
      try await $0.record(ServiceAccountRecord.self, Keys.serviceAccount)
    }
    guard let record else { return nil }
    if let key = account.withLock({ $0 }), key.keyID == record.keyID { return (record.clientEmail, key) }
    let key = try crypto.signingKey(pem: record.pem, algorithm: .rs256, keyID: record.keyID)
    account.withLock { $0 = key }
    return (record.clientEmail, key)
  }
}
