import Testing
import VestaFirestoreBackend
import VestaFirestoreService
import VestaTesting

struct ListenStressTests {
  /// Listeners attach while others write; what each has folded up at the end is what a fresh query finds.
  @Test(arguments: UInt64(21)...26)
  func `what a listener folds is what a query finds`(seed: UInt64) async throws {
    let tuning = EngineTuning.random(seed: seed)
    let engine = makeEngine { $0.tuning = tuning }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<3 {
        group.addTask {
          var data = SplitMix(seed: seed &* 100 &+ UInt64(worker))
          for _ in 0..<60 { try await engine.commit(data.write(), data.write()) }
        }
      }
      for listener in 0..<6 {
        group.addTask {
          var data = SplitMix(seed: seed &* 1000 &+ UInt64(listener))
          try await follow(engine, &data, "seed \(seed), \(tuning)")
        }
      }
      try await group.waitForAll()
    }
  }

  private func follow(_ engine: FirestoreEngine, _ data: inout SplitMix, _ label: String) async throws {
    var queries: [Int32: StructuredQuery] = [:]
    while queries.count < 4 {
      let query = data.query()
      if (try? await engine.query(query)) != nil { queries[Int32(queries.count + 1)] = query }
    }
    var follower = try await Follower(engine)
    for (id, query) in queries { follower.add(Target(id: id, .query(parent: root, query))) }
    try await follower.current(queries.keys)
    for _ in 0..<10 {
      // A document in every collection of the queries, so that a snapshot must be sent.
      let marker = try await engine.commit(
        update("rooms/zz", data.fields()), update("rooms/zy", ["m": .double(.random(in: 0...1))]))
      try await engine.commit(
        update("rooms/zz", ["f": .integer(2), "g": .integer(2), "h": .integer(2), "m": .double(.random(in: 0...1))]))
      var all = Target(id: 99, .documents([name("rooms/zz")]))
      all.once = true
      follower.add(all)
      try await follower.snapshot(from: marker.commitTime)
      let time = follower.readTime
      for (id, query) in queries {
        var expected = query
        expected.select = nil
        let found = try await engine.query(expected, .readTime(time))
        let held = follower.targets[id] ?? [:]
        #expect(held.count == found.count, "\(label): \(query)")
        for document in found { #expect(held[document.name] == document, "\(label): \(query)") }
      }
    }
  }
}
