import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// The fake of a store that several processes have open.
@Suite struct SharedStoreTests {
  @Test func `an access that is closed leaves the store open for the other ones`() async throws {
    let store = ModelStore()
    let (first, second) = (SharedStore(store), SharedStore(store))
    _ = try await first.write { try await $0.put([1], for: [1]) }
    try await first.close()
    #expect(try await second.read { try await $0.get([1]) } == [1])
    #expect(first.isShared && !first.tellsBeforeAcknowledging)
  }

  @Test func `an observer gets the commits of all and what is reported for another process, until it is cancelled`()
    async throws
  {
    let store = ModelStore()
    let (first, second) = (SharedStore(store), SharedStore(store))
    let versions = Log<StoreVersion>()
    let registration = first.observeCommits { versions.add($0) }
    let commit = try await second.write { try await $0.put([1], for: [1]) }
    first.reportCommitElsewhere()
    #expect(versions.entries == [commit.version, .zero] && first.observerCount == 1)
    registration.cancel()
    _ = try await second.write { try await $0.put([2], for: [1]) }
    first.reportCommitElsewhere()
    #expect(versions.entries.count == 2 && first.observerCount == 0)
  }

  @Test func `a write that is refused changes nothing`() async throws {
    let store = SharedStore { StoreError(.diskFull, operation: "commit", message: "The disk is full.") }
    await #expect(throws: StoreError.self) { try await store.write { try await $0.put([1], for: [1]) } }
    #expect(try await store.read { try await $0.get([1]) } == nil)
  }
}
