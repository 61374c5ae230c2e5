import Dispatch
import Foundation
import Testing
import VestaCore
import VestaDatabaseBackendFakes
import VestaDatabaseService
import VestaStoreInterop

@testable import VestaDatabase

private enum ModelLibrary: Library {
  static let name = "model-store"
  static let version = "1.0.0"
  static func components() -> [Component] {
    [
      Component((any StoreProvider).self) { _, isCacheable in
        isCacheable = true
        return KeptStores()
      }
    ]
  }
}

@Suite(.timeLimit(.minutes(20)))
struct LibraryTests {
  private func app(_ name: String, project: String? = "demo") throws -> VestaApp {
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: name)
    let options = VestaOptions(projectID: "demo", backend: .embedded(directory: directory))
    options.projectID = project
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let libraries: [any Library.Type] = [DatabaseLibrary.self, DatabaseServiceLibrary.self, ModelLibrary.self]
    return try VestaApp.configure(name: name, options: options, libraries: libraries)
  }

  @Test func `an app has one database for each address, and its data ends with nothing pending`() async throws {
    let app = try app("database-library")
    let database = Database.database(app: app)
    #expect(database === Database.database(app: app))
    let other = Database.database(app: app, url: "https://other.firebaseio.com")
    #expect(database !== other)
    #expect(database.reference(withPath: "a b").url == "https://demo-default-rtdb.firebaseio.com/a%20b")
    try await database.reference(withPath: "x").setValue(1)
    #expect(try await other.reference(withPath: "x").getData().exists() == false)
    #expect(await app.delete())
    #expect(throws: (any Error).self) { try Database.instance(for: app) }
  }

  @Test func `between 1 and 100 MiB are kept on the device, and other sizes change nothing`() {
    let database = World.client(Repo.Environment(backend: ScriptedDatabaseBackend()))
    let (least, most) = (UInt(1 << 20), UInt(100 << 20))
    #expect(database.persistenceCacheSizeBytes == 10 << 20)
    for (size, then) in [(least, least), (least - 1, least), (most, most), (most + 1, most), (0, most)] {
      database.persistenceCacheSizeBytes = size
      #expect(database.persistenceCacheSizeBytes == then)
    }
  }

  @Test func `the default database of an app without a project is that of the default project`() async throws {
    let app = try app("database-without-project", project: nil)
    #expect(Database.database(app: app).reference().url == "https://no-project-default-rtdb.firebaseio.com")
    await app.delete()
  }

  @Test func `an address with a path, or of another database, is refused with a sentence`() async throws {
    let app = try app("database-addresses")
    #expect(throws: (any Error).self) { try Database.instance(for: app, url: "https://x.firebaseio.com/path") }
    #expect(throws: (any Error).self) { try Database.instance(for: app, url: "https://") }
    let database = Database.database(app: app)
    let reference = database.reference(fromURL: "https://demo-default-rtdb.firebaseio.com/a/b%20c")
    #expect(reference.key == "b c" && reference.parent?.key == "a")
    await #expect(throws: DatabaseError.self) {
      try await database.reference(fromURL: "https://elsewhere.firebaseio.com/a").setValue(1)
    }
    await app.delete()
  }
}
