import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropFakes

/// Gives an app the cryptography of OpenSSL, with RSA keys that are generated once in this process.
enum KeptKeysLibrary: Library {
  private static let keys = KeptKeys(of: OpenSSLCrypto())

  static let name = "contracts-kept-keys"
  static let version = VestaVersion()

  /// The cryptography of one engine.
  static func crypto() -> any CryptoProvider { keys.provider() }

  static func components() -> [Component] {
    [Component((any CryptoProvider).self, caching: .shared) { _ in crypto() }]
  }
}
