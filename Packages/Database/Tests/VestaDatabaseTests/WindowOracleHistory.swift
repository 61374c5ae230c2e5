import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// Three clients that listen, stop and give up, and the tree that they write.
final class OracleHistory {
  private struct Listen {
    let client: Int
    let query: OracleQuery
    let database: DatabaseQuery
    let observer: Observer
    let shown: OracleShown
  }

  private let seed: UInt64
  private var random: SplitMix
  private let engines: [DatabaseEngine]
  private let clients: [Database]
  private var listens: [Listen] = []
  private var tree = OracleTree.nothing
  private var steps: [String] = []

  init(seed: UInt64, isShared: Bool) {
    self.seed = seed
    var random = SplitMix(seed: seed)
    let store = ModelStore()
    var options = DatabaseServiceOptions()
    if isShared { options.sharing = .shared() }
    if seed % 2 == 0 { options.indexes.add(path: "t", indexOn: "a") }
    if seed % 3 == 0 {
      options.tuning.hashCheckRows = random.below(4)
      options.tuning.groupJobs = 1 + random.below(4)
      options.tuning.stepRows = 1 + random.below(4)
      options.tuning.logPartBytes = 1 + random.below(60)
    }
    engines = (0..<(isShared ? 2 : 1)).map { _ in
      DatabaseEngine(store: unsteady(store, seed: random.next()), options: options)
    }
    clients = (0..<3).map { [engines] number in
      var environment = Repo.Environment(backend: engines[number % engines.count])
      environment.readTime = .seconds(3600)
      environment.tuning.openingTime = .seconds(3600)
      return World.client(environment)
    }
    self.random = random
  }

  func end() async {
    for client in clients { await client.shutDown() }
    for engine in engines { try? await engine.close() }
  }

  private func reference(_ client: Int, _ path: [String]) -> DatabaseReference {
    clients[client].reference(withPath: path.joined(separator: "/"))
  }

  private func made(_ query: OracleQuery, _ client: Int) -> DatabaseQuery {
    var made: DatabaseQuery = reference(client, query.path)
    switch query.order {
    case .key: made = made.queryOrderedByKey()
    case .value: made = made.queryOrderedByValue()
    case .child(let name): made = made.queryOrdered(byChild: name)
    }
    if let start = query.start { made = made.queryStarting(atValue: start) }
    if let end = query.end { made = made.queryEnding(atValue: end) }
    if let first = query.first { made = made.queryLimited(toFirst: UInt(first)) }
    if let last = query.last { made = made.queryLimited(toLast: UInt(last)) }
    return made
  }

  // MARK: A round

  func round(_ number: Int) async {
    steps = []
    let writer = random.below(3), written = Log<Bool>()
    var writes = 0
    for _ in 0..<(2 + random.below(10)) {
      if random.oneIn(3) {
        let isTransaction = write(writer) { written.add($0) }
        writes += 1
        let count = writes
        // A later set rolls a running transaction back.
        if isTransaction { await written.wait { $0.count == count } }
      } else {
        listenOrStop()
      }
      for _ in 0..<random.below(12) { await Task.yield() }
    }
    let all = writes
    await written.wait { $0.count == all }
    #expect(written.entries.allSatisfy { $0 }, "seed \(seed)")
    // On a busy machine the last change may take longer; one that is lost never arrives.
    for _ in 0..<100 {
      await rest()
      if isAsExpected { break }
    }
    await check(number)
  }

  /// - Returns: Whether it is a transaction.
  private func write(_ client: Int, _ done: @escaping @Sendable (Bool) -> Void) -> Bool {
    let kind = random.below(6)
    switch kind {
    case 5:
      guard let (base, values) = succession() else { return write(client, done) }
      for (key, value) in values { tree = tree.setting(base + [key], value) }
      steps.append("\(client) updates \(base): \(values)")
      reference(client, base).updateChildValues(values.mapValues(\.plain)) { error, _ in done(error == nil) }
    case 0:
      let base = ["t"] + random.oraclePath(0...1)
      var values: [String: Any] = [:]
      for key in Set((0...random.below(3)).map { _ in random.oracleKey() }) {
        let below = [key] + random.oraclePath(0...1), value = random.oracleTree()
        values[below.joined(separator: "/")] = value.plain
        tree = tree.setting(base + below, value)
      }
      steps.append("\(client) updates \(base): \(values)")
      reference(client, base).updateChildValues(values) { error, _ in done(error == nil) }
    case 1:
      // Deep places are created by it, too.
      let path = ["t"] + random.oraclePath(1...3), value = random.oracleTree(depth: 1)
      tree = tree.setting(path, value)
      steps.append("\(client) transacts \(path): \(value)")
      reference(client, path).runTransactionBlock { data in
        data.value = value.plain
        return .success(withValue: data)
      } andCompletionBlock: { _, isCommitted, _ in
        done(isCommitted)
      }
    default:
      let path = ["t"] + random.oraclePath(0...3), value = random.oracleTree()
      tree = tree.setting(path, value)
      steps.append("\(client) sets \(path): \(value)")
      reference(client, path).setValue(value.plain) { error, _ in done(error == nil) }
    }
    return kind == 1
  }

