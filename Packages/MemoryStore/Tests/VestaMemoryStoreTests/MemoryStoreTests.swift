import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaMemoryStore

@Suite struct MemoryStoreTests {
  @Test func `a reader answers in place, and a transaction is not read in pieces`() async throws {
    let store = MemoryStore()
    try await store.read { #expect($0.answersInPlace) }
    try await store.write { #expect(!$0.answersInPlace) }
    try await store.close()
  }

  @Test func `close inside a transaction is refused instead of waiting for itself`() async throws {
    let store = MemoryStore()
    try await store.write { transaction in
      try await transaction.put([1], for: [1])
      let error = await #expect(throws: StoreError.self) { try await store.close() }
      #expect(error?.code == .nested)
    }
    #expect(try await store.read { try await $0.get([1]) } == [1])
    try await store.close()
  }

  @Test func `nesting is seen through another store's transaction and in child tasks`() async throws {
    let (outer, inner) = (MemoryStore(), MemoryStore())
    try await outer.write { _ in
      try await inner.write { transaction in
        try await transaction.put([2], for: [2])
        let error = await #expect(throws: StoreError.self) { try await outer.write { _ in } }
        #expect(error?.code == .nested)
      }
      let child = Task { try await outer.write { _ in } }
      let error = await #expect(throws: StoreError.self) { _ = try await child.value }
      #expect(error?.code == .nested)
    }
    #expect(try await inner.read { try await $0.get([2]) } == [2])
  }

  @Test func `a task that a transaction left behind may write once it has ended`() async throws {
    let store = MemoryStore()
    let door = Gate()
    let left = try await store.write { _ in
      Task {
        await door.wait()
        try await store.write { try await $0.put([1], for: [1]) }
      }
    }
    door.open()
    _ = try await left.value.value
    #expect(try await store.read { try await $0.get([1]) } == [1])
  }

  @Test func `writers enter in the order of their arrival`() async throws {
    let store = MemoryStore()
    let (inside, door) = (Gate(), Gate())
    let first = Task {
      try await store.write { _ in
        inside.open()
        await door.wait()
      }
    }
    await inside.wait()
    var writers: [Task<Void, any Error>] = []
    for number in 0..<20 {
      writers.append(
        Task {
          try await store.write { transaction in
            let next = try await transaction.entries(in: .all).count
            try await transaction.put([UInt8(number)], for: [UInt8(next)])
          }
        }
      )
      while store.writersInLine <= number { await Task.yield() }
    }
    writers[7].cancel()
    door.open()
    _ = try await first.value
    for (number, writer) in writers.enumerated() where number != 7 { try await writer.value }
    await #expect(throws: CancellationError.self) { try await writers[7].value }
    let order = try await store.read { try await $0.entries(in: .all).map(\.value) }
    #expect(order == (0..<20).filter { $0 != 7 }.map { [UInt8($0)] })
  }

  @Test func `nothing is kept after close`() async throws {
    let provider = MemoryStoreProvider()
    let first = try await provider.openStore(named: "a", in: "x", options: StoreOptions())
    try await first.write { try await $0.put([1], for: [1]) }
    try await first.close()
    let second = try await provider.openStore(named: "a", in: "x", options: StoreOptions())
    #expect(try await second.read { try await $0.get([1]) } == nil)
    #expect(try await second.read { $0.version } == .zero)
    try await second.close()
  }
}
