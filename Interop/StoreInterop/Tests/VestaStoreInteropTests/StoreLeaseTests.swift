import Testing
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@Suite struct StoreLeaseTests {
  private let clock = ManualStoreClock()
  private let store: ModelStore
  private let key: [UInt8] = [7]

  init() { store = ModelStore(clock: clock.clock) }

  private func take(_ owner: UInt64) async throws -> StoreLease.Holder? {
    let lease = StoreLease(key: key, owner: owner)
    return try await store.write { try await lease.take(in: $0) }.value
  }

  @Test func `a lease is taken once, renewed at half, and taken by another after its end`() async throws {
    #expect(try await take(1) == nil)
    let holder = try #require(try await take(2))
    #expect(holder.remaining > 9_000_000)
    clock.advance(by: 4_000_000)
    #expect(try await take(1) == nil)
    #expect(try #require(try await take(2)).until == holder.until)
    clock.advance(by: 2_000_000)
    #expect(try await take(1) == nil)
    #expect(try #require(try await take(2)).until > holder.until)
    clock.advance(by: 11_000_000)
    #expect(try await take(2) == nil)
    #expect(try await take(1) != nil)
  }

  @Test func `work under a lease that another engine has is not kept`() async throws {
    #expect(try await take(1) == nil)
    let other = StoreLease(key: key, owner: 2)
    await #expect(throws: StoreLeaseLost.self) {
      try await store.write { transaction in
        try await transaction.put([1], for: [1])
        try await other.keep(in: transaction)
      }
    }
    #expect(try await store.read { try await $0.get([1]) } == nil)
    _ = try await store.write { try await other.release(in: $0) }
    #expect(try await take(2) != nil)
    let lease = StoreLease(key: key, owner: 1)
    _ = try await store.write { try await lease.release(in: $0) }
    #expect(try await take(2) == nil)
  }

  @Test func `a damaged row is an error of the store`() async throws {
    let key = key
    for bytes in [[], [0], [255, 255, 255]] as [[UInt8]] {
      _ = try await store.write { try await $0.put(bytes, for: key) }
      let error = await #expect(throws: StoreError.self) { try await take(1) }
      #expect(error?.code == .corrupt)
    }
  }
}