  /// An update in which one child of a query's window leaves and another one enters: a list of the best, say.
  private func succession() -> (base: [String], values: [String: OracleTree])? {
    let limited = listens.map(\.query).filter { $0.first != nil || $0.last != nil }
    guard !limited.isEmpty else { return nil }
    let query = random.pick(limited), window = query.keys(of: tree)
    guard !window.isEmpty else { return nil }
    let leaving = random.pick(window), entering = random.oracleKey()
    guard !window.contains(entering) else { return nil }
    // At the end of the order that the window begins at, or where the other one was.
    let best = OracleTree.number(query.last == nil ? query.start ?? 0 : query.end ?? 8)
    var value = random.oneIn(3) ? tree[query.path + [leaving]] : best
    if case .child(let name) = query.order, value == best { value = .children([name: best]) }
    return (query.path, [leaving: .nothing, entering: value])
  }

  private func listenOrStop() {
    let client = random.below(3)
    switch random.below(11) {
    case 0, 1: observe(random.oracleQuery(), client)
    case 2: observe(OracleQuery(path: random.oneIn(4) ? [] : ["t"] + random.oraclePath(0...2)), client)
    case 9, 10:
      // A child of a query, beside the query: in its window or not.
      let own = listens.filter { $0.client == client && !$0.query.isEverything }
      guard !own.isEmpty else { return giveUp(client) }
      observe(OracleQuery(path: random.pick(own).query.path + random.oraclePath(1...1)), client)
    case 3 where !listens.isEmpty:
      let listen = listens.remove(at: random.below(listens.count))
      listen.database.removeObserver(withHandle: DatabaseHandle(listen.observer.id))
      steps.append("\(listen.client) stops \(listen.query)")
    default: giveUp(client)
    }
  }

  private func observe(_ query: OracleQuery, _ client: Int) {
    let place = query.isEverything ? reference(client, query.path) : made(query, client), shown = OracleShown()
    let observer = place.listen(Set(SyncEventKind.allCases), event: { shown.apply($0) }, cancel: { _ in })
    listens.append(Listen(client: client, query: query, database: place, observer: observer, shown: shown))
    steps.append("\(client) observes \(query)")
  }

  /// A listen that ends before its first data, in each of the ways that the API has.
  private func giveUp(_ client: Int) {
    let path = random.oneIn(5) ? [] : ["t"] + random.oraclePath(0...2)
    let place = reference(client, path), kind = random.below(5)
    steps.append("\(client) gives up on \(path), \(kind)")
    switch kind {
    case 0: place.runTransactionBlock { _ in .abort() }
    case 1: place.removeObserver(withHandle: place.observe(.value) { _ in })
    case 2:
      let task = Task { for try await _ in place.value {} }
      task.cancel()
    case 3: place.observeSingleEvent(of: .value) { _ in }
    default:
      let query = made(random.oracleQuery(), client)
      query.removeObserver(withHandle: query.observe(.value) { _ in })
    }
  }

  // MARK: Rest

  private func rest() async {
    for _ in 0..<8 {
      for client in clients {
        client.repo.queue.sync {}
        client.repo.events.drain()
      }
      for engine in engines { await engine.settle() }
    }
  }

  private var isAsExpected: Bool { listens.allSatisfy { $0.shown.value == $0.query.result(in: tree) } }

  private func check(_ round: Int) async {
    for listen in listens {
      let expected = listen.query.result(in: tree)
      let label = "seed \(seed), round \(round), client \(listen.client), \(listen.query): \(steps)"
      #expect(listen.shown.value == expected, "\(label)")
      #expect(listen.shown.problems.isEmpty, "\(label)")
      if random.oneIn(4) {
        let read = try? await listen.database.getData()
        #expect(read.map { OracleTree($0.valueInExportFormat() ?? NSNull()) } == expected, "read, \(label)")
      }
    }
  }
}

/// A store whose calls take a random time before they begin and before they return.
private func unsteady(_ store: ModelStore, seed: UInt64) -> HookedStore {
  let (unsteady, random) = (HookedStore(store, closesBase: false), Locked(SplitMix(seed: seed)))
  unsteady.hook { step in
    guard [.read, .readEnd, .write, .committed].contains(step) else { return }
    let count = random.withLock { random in random.oneIn(2) ? 0 : random.below(60) }
    for _ in 0..<count { await Task.yield() }
  }
  return unsteady
}
