import VestaConcurrency
public import VestaCryptoInterop

/// RSA keys that are generated once and serve many engines of a test program.
///
/// An engine of Auth or App Check generates a key when it first signs, which takes up to half a second of a core, and
/// most tests have a fresh engine. With these the first key of every engine is the same one, its second key another
/// one, and so on: a rotation has a new key, whatever other tests do.
///
/// ```swift
/// let keys = KeptKeys(of: OpenSSLCrypto())
/// let first = AuthEngine(projectID: "demo", options: options, crypto: keys.provider()) { store }
/// ```
public final class KeptKeys: Sendable {
  private let inner: any CryptoProvider
  private let made = Locked<[Task<any SigningKey, any Error>]>([])

  /// No key is generated yet.
  ///
  /// - Parameter inner: The provider that generates the keys, and does everything else.
  public init(of inner: any CryptoProvider) { self.inner = inner }

  /// A provider for one engine, whose first key is the first one of all.
  public func provider() -> any CryptoProvider { Provider(inner: inner, keys: self) }

  private func key(_ number: Int) async throws -> any SigningKey {
    let key = made.withLock { [inner] made in
      while made.count <= number { made.append(Task { try await inner.generateSigningKey(.rs256) }) }
      return made[number]
    }
    return try await key.value
  }

  private final class Provider: PassingCrypto {
    let inner: any CryptoProvider
    private let keys: KeptKeys
    private let count = Locked(0)

    init(inner: any CryptoProvider, keys: KeptKeys) {
      self.inner = inner
      self.keys = keys
    }

    func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
      // A named key is always a new one.
      guard algorithm == .rs256, keyID == nil else {
        return try await inner.generateSigningKey(algorithm, keyID: keyID)
      }
      let number = count.withLock { count in
        defer { count += 1 }
        return count
      }
      return try await keys.key(number)
    }
  }
}
