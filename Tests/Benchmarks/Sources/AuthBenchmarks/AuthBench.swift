import Dispatch
import Foundation
import VestaAuth
import VestaAuthBackend
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaCryptoInterop
import VestaSQLite
import VestaServiceInterop

/// An app with one account, signed in; made when the first line needs it.
final class AuthBench: Sendable {
  static let email = "ada@example.com"
  static let password = "correct horse battery staple"

  let auth: Auth
  let user: User
  let token: String
  let keys: [any VerificationKey]
  let passwordHash: PasswordHash
  let crypto: any CryptoProvider
  let backend: any AuthBackend
  let admin: any AuthAdminBackend
  private let app: VestaApp
  let directory: URL

  private static let made = Locked<AuthBench?>(nil)
  private static let making = SingleFlight<Bool, AuthBench>()

  static func shared() async -> AuthBench {
    do {
      if let made = made.withLock({ $0 }) { return made }
      return try await making.value(for: true) {
        let bench = try await AuthBench()
        made.withLock { $0 = bench }
        return bench
      }
    } catch {
      preconditionFailure("the benchmark's own app could not be made: \(error)")
    }
  }

  /// Deletes the app and its files.
  static func remove() async throws {
    guard let bench = made.withLock({ $0.take() }) else { return }
    await bench.app.delete()
    try FileManager.default.removeItem(at: bench.directory)
  }

  private init() async throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "vesta-bench-\(UUID().uuidString)")
    let options = VestaOptions(projectID: "bench", backend: .embedded(directory: directory))
    options.callbackQueue = DispatchQueue(label: "bench.callbacks")
    app = try VestaApp.configure(
      name: "auth-bench", options: options,
      libraries: [
        AuthLibrary.self, AuthServiceLibrary.self, SQLiteLibrary.self, TimedCryptoLibrary.self, ManyGuesses.self,
      ])
    auth = Auth.auth(app: app)
    crypto = try app.container.require((any CryptoProvider).self)
    let backend = try app.container.require((any AuthBackend).self)
    self.backend = backend
    admin = try app.container.require((any AuthAdminBackend).self)
    user = try await auth.createUser(withEmail: Self.email, password: Self.password).user
    token = try await user.getIDToken()
    passwordHash = try await crypto.hashPassword(Self.password)
    let crypto = crypto
    let published = try await backend.publicKeys(context: .init()).jwks
    keys = try JSONWebKeySet(json: published).keys.map { try crypto.verificationKey(jsonWebKey: $0) }
  }
}

/// Lets the benchmark sign in as often as it likes.
private enum ManyGuesses: Library {
  static let name = "bench-many-guesses"
  static let version = "1.0.0"

  static func components() -> [Component] {
    [
      Component(AuthServiceOptions.self) { _, isCacheable in
        isCacheable = true
        var options = AuthServiceOptions()
        options.accountGuesses = RateLimit(burst: 1_000_000, refillInterval: .milliseconds(1))
        options.addressGuesses = RateLimit(burst: 1_000_000, refillInterval: .milliseconds(1))
        return options
      }
    ]
  }
}

/// Removes the files that the benchmarks have made.
public func removeAuthBenchmarkFiles() async {
  do { try await AuthBench.remove() } catch { print("files of the benchmarks are left behind: \(error)") }
}
