import Foundation
import SQLiteBaseline
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseService
import VestaSQLite

/// An engine on a store in a separate folder, and SQLite by hand next to it; made when the first line needs it.
final class DatabaseBench: Sendable {
  let engine: DatabaseEngine
  let raw: RawSQLite
  /// A tree as rows by hand: a hundred branches of a thousand numbers.
  let rows: RawSQLite
  let directory: String
  private let clients = Locked([String: BenchClient]())
  private let filled = Locked(Set<String>())

  private static let made = Locked<DatabaseBench?>(nil)
  private static let making = SingleFlight<Bool, DatabaseBench>()

  static func shared() async throws -> DatabaseBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await DatabaseBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  static func remove() async throws {
    guard let bench = made.withLock({ $0.take() }) else { return }
    try await bench.engine.close()
    try FileManager.default.removeItem(atPath: bench.directory)
  }

  private init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = "\(base)/vesta-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    engine = DatabaseEngine(store: try await SQLiteStore.open(named: "database", in: directory))
    raw = RawSQLite(path: "\(directory)/raw.sqlite")
    rows = RawSQLite(path: "\(directory)/rows.sqlite")
    rows.begin()
    for branch in 0..<100 {
      for leaf in 0..<1000 {
        let number = UInt64(branch * 1000 + leaf)
        rows.put(
          (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }, for: Array("branch\(branch)/leaf\(leaf)".utf8))
      }
    }
    rows.commit()
    for first in stride(from: 0, to: 100_000, by: 1000) {
      raw.begin()
      for number in first..<(first + 1000) { raw.put(Workload.value(number, length: 12), for: Workload.key(number)) }
      raw.commit()
    }
  }

  /// Reads rows into dictionaries, as one would by hand.
  func readByHand(_ count: Int) -> [String: [String: Int]] {
    var branches: [String: [String: Int]] = [:]
    rows.rows(from: [0], count: count) { key, value in
      let slash = key.firstIndex(of: UInt8(ascii: "/")) ?? 0
      let (branch, leaf) = (
        String(decoding: key[..<slash], as: UTF8.self), String(decoding: key[(slash + 1)...], as: UTF8.self)
      )
      branches[branch, default: [:]][leaf] = Int(value.loadUnaligned(as: UInt64.self))
    }
    return branches
  }

  /// A client of a database that stays connected from one round to the next, with its listens.
  func client(_ name: String) -> BenchClient {
    clients.withLock { clients in
      if let client = clients[name] { return client }
      let client = BenchClient(engine, name)
      clients[name] = client
      return client
    }
  }

  /// Fills a database with `count` leaves, a thousand in each branch, once.
  func fill(_ name: String, _ count: Int) async throws {
    guard filled.withLock({ $0.insert(name).inserted }) else { return }
    let client = BenchClient(engine, name)
    for branch in 0..<max(1, count / 1000) {
      let children = (0..<min(count, 1000)).map { leaf in
        (DatabaseKey("leaf\(leaf)"), DatabaseNode(.int(Int64(branch &* 1000 &+ leaf))))
      }
      try await client.call(.put(DatabasePath("branch\(branch)"), DatabaseNode(children: children), hash: nil))
    }
    client.close()
  }
}

/// A connection that waits for replies and counts data.
final class BenchClient: Sendable {
  private struct State {
    var waiting: [Int: CheckedContinuation<DatabaseReply, Never>] = [:]
    var data = 0
    var target: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    var nextID = 0
    var listens = 0
  }

  private struct Refused: Error {
    let reply: DatabaseReply
  }

  private let state = Locked(State())
  private let connection = Locked<(any DatabaseConnection)?>(nil)

  init(_ backend: any DatabaseBackend, _ namespace: String) {
    let opened = backend.connect(DatabaseConnectRequest(namespace: namespace)) { [weak self] in self?.receive($0) }
    connection.withLock { $0 = opened }
  }

  @discardableResult
  func call(_ request: DatabaseRequest) async throws -> DatabaseReply {
    let connection = connection.withLock { $0 }
    let reply = await withCheckedContinuation { continuation in
      let id = state.withLock { state in
        state.nextID += 1
        state.waiting[state.nextID] = continuation
        return state.nextID
      }
      connection?.send(request, id: id)
    }
    guard reply.status == .ok else { throw Refused(reply: reply) }
    return reply
  }

  /// Listens to a place, which stays so.
  func listen(_ path: DatabasePath) async throws {
    try await call(.listen(DatabaseListen(path: path)))
    state.withLock { $0.listens += 1 }
  }

  /// How many places are listened to.
  var listenCount: Int { state.withLock { $0.listens } }

  /// The number of received messages of data.
  var dataCount: Int { state.withLock { $0.data } }

  /// Waits until `count` messages of data were received.
  func waitForData(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.data < count { state.target = (count, continuation) }
        return state.data >= count
      }
      if isThere { continuation.resume() }
    }
  }

  func close() { connection.withLock { $0 }?.close() }

  private func receive(_ message: DatabaseServerMessage) {
    switch message {
    case .reply(let id, let reply): state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: reply)
    case .data, .merge:
      let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
        state.data += 1
        guard let target = state.target, state.data >= target.count else { return nil }
        state.target = nil
        return target.continuation
      }
      continuation?.resume()
    default: break
    }
  }
}
