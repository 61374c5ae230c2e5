import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// Several clients, the engine, a network that loses links, and time, in one schedule that a seed decides.
///
/// A failure names its seed; the same seed runs the same history.
struct SimulationTests {
  @Test(.timeLimit(.minutes(20)), arguments: 0..<60)
  func `histories converge, and the events of observers agree with their data`(seed: UInt64) async {
    let simulation = Simulation(seed: seed)
    for _ in 0..<70 { await simulation.step() }
    await simulation.heal()
    await simulation.check()
  }

  @Test(.timeLimit(.minutes(20)), arguments: 0..<120)
  func `histories converge when messages move while the engine still works`(seed: UInt64) async {
    let simulation = Simulation(seed: seed, settles: false)
    for _ in 0..<70 { await simulation.step() }
    await simulation.heal()
    await simulation.check()
  }
}

/// The same simulation for ten minutes.
struct SimulationSoakTests {
  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `many histories converge, whether or not messages wait for each other`() async {
    await Soak("Database, simulation").run { seed, _ in
      let simulation = Simulation(seed: seed, settles: seed % 4 == 0)
      for _ in 0..<70 { await simulation.step() }
      await simulation.heal()
      await simulation.check()
    }
  }
}

/// The children and the value of one observer, rebuilt from its events.
private final class Mirror: Sendable {
  private struct State {
    var children: [DatabaseKey: DatabaseNode] = [:]
    var value: DatabaseNode?
    var problems: [String] = []
  }

  private let state = Locked(State())

  var value: DatabaseNode? { state.withLock { $0.value } }
  var problems: [String] { state.withLock { $0.problems } }

  func apply(_ event: RaisedEvent) {
    state.withLock { state in
      let key = event.path.back ?? .minimum
      let known = state.children[key]
      switch event.kind {
      case .childAdded:
        if known != nil { state.problems.append("added twice: \(key)") }
        state.children[key] = event.node.node
      case .childRemoved:
        if known == nil { state.problems.append("removed without being there: \(key)") }
        state.children[key] = nil
      case .childChanged:
        if known == nil { state.problems.append("changed without being there: \(key)") }
        state.children[key] = event.node.node
      case .childMoved: break
      case .value:
        state.value = event.node.node
        var shown: [DatabaseKey: DatabaseNode] = [:]
        event.node.node.forEachChild { shown[$0] = $1 }
        if shown != state.children { state.problems.append("the children differ from the value") }
      }
    }
  }
}

private final class Simulation {
  private struct Client {
    let database: Database
    var observers: [(query: DatabaseQuery, observer: Observer, mirror: Mirror)] = []
    var isOnline = true
  }

  private let seed: UInt64
  /// Whether all clients are settled after each message.
  private let settles: Bool
  private var random: SplitMix
  private let time = SimulatedTime()
  private let engine: DatabaseEngine
  private let network: SimulatedNetwork
  private var clients: [Client] = []
  private let asked = Locked(0)
  private let told = Locked(0)
  private let committed = Locked(0)
  private let unknown = Locked(0)

  init(seed: UInt64, settles: Bool = true) {
    self.seed = seed
    self.settles = settles
    random = SplitMix(seed: seed)
    var options = DatabaseServiceOptions()
    let clock = time.clock
    let sessions = Locked(0)
    options.clock = clock
    options.makeSession = {
      sessions.withLock { sessions in
        sessions += 1
        return "s\(sessions)"
      }
    }
    if seed % 2 == 0 { options.indexes.add(path: "$x", indexOn: "a") }
    if seed % 3 == 0 {
      options.tuning.hashCheckRows = random.below(3)
      options.tuning.stepRows = 1 + random.below(3)
      options.tuning.groupJobs = 1 + random.below(3)
      options.tuning.entryBytes = 1 + random.below(3)
      options.tuning.replacementPaths = 1 + random.below(3)
    }
    var tuning = DatabaseTuning()
    if seed % 2 == 0 {
      tuning.rangesFrom = random.below(200)
      tuning.shortestRange = 1 + random.below(20)
      tuning.callsOfABatch = 1 + random.below(4)
    }
    engine = DatabaseEngine(store: ModelStore(), options: options)
    network = SimulatedNetwork(engine)
    for number in 0..<3 {
      var environment = Repo.Environment(backend: network)
      environment.clock = clock
      environment.tuning = tuning
      environment.random = SplitMix.fractions(seed: seed &+ UInt64(number))
      clients.append(
        Client(
          database: Database(
            app: nil, url: DatabaseURL(host: "test.firebaseio.com", isSecure: true, namespace: "test"),
            environment: environment, callbackQueue: DispatchQueue(label: "callbacks"), stores: nil,
            storeName: "cache", directory: { "" })))
    }
  }

  // MARK: Steps

  func step() async {
    let number = Int.random(in: 0..<clients.count, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: observe(number)
    case 2:
      if let observer = clients[number].observers.popLast() {
        observer.query.removeObserver(withHandle: DatabaseHandle(observer.observer.id))
      }
    case 3, 4, 5: set(number)
    case 6: update(number)
    case 7: transact(number)
    case 8: if Bool.random(using: &random) { transact(number) } else { change(number) }
    case 9: presence(number)
    case 10:
      clients[number].isOnline.toggle()
      if clients[number].isOnline { clients[number].database.goOnline() } else { clients[number].database.goOffline() }
    case 11: network.open.randomElement(using: &random)?.cut()
    case 12: time.advance(by: .seconds(Int.random(in: 1...20, using: &random)))
    default:
      for _ in 0..<4 {
        move()
        if settles { await settle() }
      }
    }
    await settle()
  }

