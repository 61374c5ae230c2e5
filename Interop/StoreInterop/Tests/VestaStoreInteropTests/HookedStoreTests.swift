import Testing
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaStoreInteropFakes
import VestaTesting

@Suite struct HookedStoreTests {
  private static let failure = StoreError(.diskFull, operation: "write", message: "It was told to fail.")

  @Test(arguments: StoreContracts.all)
  func `a store with hooks honours the contracts of the store behind it`(contract: Contract<StoreSubject>) async throws
  {
    let store = HookedStore()
    store.hook { _ in await Task.yield() }
    try await contract.verify(StoreSubject(store: store))
  }

  @Test func `a hook meets the steps of a call in their order, and the counts are those of the call`() async throws {
    let (store, steps) = (HookedStore(), Log<HookedStore.Step>())
    store.hook { steps.add($0) }
    try await store.write { transaction in
      try await transaction.put([1], for: [7])
      try await transaction.delete([8])
      try await transaction.deleteRange(KeyRange(prefix: [9]))
    }
    #expect(steps.entries == [.write, .put([7]), .delete([8]), .delete([9]), .committed])
    let before = steps.entries.count
    try await store.read { reader in
      #expect(store.counts.openReads == 1)
      _ = try await reader.get([[7], [8]])
      _ = try await reader.entries(in: KeyRange(prefix: [7]))
    }
    #expect(steps.entries[before...] == [.read, .snapshot, .get([[7], [8]]), .scan(lower: [7]), .readEnd])
    var expected = HookedStore.Counts()
    (expected.reads, expected.writes, expected.commits, expected.put, expected.deleted) = (1, 1, 1, 1, 2)
    (expected.rowsRead, expected.rowsScanned, expected.scans) = (2, 1, 1)
    #expect(store.counts == expected)
  }

  @Test(arguments: [HookedStore.Step.write, .put([1]), .committed])
  func `a hook that throws fails the write, whose changes are kept only after the commit`(
    step: HookedStore.Step
  ) async throws {
    let store = HookedStore()
    store.hook { if $0 == step { throw Self.failure } }
    await #expect(throws: StoreError.self) {
      try await store.write { try await $0.put([2], for: [1]) }
    }
    store.hook(nil)
    #expect(try await store.read { try await $0.get([1]) } == (step == .committed ? [2] : nil))
    #expect(store.counts.commits == (step == .committed ? 1 : 0))
  }

  @Test(arguments: [HookedStore.Step.read, .snapshot, .get([[1]]), .scan(lower: []), .readEnd])
  func `a hook that throws fails the read`(step: HookedStore.Step) async throws {
    let store = HookedStore()
    store.hook { if $0 == step { throw Self.failure } }
    await #expect(throws: StoreError.self) {
      try await store.read { reader in
        _ = try await reader.get([1])
        _ = try await reader.entries(in: .all)
      }
    }
    #expect(store.counts.openReads == 0)
  }

  @Test func `a call waits at a gate with the version that it has`() async throws {
    let (store, gate) = (HookedStore(), Gate())
    try await store.write { try await $0.put([1], for: [1]) }
    store.hook { if $0 == .snapshot { await gate.wait() } }
    let read = Task { try await store.read { try await $0.get([1]) } }
    while gate.waitingCount == 0 { await Task.yield() }
    try await store.write { try await $0.put([2], for: [1]) }
    gate.open()
    #expect(try await read.value == [1])
  }

  @Test func `the other store outlives one that does not close it, and one that is shared says so`() async throws {
    let base = ModelStore()
    let store = HookedStore(base, closesBase: false, isShared: true)
    #expect(store.isShared && !HookedStore(base).isShared)
    try await store.close()
    _ = try await base.write { try await $0.put([1], for: [1]) }
    try await HookedStore(base).close()
    await #expect(throws: StoreError.self) { _ = try await base.write { try await $0.put([1], for: [1]) } }
  }
}
