import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

/// Many pending writes of one document.
@Suite struct ManyWritesTests {
  private func patch(_ name: String, _ value: Int64) -> Mutation {
    Mutation(path("rooms/a"), .patch([name: .integer(value)], mask: FieldMask([FieldPath([name])])))
  }

  private func acknowledge(_ store: inout LocalStore, _ batch: MutationBatch) throws {
    let time = Timestamp(seconds: Int64(batch.id))
    let results = batch.mutations.map { _ in WriteResult(updateTime: time) }
    _ = store.acknowledge(try #require(BatchAcknowledgement(batch, commitTime: time, results: results)))
  }

  @Test(arguments: 1...20) func `after each answer the document is the backend's with the pending writes on top`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed: seed)
    var store = LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
    store.tuning.exactReplays = random.below(12)
    let names = ["x", "y", "z"]
    var values: [MapValue] = [[:]]
    for _ in 0..<100 {
      let (name, value) = (names[random.below(3)], Int64(random.below(1_000)))
      _ = store.write([patch(name, value)], at: Timestamp(seconds: 1))
      var fields = values[values.count - 1]
      fields[name] = .integer(value)
      values.append(fields)
    }
    for batch in Array(store.queue.batches) {
      try acknowledge(&store, batch)
      #expect(store.shown.document(path("rooms/a")).fields == values[100], "seed \(seed)")
      #expect(store.documents[path("rooms/a")].fields == values[batch.id], "seed \(seed)")
    }
    #expect(store.queue.isEmpty && !store.shown.writes.hasOverlays)
    #expect(!store.shown.document(path("rooms/a")).hasLocalMutations)
  }

  @Test func `a refused write is removed from the document at once, however many are pending`() throws {
    var store = LocalStore(database: database, user: "", policy: .leastRecentlyUsed(bytes: nil))
    store.tuning.exactReplays = 0
    for number in 0..<100 { _ = store.write([patch("f\(number)", 1)], at: Timestamp(seconds: 1)) }
    for number in 0..<50 {
      let batch = try #require(store.queue.batches.first)
      if number % 10 == 5 { _ = store.reject(batch) } else { try acknowledge(&store, batch) }
      let isShown = store.shown.document(path("rooms/a")).fields?["f\(number)"] != nil
      #expect(isShown == (number % 10 != 5))
    }
  }

  @Test func `emptying a long queue computes few overlays`() {
    var queue = MutationQueue()
    for _ in 0..<10_000 { _ = queue.add([patch("x", 1)], base: [], at: Timestamp(seconds: 1)) }
    var replayed = 0
    for batch in Array(queue.batches) {
      queue.save(Overlay(largestBatchID: 10_000, patch("x", 1)))
      _ = queue.remove(batch.id)
    }
    #expect(queue.isEmpty)
    queue = MutationQueue()
    for _ in 0..<10_000 { _ = queue.add([patch("x", 1)], base: [], at: Timestamp(seconds: 1)) }
    queue.save(Overlay(largestBatchID: 20_000, patch("x", 1)))
    for batch in Array(queue.batches) {
      _ = queue.remove(batch.id)
      guard queue.needsReplay(path("rooms/a"), exactly: 64) else { continue }
      replayed += queue.batches.count
      queue.save(Overlay(largestBatchID: 20_000, patch("x", 1)))
    }
    // Each of them would be 50 million.
    #expect(replayed < 1_000_000)
    // An eighth of the batches is removed between two of them, as long as there are many.
    #expect(replayed > 50_000)
  }
}