  private func move() {
    guard let link = network.open.randomElement(using: &random) else { return }
    if Bool.random(using: &random) { link.deliverUp() } else { link.deliverDown() }
  }

  private func key() -> String { ["a", "b", "c", "1", "2"].randomElement(using: &random) ?? "a" }
  private func place() -> String {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in key() }.joined(separator: "/")
  }

  private func value() -> Any? {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: nil
    case 1: ["a": Int.random(in: 0..<4, using: &random), "b": ["c": 1]]
    case 2: [".value": Int.random(in: 0..<9, using: &random), ".priority": Int.random(in: 0..<3, using: &random)]
    default: Int.random(in: 0..<9, using: &random)
    }
  }

  private func query(_ database: Database) -> DatabaseQuery {
    let reference = database.reference(withPath: Bool.random(using: &random) ? key() : "")
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return reference.queryOrderedByKey().queryLimited(toLast: 2)
    case 1: return reference.queryOrdered(byChild: "a").queryLimited(toFirst: 2)
    case 2: return reference.queryOrderedByPriority().queryStarting(atValue: 1)
    case 3: return reference.queryOrderedByValue().queryEnding(atValue: 5).queryLimited(toLast: 2)
    default: return reference
    }
  }

  private func observe(_ number: Int) {
    let query = query(clients[number].database)
    let mirror = Mirror()
    let observer = query.listen(Set(SyncEventKind.allCases), event: { mirror.apply($0) }, cancel: { _ in })
    clients[number].observers.append((query, observer, mirror))
  }

  private func complete() -> @Sendable ((any Error)?, DatabaseReference) -> Void {
    asked.withLock { $0 += 1 }
    let told = told
    return { _, _ in told.withLock { $0 += 1 } }
  }

  private func set(_ number: Int) {
    clients[number].database.reference(withPath: place()).setValue(value(), withCompletionBlock: complete())
  }

  private func update(_ number: Int) {
    let reference = clients[number].database.reference(withPath: key())
    reference.updateChildValues(["a": value() as Any, "b/c": value() as Any], withCompletionBlock: complete())
  }

  private func transact(_ number: Int) {
    asked.withLock { $0 += 1 }
    let (told, committed, unknown) = (told, committed, unknown)
    clients[number].database.reference(withPath: "counter").runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      told.withLock { $0 += 1 }
      if isCommitted { committed.withLock { $0 += 1 } } else { unknown.withLock { $0 += error == nil ? 0 : 1 } }
    }
  }

  /// A transaction at a place that plain writes change too; some give up.
  private func change(_ number: Int) {
    asked.withLock { $0 += 1 }
    let (told, addition) = (told, Int.random(in: 0..<4, using: &random))
    clients[number].database.reference(withPath: place()).runTransactionBlock { data in
      if addition == 0, data.value is NSNull { return .abort() }
      if let number = data.value as? Int {
        data.value = number + addition
      } else {
        data.childData(byAppendingPath: "a").value = addition
      }
      return .success(withValue: data)
    } andCompletionBlock: { _, _, _ in
      told.withLock { $0 += 1 }
    }
  }

  private func presence(_ number: Int) {
    clients[number].database.reference(withPath: "presence/\(number)").onDisconnectSetValue(ServerValue.increment(1))
  }

  // MARK: Rest

  /// Returns when no client has anything to do until a message moves or time passes.
  private func settle() async {
    for _ in 0..<3 {
      for client in clients {
        client.database.repo.queue.sync {}
        client.database.repo.events.drain()
      }
      await engine.settle()
    }
  }

  /// Brings all clients online and moves all messages.
  func heal() async {
    for client in clients { client.database.goOnline() }
    for _ in 0..<400 {
      await settle()
      let busy = network.open.filter(\.hasMessages)
      if busy.isEmpty {
        time.advance(by: .seconds(31))
        await settle()
        if !network.open.contains(where: \.hasMessages) { return }
      }
      for link in busy {
        for _ in 0..<8 {
          link.deliverUp()
          await settle()
          link.deliverDown()
          await settle()
        }
      }
    }
    Issue.record("seed \(seed): the clients do not come to rest")
  }

  func check() async {
    let truth = await tree()
    for (number, client) in clients.enumerated() {
      for (query, _, mirror) in client.observers {
        let expected = NodeWindow.window(of: truth[query.path], query.spec)
        #expect(mirror.problems == [], "seed \(seed), client \(number), \(query.path) \(query.spec)")
        #expect(mirror.value == expected, "seed \(seed), client \(number), \(query.path) \(query.spec)")
      }
    }
    #expect(told.withLock { $0 } == asked.withLock { $0 }, "seed \(seed): completions")
    let count = Int(truth["counter" as DatabaseKey].leaf?.number ?? 0)
    let least = committed.withLock { $0 }
    #expect((least...(least + unknown.withLock { $0 })).contains(count), "seed \(seed): \(count) of \(least)")
  }

  /// All data, as a separate client reads it.
  private func tree() async -> DatabaseNode {
    await withCheckedContinuation { continuation in
      let box = Locked<(any DatabaseConnection)?>(nil)
      let connection = engine.connect(DatabaseConnectRequest(namespace: "test")) { message in
        guard case .reply(_, let reply) = message else { return }
        box.withLock { $0 }?.close()
        continuation.resume(returning: reply.node)
      }
      box.withLock { $0 = connection }
      connection.send(.get(.root, .all), id: 1)
    }
  }
}
