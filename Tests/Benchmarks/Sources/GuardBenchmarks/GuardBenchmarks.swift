public import BenchmarkKit
import VestaConcurrency
import VestaFirestoreBackend

/// The cost of Firestore's engine with rules, compared with the same engine without a guard; in processor time.
public func guardBenchmarks() -> [Benchmark] {
  [
    line("get", .ratio(atMost: 1.3), count: 200_000, rules: own, recentGet),
    line("get-stored", .ratio(atMost: 1.3), count: 20_000, rules: own, documents: 50_000, storedGet),
    line("get-everything", .ratio(atMost: 1.03), count: 200_000, rules: everything, recentGet),
    line("get-signed-in", .ratio(atMost: 1.3), count: 200_000, rules: signedIn, recentGet),
    line("set", .ratio(atMost: 1.3), count: 10_000, rules: own, set),
    line("query-1000", .ratio(atMost: 1.3), count: 100, rules: own, query),
    line("listen-1000", .ratio(atMost: 1.3), count: 100, rules: own, startOfQuery),
    line("listen-1000-names", .ratio(atMost: 1.3), count: 100, rules: own, startOfNames),
    line("change-everything", .ratio(atMost: 1.05), count: 20_000, rules: everything, together: changes),
    line("change-of-a-name", .ratio(atMost: 1.3), count: 20_000, rules: own, together: changesOfNames),
  ]
}

private let own = """
  function isOwn(document) { return request.auth != null && request.auth.uid == document.data.owner; }
  match /rooms/{room} {
    allow read: if isOwn(resource);
    allow write: if isOwn(request.resource) && isOwn(resource);
    match /members/{member} { allow read: if request.auth.uid == member; }
  }
  match /items/{item=**} { allow read; }
  """
private let everything = "match /{document=**} { allow read, write: if true; }"
private let signedIn = "match /{document=**} { allow read, write: if request.auth != null; }"

private let ofAda = StructuredQuery(
  from: [.init(collectionID: "rooms")], filter: .field(path: "owner", .equal, .string("ada")))

private let names = (0..<1_000).map(GuardBench.name)

private typealias Operation = @Sendable (GuardBench, Int) async throws -> Void

/// A document that the engine keeps, as it is read again and again.
private let recentGet: Operation = { bench, number in try await bench.get(names[number % names.count]) }

/// A document from all over the store; few of them are read twice.
private let storedGet: Operation = { bench, number in try await bench.get(GuardBench.name((number &* 7_919) % 50_000)) }

private let set: Operation = { bench, number in
  try await bench.set(GuardBench.document(number % 1_000, seed: .random(in: 0..<1 << 40)))
}

private let query: Operation = { bench, _ in
  let found = try await bench.count(ofAda)
  precondition(found == 1_000)
}

/// Opens a target and waits for its documents.
private func start(_ bench: GuardBench, _ subject: Target.Subject) async throws {
  let call = try await bench.listen(subject)
  var found = 0
  for try await responses in call.responses {
    for case .documentChange in responses { found += 1 }
    if found == 1_000 { break }
  }
  precondition(found == 1_000)
  call.cancel()
}

private let startOfQuery: Operation = { bench, _ in
  try await start(bench, .query(parent: GuardBench.root, ofAda))
}

private let startOfNames: Operation = { bench, _ in try await start(bench, .documents(names)) }

private let changes: Operation = { bench, count in
  try await follow(bench, count, .query(parent: GuardBench.root, ofAda))
}

private let changesOfNames: Operation = { bench, count in
  try await follow(bench, count, .documents([GuardBench.name(1)]))
}

/// Changes a document that a hundred listeners follow; the figure is for one of them.
private func follow(_ bench: GuardBench, _ count: Int, _ subject: Target.Subject) async throws {
  let first = if case .documents = subject { 1 } else { 1_000 }
  let heard = Tally()
  var calls: [ListenCall] = []
  for _ in 0..<100 {
    let call = try await bench.listen(subject)
    calls.append(call)
    Task.detached {
      for try await responses in call.responses {
        heard.add(responses.count { if case .documentChange = $0 { true } else { false } })
      }
    }
  }
  await heard.reaches(100 * first)
  for round in 1...max(1, count / 100) {
    try await bench.set(GuardBench.document(1, seed: .random(in: 0..<1 << 40)), as: .owner)
    await heard.reaches(100 * (first + round))
  }
  for call in calls { call.cancel() }
}

/// A count that one task waits for, without yielding: that would be measured as well.
private final class Tally: Sendable {
  private struct State: Sendable {
    var count = 0
    var goal = 0
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func add(_ number: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.count += number
      return state.count >= state.goal ? state.waiter.take() : nil
    }
    waiter?.resume()
  }

  func reaches(_ goal: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        (state.goal, state.waiter) = (goal, state.count >= goal ? nil : continuation)
        return state.count >= goal
      }
      if isThere { continuation.resume() }
    }
  }
}
