import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreService
import VestaStoreInterop
import VestaStoreInteropFakes

/// Opens stores in memory, the same one for the same name.
final class MemoryStores: StoreProvider {
  private let stores = Locked<[String: ModelStore]>([:])

  func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
    stores.withLock { stores in
      if let store = stores[name] { return store }
      let store = ModelStore()
      stores[name] = store
      return store
    }
  }
}

/// Brings stores in memory into an app.
enum MemoryStoresLibrary: Library {
  static let name = "test-stores"
  static let version = "1"

  static func components() -> [Component] {
    [
      Component((any StoreProvider).self) { _, isCacheable in
        isCacheable = true
        return MemoryStores()
      }
    ]
  }
}

private let appNumber = Locked(0)

/// A separate app with an engine in memory: embedded, or behind a network, see ``Wire``.
func makeApp() throws -> VestaApp {
  let number = appNumber.withLock { number in
    number += 1
    return number
  }
  if Wire.isAsked { return try Wire.makeApp("firestore-test-\(number)", project: "demo") }
  // Engines belong to a project in a directory: each app has its own, in which nothing is kept.
  let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-test-\(getpid())-\(number)")
  return try VestaApp.configure(
    name: "firestore-test-\(number)",
    options: VestaOptions(projectID: "demo", backend: .embedded(directory: directory)),
    libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self])
}

/// A database that is never used for more than its references.
let testDatabase: Firestore = {
  do {
    return try Firestore.instance(for: makeApp())
  } catch {
    fatalError("The app of the tests cannot be made: \(error)")
  }
}()
