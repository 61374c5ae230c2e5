public import VestaCore
import VestaCryptoInterop

/// Gives an app cryptography by libcrypto.
///
/// ```swift
/// try VestaApp.configure(libraries: [CryptoLibrary.self])
/// ```
public enum CryptoLibrary: Library {
  /// The name in user-agent strings and error messages.
  public static let name = "vesta-crypto"

  /// The version of this package.
  public static let version = VestaVersion()

  /// One provider of cryptography for each app.
  public static func components() -> [Component] {
    [Component((any CryptoProvider).self, caching: .shared) { _ in OpenSSLCrypto() }]
  }
}
