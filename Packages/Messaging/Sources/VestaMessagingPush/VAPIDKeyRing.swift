import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaStoreInterop

/// The key of a project for push services: made once, kept in the store, and never replaced.
///
/// Every subscription names the key: with another one all of them would have to be made again. The store has one row,
/// `"vapid"`, with ``VAPIDKeyRow``.
final class VAPIDKeyRing: Sendable {
  private let crypto: any CryptoProvider
  private let store: @Sendable () async throws -> any OrderedStore
  private let loaded = Locked<(any SigningKey)?>(nil)
  private let loads = SingleFlight<Bool, any SigningKey>()

  init(crypto: any CryptoProvider, store: @escaping @Sendable () async throws -> any OrderedStore) {
    (self.crypto, self.store) = (crypto, store)
  }

  func key() async throws -> any SigningKey {
    if let key = loaded.withLock({ $0 }) { return key }
    return try await loads.value(for: true) { [self] in
      let key = try crypto.signingKey(pem: try await pem(), algorithm: .es256, keyID: nil)
      loaded.withLock { $0 = key }
      return key
    }
  }

  private func pem() async throws -> String {
    let store = try await store()
    if let bytes = try await store.read({ try await $0.get(Self.row) }) {
      return try VAPIDKeyRow(fieldBytes: bytes).pem
    }
    let made = VAPIDKeyRow(pem: try await crypto.generateSigningKey(.es256).privatePEM())
    // Another process may have made one in between: the first one counts.
    return try await store.write { transaction in
      if let bytes = try await transaction.get(Self.row) { return try VAPIDKeyRow(fieldBytes: bytes).pem }
      try await transaction.put(made.fieldBytes(), for: Self.row)
      return made.pem
    }.value
  }

  private static let row = KeyEncoder(.string("vapid")).bytes
}

/// The row of the key.
struct VAPIDKeyRow: FieldRecord {
  var pem = ""

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &pem)
    if visitor.isReading, pem.isEmpty { throw BytesError(.malformed, "It has no key.") }
  }
}
