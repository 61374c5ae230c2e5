public import VestaCore
import VestaCryptoInterop
import VestaServiceInterop
import VestaTransportInterop

/// Registers the tokens of a service account, with which remote backends make the calls of an owner.
///
/// The account is that of a component that provides a ``ServiceAccount``, or that of the key file which the environment
/// variable `GOOGLE_APPLICATION_CREDENTIALS` names. Without either, the first call of an owner fails and says so.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .firebase)
/// try VestaApp.configure(
///   options: options,
///   libraries: [AuthRemoteLibrary.self, ServiceAccountLibrary.self, TransportLibrary.self, CryptoLibrary.self])
/// ```
public enum ServiceAccountLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-service-account"

  /// The version of the package.
  public static let version = VestaVersion()

  /// Servers and Firebase; emulators know the owner by a word.
  public static let backends: Set<VestaOptions.Backend.Kind> = [.server, .firebase]

  /// The source of tokens.
  public static func components() -> [Component] {
    [
      Component(
        (any OwnerTokenSource).self, caching: .shared,
        dependencies: [
          .required((any HTTPClient).self, providedBy: TransportLibraries.providedBy),
          .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
          .optional(ServiceAccount.self),
        ]
      ) { container in
        guard let account = try container.find(ServiceAccount.self) ?? ServiceAccount.ofEnvironment() else {
          return MissingAccount()
        }
        return try ServiceAccountTokens(
          account, over: try container.require((any HTTPClient).self),
          crypto: try container.require((any CryptoProvider).self))
      }
    ]
  }
}

/// Says that there is no account, when a token is asked for.
private struct MissingAccount: OwnerTokenSource {
  func token() async throws(ServiceStatus) -> String {
    throw ServiceStatus(
      .unauthenticated,
      """
      There is no service account. Name its key file in the environment variable GOOGLE_APPLICATION_CREDENTIALS, or \
      register a component that provides a ServiceAccount.
      """)
  }
}
