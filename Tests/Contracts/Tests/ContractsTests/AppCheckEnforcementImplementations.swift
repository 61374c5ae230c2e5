import Foundation
import Testing
import VestaBytes
import VestaCore
import VestaCrypto
import VestaDatabaseBackend
import VestaDatabaseService
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsBackend
import VestaFunctionsService
import VestaMemoryStore
import VestaMessagingBackend
import VestaMessagingService
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageService
import VestaTesting

/// The engines of an app whose project enforces App Check for every product.
@Suite(.timeLimit(.minutes(5))) struct AppCheckEnforcementImplementations {
  /// Provides the verifier of App Check tokens, and says that all products need one.
  private enum EnforcingLibrary: Library {
    static let name = "vesta-test-enforcement"
    static let version = VestaVersion()

    static func components() -> [Component] {
      [
        Component((any AppCheckVerifier).self, caching: .shared) { _ in FakeAppCheckVerifier(["good": "app"]) },
        Component(AppCheckEnforcement.self, caching: .shared) { _ in AppCheckEnforcement(AppCheckEnforcement.known) },
      ]
    }
  }

  private static func app() throws -> VestaApp {
    try VestaApp.configure(
      name: "enforced-\(UUID().uuidString)",
      options: VestaOptions(projectID: "demo-\(UUID().uuidString)", backend: .embedded(directory: nil)),
      libraries: [
        CryptoLibrary.self, DatabaseServiceLibrary.self, EnforcingLibrary.self, FirestoreServiceLibrary.self,
        FunctionsServiceLibrary.self, MemoryStoreLibrary.self, MessagingServiceLibrary.self,
        RemoteConfigServiceLibrary.self, StorageServiceLibrary.self,
      ])
  }

  typealias Call = @Sendable (ComponentContainer, CallContext) async throws -> Void

  static let products: [(name: String, exemptsOwners: Bool, call: Call)] = [
    (
      "firestore", true,
      { app, context in
        let database = "projects/\(app.options.projectID ?? "")/databases/(default)"
        let write = Write.update(Document(name: "\(database)/documents/a/b"))
        _ = try await app.require((any FirestoreBackend).self).commit(
          CommitRequest(database: database, writes: [write]), context: context)
      }
    ),
    (
      "database", true,
      { app, context in
        let request = DatabaseWriteRequest(namespace: "demo", path: "a", .put(DatabaseNode(.int(1))))
        _ = try await app.require((any DatabaseBackend).self).write(request, context: context)
      }
    ),
    (
      "storage", true,
      { app, context in
        let request = UploadRequest(object: ObjectName(bucket: "demo", name: "a"))
        _ = try await app.require((any StorageBackend).self).putObject(request, content: [1], context: context)
      }
    ),
    (
      "remoteconfig", true,
      { app, context in
        let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
        _ = try await app.require((any RemoteConfigBackend).self).fetch(request, context: context)
      }
    ),
    (
      "messaging", true,
      { app, context in
        let request = RegisterRequest(installationID: "i", platform: "linux", appID: "a")
        _ = try await app.require((any MessagingBackend).self).register(request, context: context)
      }
    ),
    (
      "functions", true,
      { app, context in
        var options = CallableOptions()
        options.enforcesAppCheck = true
        try app.require(FunctionRegistry.self).onCall("checked", options: options) { $0.rawData }
        let call = FunctionCall(.name("checked", region: "us-central1"), data: 1)
        _ = try await app.require((any FunctionsBackend).self).call(call, context: context)
      }
    ),
  ]

  @Test(arguments: products.map { $0.name })
  func `the engine of an enforced product keeps every promise about App Check`(_ name: String) async throws {
    let product = try #require(Self.products.first { $0.name == name })
    let app = try Self.app()
    let container = app.container
    await Implementation(name) {
      AppCheckEnforcementSubject(token: "good", exemptsOwners: product.exemptsOwners) {
        try await product.call(container, $0)
      }
    }.keeps(AppCheckEnforcementContracts.all)
    await app.delete()
  }
}
