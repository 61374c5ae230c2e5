import Foundation
import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestore

/// The store of pending writes belongs to one process and one data directory.
@Suite struct ClientStoreTests {
  /// Stores of a server: one for each name, whatever the directory.
  private final class Server: StoreProvider {
    let sharesStores: Bool
    let stores = Locked<[String: ModelStore]>([:])

    init(sharesStores: Bool) { self.sharesStores = sharesStores }

    var names: [String] { stores.withLock { $0.keys.sorted() } }

    func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
      stores.withLock { stores in
        let store = stores[name] ?? ModelStore()
        stores[name] = store
        return store
      }
    }
  }

  @Test func `two installations have separate stores on a server`() async throws {
    let server = Server(sharesStores: true)
    for installation in ["one", "two"] {
      try await withTemporaryDirectory { directory in
        try await ClientStore(server, in: directory.path) { installation }.close()
      }
    }
    #expect(server.names == ["firestore-client-one", "firestore-client-two"])
  }

  @Test func `the store of a directory is open once, until it is closed`() async throws {
    let server = Server(sharesStores: true)
    try await withTemporaryDirectory { directory in
      let first = try await ClientStore(server, in: directory.path) { "one" }
      do {
        _ = try await ClientStore(server, in: directory.path) { "one" }
        Issue.record("The store was opened twice.")
      } catch {
        #expect(StoreError.Code.locked ~= error, "\(error)")
      }
      try await first.close()
      try await ClientStore(server, in: directory.path) { "one" }.close()
    }
  }

  @Test func `a provider that locks its stores needs no other name`() async throws {
    let server = Server(sharesStores: false)
    try await ClientStore(server, in: "") { "one" }.close()
    #expect(server.names == ["firestore-client"])
  }
}
