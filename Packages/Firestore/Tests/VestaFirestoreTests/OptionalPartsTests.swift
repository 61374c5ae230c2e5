import Testing
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreService

/// An absent part is done without; a part that cannot be created is an error.
@Suite struct OptionalPartsTests {
  private struct Unavailable: Error {}

  private enum FailingOptionsLibrary: Library {
    static let name = "failing-options"
    static let version = "1"

    static func components() -> [Component] {
      [Component(FirestoreServiceOptions.self) { _, _ in throw Unavailable() }]
    }
  }

  @Test func `options that cannot be made are not replaced by the defaults`() async throws {
    let app = try VestaApp.configure(
      name: "firestore-failing-options", options: VestaOptions(projectID: "failing-options"),
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self, FailingOptionsLibrary.self,
      ])
    #expect(throws: VestaError.self) { try app.container.require((any FirestoreBackend).self) }
    #expect(throws: VestaError.self) { try Firestore.instance(for: app) }
    await app.delete()
  }

  @Test func `settings can be changed until the first use, also from many threads`() async throws {
    let app = try makeApp()
    let db = try Firestore.instance(for: app)
    let settings = db.settings
    settings.cacheSettings = MemoryCacheSettings()
    db.settings = settings
    try await withThrowingTaskGroup { group in
      for number in 0..<16 { group.addTask { try await db.document("c/\(number)").setData(["n": number]) } }
      try await group.waitForAll()
    }
    #expect(try await db.collection("c").getDocuments().count == 16)
    await app.delete()
  }
}
