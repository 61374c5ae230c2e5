import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropFakes

/// The app's cryptography, which notes how long the hashes of passwords take.
///
/// So a sign-in is compared with the hash within it. A separate hash, a little later, takes two per cent more or
/// less by chance, which is about as much as the difference to be found.
final class TimedCrypto: PassingCrypto {
  let inner: any CryptoProvider = OpenSSLCrypto()
  private let hashes = Locked((count: 0, time: Duration.zero))

  /// Forgets the hashes so far.
  func restart() { hashes.withLock { $0 = (0, .zero) } }

  /// How many nanoseconds a hash has taken since then.
  var nanosecondsPerHash: Double { hashes.withLock { $0.time / .nanoseconds(1) / Double(max($0.count, 1)) } }

  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool {
    let start = ContinuousClock.now
    let isRight = try await inner.verifyPassword(password, against: hash, signerKey: signerKey)
    let time = ContinuousClock.now - start
    hashes.withLock { $0 = ($0.count + 1, $0.time + time) }
    return isRight
  }
}

/// Gives the benchmark's app timed cryptography.
enum TimedCryptoLibrary: Library {
  static let name = "bench-timed-crypto"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component((any CryptoProvider).self) { _, isCacheable in
        isCacheable = true
        return TimedCrypto()
      }
    ]
  }
}
