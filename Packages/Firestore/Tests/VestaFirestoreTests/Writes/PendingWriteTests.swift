import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaStoreInterop
import VestaStoreInteropFakes

/// The errors of a write that has begun.
@Suite(.timeLimit(.minutes(5)))
struct PendingWriteTests {
  /// The failure of all commits; `nil` while they succeed.
  private static let failures = Locked<[String: StoreError]>([:])

  /// Opens stores whose commits fail while their app says so.
  private struct FailingStores: StoreProvider {
    let app: String

    func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
      let store = HookedStore(isShared: true)
      store.hook { step in
        guard step == .write, let error = failures.withLock({ $0[app] }) else { return }
        throw error
      }
      return store
    }
  }

  private enum FailingStoresLibrary: Library {
    static let name = "failing-stores"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any StoreProvider).self) { container, isCacheable in
          isCacheable = true
          return FailingStores(app: container.app?.name ?? "")
        }
      ]
    }
  }

  @Test(arguments: [
    (StoreError.Code.diskFull, FirestoreErrorCode.Code.resourceExhausted), (.corrupt, .dataLoss),
    (.readOnly, .failedPrecondition), (.inputOutput, .unavailable),
  ])
  func `a local commit that the disk refuses fails with a code of Firestore and the store's sentence`(
    code: StoreError.Code, expected: FirestoreErrorCode.Code
  ) async throws {
    let name = "pending-write-\(code)"
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "\(name)-\(getpid())")
    let app = try VestaApp.configure(
      name: name, options: VestaOptions(projectID: "demo", backend: .embedded(directory: directory)),
      libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, FailingStoresLibrary.self])
    let db = try Firestore.instance(for: app)
    try await db.document("notes/a").setData(["text": "a"])
    try await db.disableNetwork()
    Self.failures.withLock { $0[name] = StoreError(code, operation: "write", message: "What the disk says.") }
    let write = try db.document("notes/b").startSetData(["text": "b"])
    let error = try #require(await #expect(throws: FirestoreErrorCode.self) { try await write.localCommit() })
    #expect(error.code == expected)
    #expect(error.message.contains("What the disk says."))
    #expect((error as any Error).localizedDescription.contains("What the disk says."))
    Self.failures.withLock { $0[name] = nil }
    try await db.document("notes/c").startSetData(["text": "c"]).localCommit()
    await app.delete()
  }
}
