import Foundation
import VestaAuthService
import VestaCore
import VestaCrypto
import VestaDatabaseService
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsService
import VestaRemoteConfigService
import VestaSQLite
import VestaServiceInterop
import VestaStorageService

/// An app with all engines in a directory.
struct EventApp {
  let app: VestaApp
  let owner = CallContext(caller: .owner)

  /// - Parameters:
  ///   - name: The app's name: one of the same name continues where it was.
  ///   - project: Its project.
  init(_ directory: String, name: String = UUID().uuidString, project: String = "demo") throws {
    let options = VestaOptions(
      projectID: project, backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    app = try VestaApp.configure(
      name: name, options: options,
      libraries: [
        AuthServiceLibrary.self, CryptoLibrary.self, DatabaseServiceLibrary.self, FirestoreServiceLibrary.self,
        FunctionsServiceLibrary.self,
        RemoteConfigServiceLibrary.self, SQLiteLibrary.self, StorageServiceLibrary.self,
      ])
  }

  var registry: FunctionRegistry { get throws { try FunctionRegistry.registry(for: app) } }

  static let database = "projects/demo/databases/(default)"

  func name(_ path: String) -> String { "\(Self.database)/documents/\(path)" }

  func commit(_ writes: Write...) async throws {
    let backend = try app.container.require((any FirestoreBackend).self)
    _ = try await backend.commit(CommitRequest(database: Self.database, writes: writes), context: owner)
  }

  func set(_ path: String, _ fields: MapValue) async throws {
    try await commit(.update(Document(name: name(path), fields: fields)))
  }
}
