import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes

@Suite(.timeLimit(.minutes(15)))
struct SyncStressTests {
  @Test(arguments: [false, true])
  func `many threads listen, write, disable the network and leave`(isEmbedded: Bool) async throws {
    let world = World()
    let client = world.client(store: ModelStore(), isEmbedded: isEmbedded)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<25 {
            let received = Received()
            let registration = client.listen(try query("rooms"), options: ListenOptions(includesMetadata: true)) {
              received.receive($0)
            }
            let write = client.write([set("rooms/r\(task)", ["round": .integer(Int64(round))])])
            if round % 5 == 0 { write.whenAcknowledged { _ in } } else { try await write.acknowledged() }
            _ = try await client.cachedDocument(path("rooms/r\(task)"))
            registration.remove()
            // Alone in its collection: an embedded client reads its first results from the engine.
            let alone = client.listen(try query("alone\(task)"), options: ListenOptions()) { _ in }
            if round % 2 == 0 { _ = client.write([set("alone\(task)/a", [:])]) }
            alone.remove()
          }
        }
      }
      group.addTask {
        for _ in 0..<10 {
          await client.setNetworkEnabled(false)
          await client.setNetworkEnabled(true)
        }
      }
      try await group.waitForAll()
    }
    try await client.waitForPendingWrites()
    let documents = try await client.lookup((0..<8).map { path("rooms/r\($0)") })
    #expect(documents.map(\.fields) == Array(repeating: ["round": .integer(24)], count: 8))
    await client.shutdown()
  }

  @Test(arguments: [false, true])
  func `calls that are made while the client ends are answered`(isEmbedded: Bool) async throws {
    let (world, store) = (World(), ModelStore())
    let first = world.client(store: store)
    try await first.write((0..<50).map { set("rooms/r\($0)", ["n": .integer(0)]) }).acknowledged()
    await first.shutdown()
    for round in 0..<40 {
      let client = world.client(store: store, isEmbedded: isEmbedded)
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<6 {
          group.addTask {
            let document = path("rooms/r\((round + task) % 50)")
            switch task {
            case 0: _ = try? await client.cachedDocument(document)
            case 1: _ = try? await client.cachedResults(query("rooms"))
            case 2: try? await client.waitForPendingWrites()
            case 3: await client.setNetworkEnabled(round % 2 == 0)
            case 4:
              let increment = Mutation.Transform(FieldPath(["n"]), .increment(.integer(1)))
              let patch = Mutation(document, .patch([:], mask: FieldMask([])), transforms: [increment])
              let write = client.write([patch])
              try? await write.localCommit()
              _ = try? await write.acknowledged()
            default: await client.shutdown()
            }
          }
        }
      }
      await client.shutdown()
    }
  }

  @Test func `many threads of a cache that is read, indexed and written at the same time`() async throws {
    let (world, store) = (World(), ModelStore())
    let size = 1_200
    let items = { (numbers: Range<Int>) in
      numbers.map { set("items/i\($0)", ["group": .integer(Int64($0 % 100)), "n": .integer(0)]) }
    }
    let first = world.client(store: store)
    for start in stride(from: 0, to: size, by: 400) {
      try await first.write(items(start..<start + 400)).acknowledged()
    }
    await first.shutdown()
    for _ in 0..<3 {
      let client = world.client(store: store)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<6 {
          group.addTask {
            for round in 0..<10 {
              let number = task * 100 + round
              let found = try await client.cachedResults(
                query("items", [.field(path: "group", .equal, .integer(Int64(number % 100)))]))
              #expect(found.documents.count == size / 100)
              _ = try await client.cachedDocument(path("items/i\(number)"))
              let received = Received()
              let registration = client.listen(
                try query("items", [.field(path: "n", .equal, .integer(Int64(number)))]),
                options: ListenOptions(includesMetadata: true)
              ) { received.receive($0) }
              let fields: MapValue = ["group": .integer(Int64(number % 100)), "n": .integer(Int64(number))]
              try await client.write([set("items/i\(number)", fields)]).acknowledged()
              _ = try await received.first { $0.ids.contains("i\(number)") }
              registration.remove()
              if round == 5, task == 0 { client.deleteAllIndexes() }
            }
          }
        }
        try await group.waitForAll()
      }
      await client.shutdown()
    }
  }
}
