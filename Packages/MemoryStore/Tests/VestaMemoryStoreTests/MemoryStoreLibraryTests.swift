import Foundation
import Testing
import VestaCore
import VestaMemoryStore
import VestaStoreInterop

@Suite struct MemoryStoreLibraryTests {
  @Test func `an app finds its stores by their protocol`() async throws {
    let options = VestaOptions()
    let app = try VestaApp.configure(
      name: "memory-store-library", options: options, libraries: [MemoryStoreLibrary.self])
    let provider = try app.container.require((any StoreProvider).self)
    let store = try await provider.openStore(named: "notes", in: app.dataDirectory.path, options: StoreOptions())
    try await store.write { try await $0.put([2], for: [1]) }
    #expect(try await store.read { try await $0.get([1]) } == [2])
    // Every caller gets the same provider, which knows what is open.
    let again = try app.container.require((any StoreProvider).self)
    let error = await #expect(throws: StoreError.self) {
      try await again.openStore(named: "notes", in: app.dataDirectory.path, options: StoreOptions())
    }
    #expect(error?.code == .alreadyOpen)
    try await store.close()
    #expect(await app.delete())
  }
}
