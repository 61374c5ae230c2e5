import FirebaseAuth
import FirebaseFirestore
import FirebaseFunctions
import FirebaseMessaging
import FirebaseRemoteConfig
import FirebaseStorage
import Foundation
import Testing
import VestaAuthBackend
import VestaAuthRemote
import VestaAuthService
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseRemote
import VestaFirestoreBackend
import VestaFirestoreRemote
import VestaFunctionsBackend
import VestaFunctionsRemote
import VestaMessagingBackend
import VestaMessagingRemote
import VestaRemoteConfigBackend
import VestaRemoteConfigRemote
import VestaStorageBackend
import VestaStorageRemote

@testable import FirebaseCore

/// A moved program that links FirebaseRemote: its options choose between engines and remote backends.
@Suite struct FirebaseRemoteTests {
  private func app(_ backend: VestaOptions.Backend) throws -> FirebaseApp {
    let name = "remote-\(UUID().uuidString)"
    FirebaseApp.configure(name: name, options: FirebaseOptions(projectID: "compat", backend: backend))
    return try #require(FirebaseApp.app(name: name))
  }

  @Test func `a backend on another machine is reached by the remote libraries of all products`() async throws {
    let app = try app(.emulator(host: "127.0.0.1", port: 9))
    defer { try? FileManager.default.removeItem(at: app.dataDirectory) }
    #expect(try app.container.require((any AuthBackend).self) is AuthRemote)
    #expect(try app.container.require((any DatabaseBackend).self) is DatabaseRemote)
    #expect(try app.container.require((any FirestoreBackend).self) is FirestoreRemote)
    #expect(try app.container.require((any FunctionsBackend).self) is FunctionsRemote)
    #expect(try app.container.require((any MessagingBackend).self) is MessagingRemote)
    #expect(try app.container.require((any RemoteConfigBackend).self) is RemoteConfigRemote)
    #expect(try app.container.require((any StorageBackend).self) is StorageRemote)
    _ = await app.delete()
  }

  @Test func `the environment names the backend where options leave it open`() throws {
    let open = FirebaseOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    let emulator = VestaOptions.Backend.emulator(host: "127.0.0.1", port: 9)
    let variables = ["VESTA_BACKEND": "emulator:127.0.0.1:9", "VESTA_OPTIONS_FILE": "/none.json"]
    #expect(try FirebaseApp.placed(open, variables).backend == emulator)
    #expect(open.backend == .embedded())
    #expect(try FirebaseApp.placed(open, [:]).backend == .embedded())
    open.backend = .firebase
    #expect(try FirebaseApp.placed(open, variables).backend == .firebase)
    open.backend = .embedded()
    #expect(throws: VestaError.self) { try FirebaseApp.placed(open, ["VESTA_BACKEND": "nonsense"]) }
  }

  @Test func `the engines stay the backend where the options say nothing else`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-compat-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let app = try app(.embedded(directory: directory))
    #expect(try app.container.require((any AuthBackend).self) is AuthEngine)
    try await Firestore.firestore(app: app).document("a/b").setData(["n": 1])
    _ = await app.delete()
  }
}
