import Foundation
import VestaAppCheckInterop
import VestaAuthBackend
import VestaAuthInterop
public import VestaCore
import VestaCredentialInterop
import VestaServiceInterop

/// Registers Auth with an app.
///
/// It needs an `AuthBackend`, uses App Check where that is there, and offers `AuthInterop` to other products.
///
/// ```swift
/// try VestaApp.configure(libraries: [
///   AuthLibrary.self, AuthServiceLibrary.self, SQLiteLibrary.self, CryptoLibrary.self,
/// ])
/// let user = try await Auth.auth().signInAnonymously().user
/// ```
public enum AuthLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-auth"

  /// The version of the library.
  public static let version = VestaVersion()

  private static let backendLibraries = """
    AuthServiceLibrary of VestaAuthService (the embedded engine; Packages/Auth), which needs a store and \
    cryptography too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite) and CryptoLibrary of \
    VestaCrypto (Packages/Crypto), or AuthRemoteLibrary of VestaAuthRemote (a server, emulators or \
    Firebase; Packages/Auth) with TransportLibrary of VestaTransport (Packages/Transport)
    """

  /// `Auth` itself, and the same instance as `AuthInterop`.
  public static func components() -> [Component] {
    [
      Component(
        Auth.self,
        dependencies: [
          .required((any AuthBackend).self, providedBy: backendLibraries),
          .optional((any AppCheckInterop).self),
          .optional((any CredentialStore).self),
          .optional(EmulatorConnection<any AuthBackend>.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try makeAuth(container)
      },
      Component((any AuthInterop).self, dependencies: [.required(Auth.self)]) { container, isCacheable in
        isCacheable = true
        return try container.require(Auth.self)
      },
    ]
  }

  private static func makeAuth(_ container: ComponentContainer) throws -> Auth? {
    guard let app = container.app else { return nil }
    let backend = try container.require((any AuthBackend).self)
    // A store that is there and fails must not become a plain file, nor App Check be left off.
    let appCheck = try container.find((any AppCheckInterop).self)
    let store = try container.find((any CredentialStore).self)
    return Auth(
      app: app,
      backend: AuthCaller(backend: backend, appCheck: appCheck),
      emulators: try container.find(EmulatorConnection<any AuthBackend>.self),
      store: store ?? FileCredentialStore(directory: app.dataDirectory.appending(path: "auth-session"))
    )
  }
}
