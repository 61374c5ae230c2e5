import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// The machine by itself: starts made at one version join at a later one, and all continue together.
struct WatchMachineTests {
  private let engine = makeEngine()

  @Test func `a target without a number is given one that its call does not use`() async throws {
    let base = try await engine.engine(database)
    var machine = WatchMachine(tokenInterval: .max / 2)
    func add(_ id: Int32) -> TargetChange? {
      let actions = machine.add(Target(id: id, .query(parent: root, .all("rooms"))), of: 1, in: base.name)
      for case .send(_, let responses) in actions {
        for case .targetChange(let change) in responses { return change }
      }
      return nil
    }
    #expect(add(2) == TargetChange(.add, targetIDs: [2]))
    #expect(add(0) == TargetChange(.add, targetIDs: [1]))
    #expect(add(0) == TargetChange(.add, targetIDs: [3]))
    _ = machine.remove(3, of: 1)
    #expect(add(0) == TargetChange(.add, targetIDs: [4]))
    // From then on the service chooses the numbers.
    for id in [Int32(9), -3] {
      let refused = add(id)
      #expect(refused?.kind == .remove && refused?.targetIDs == [id] && refused?.cause?.code == .invalidArgument)
    }
  }

  @Test(arguments: UInt64(61)...66)
  func `what is folded is what a query finds`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let base = try await engine.engine(database)
    var machine = WatchMachine(tokenInterval: .max / 2)
    var folded: [Int32: [String: Document]] = [:]
    var queries: [Int32: StructuredQuery] = [:]
    var repetitions = 0
    var requeries: [(job: Int, watch: Int)] = []
    func fold(_ actions: [WatchMachine.Action]) {
      for action in actions {
        switch action {
        case .send(_, let responses): for response in responses { apply(response) }
        case .begin(let job): if case .requery(let watch, _) = job.work { requeries.append((job.id, watch)) }
        case .cancel, .end: continue
        }
      }
    }
    func apply(_ response: ListenResponse) {
      switch response {
      case .documentChange(let change):
        for id in change.targetIDs {
          if folded[id]?[change.document.name] == change.document { repetitions += 1 }
          folded[id, default: [:]][change.document.name] = change.document
        }
        for id in change.removedTargetIDs { folded[id]?[change.document.name] = nil }
      case .documentDelete(let delete): for id in delete.removedTargetIDs { folded[id]?[delete.document] = nil }
      case .documentRemove, .targetChange, .filter: return
      }
    }
    var tokens: [Int32: [UInt8]] = [:]
    for round in 1...40 {
      let id = Int32(round % 12 + 1)
      let resumes = queries[id] != nil && data.pick([true, false])
      fold(machine.remove(id, of: 1))
      if !resumes {
        (queries[id], folded[id]) = (try await validQuery(&data), [:])
      }
      for _ in 0..<data.pick([0, 1, 2]) { try await engine.commit(data.write(), data.write()) }
      let resume = resumes ? tokens[id].map(Target.Resume.token) : nil
      let target = Target(id: id, .query(parent: root, try #require(queries[id])), resume: resume)
      let added = machine.add(target, of: 1, in: base.name)
      let job = try #require(added.lazy.compactMap { if case .begin(let job) = $0 { job } else { nil } }.first)
      let request = try #require(machine.pending(job.id)?.request)
      var start = try await base.reading { try await WatchStart(request, in: $0, digest: nil, now: .max) }
      if data.pick([true, false]) { start.prepare(for: data.pick([id, id + 100])) }
      for _ in 0..<data.pick([0, 1, 3]) { try await engine.commit(data.write(), data.write()) }
      try await base.reading { snapshot in
        var changes: [WatchChange] = []
        if let version = machine.version, version < snapshot.version {
          changes = try await WatchChange.all(after: version, .everything, in: snapshot)
        }
        fold(machine.committed(changes, at: snapshot.version))
        while let (job, watch) = requeries.popLast() {
          guard let (subject, known, _) = machine.known(watch, for: job) else { continue }
          let view = try await subject.limitedView(in: snapshot)
          fold(machine.answered(watch, view, try await (view?.view ?? [:]).facts(since: known, in: snapshot)))
        }
        #expect(try await start.advance(to: snapshot, view: machine.pending(job.id)?.view))
        fold(machine.joined(job.id, start))
      }
      for (id, query) in queries {
        let found = try await engine.query(query)
        let expected = Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) })
        #expect(folded[id] ?? [:] == expected, "seed \(seed), round \(round), target \(id): \(query)")
      }
      // The tokens from which targets continue later: all are at this version now.
      try await base.reading { snapshot in for id in queries.keys { tokens[id] = ResumeToken.encode(snapshot.version) }
      }
    }
    #expect(repetitions == 0, "seed \(seed)")
    _ = machine.ended(1)
  }

  @Test func `a target that joins a start under way gets no state older than the one that it could know`() async throws
  {
    let base = try await engine.engine(database)
    var machine = WatchMachine(tokenInterval: .max / 2)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]), update("rooms/b", ["n": .integer(1)]))
    let target = Target(id: 1, .documents([name("rooms/a"), name("rooms/b")]))
    var job: WatchMachine.Job?
    for case .begin(let begun) in machine.add(target, of: 1, in: base.name) { job = begun }
    let begun = try #require(job)
    let request = try #require(machine.pending(begun.id)?.request)
    var start = try await base.reading { try await WatchStart(request, in: $0, digest: nil, now: .max) }
    start.prepare(for: 1)
    try await engine.commit(update("rooms/a", ["n": .integer(2)]))
    // The second call joins after its own write: it shares the start of the first one.
    for case .begin in machine.add(target, of: 2, in: base.name) { Issue.record("There is a start of its own.") }
    try await base.reading { snapshot in
      _ = machine.committed([], at: snapshot.version)
      let isComplete = try await start.advance(to: snapshot)
      #expect(isComplete)
    }
    var seen: [String] = []
    for case .send(2, let responses) in machine.joined(begun.id, start) {
      for case .documentChange(let change) in responses {
        seen.append("\(change.document.name.suffix(1)) \(change.document.fields["n"] == .integer(2) ? 2 : 1)")
      }
    }
    #expect(seen.sorted() == ["a 2", "b 1"])
  }

  private func validQuery(_ data: inout SplitMix) async throws -> StructuredQuery {
    while true {
      let query = data.query()
      if (try? await engine.query(query)) != nil { return query }
    }
  }
}
