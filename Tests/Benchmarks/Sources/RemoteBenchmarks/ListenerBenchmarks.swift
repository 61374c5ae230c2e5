import BenchmarkKit
import Foundation
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaFirestoreService
import VestaMemoryStore
import VestaServiceInterop
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// The memory that an open listener takes in the process of its client.
let listenerMemory = Benchmark(
  name: "remote-listener", unit: .kibibytes, bar: .figure(atMost: 6),
  ours: ("each of 10,000", figure { try await memoryOfListeners(10_000) }), other: ("nothing", { .nan }))

private func memoryOfListeners(_ count: Int) async throws -> Double {
  let backend = VestaOptions.Backend.emulator(host: "127.0.0.1", port: try RemoteServer.port())
  let app = try DocumentApps.app(UUID().uuidString, backend)
  let db = try Firestore.instance(for: app)
  let there = Locked(0)
  func listen(_ number: Int) -> any VestaFirestore.ListenerRegistration {
    let first = Locked(true)
    return db.document("listened/l\(number)").addSnapshotListener { snapshot, _ in
      guard snapshot != nil else { return }
      let isFirst = first.withLock { first in
        defer { first = false }
        return first
      }
      if isFirst { there.withLock { $0 += 1 } }
    }
  }
  // The connection, and what the first listener has for all.
  var kept = [listen(-1)]
  while there.withLock({ $0 }) < 1 { try await Task.sleep(for: .milliseconds(1)) }
  let before = Memory.resident()
  for number in 0..<count { kept.append(listen(number)) }
  while there.withLock({ $0 }) < count + 1 { try await Task.sleep(for: .milliseconds(1)) }
  let used = Memory.resident() - before
  for registration in kept { registration.remove() }
  _ = await app.delete()
  return used / Double(count)
}

/// The time from the return of the network to a snapshot with the changes since its loss.
let reconnection = Benchmark(
  name: "remote-reconnection", unit: .microseconds, bar: .figure(atMost: 50_000),
  ours: ("a snapshot", figure { try await timeOfReconnection() }), other: ("nothing", { .nan }))

private func timeOfReconnection() async throws -> Double {
  let engine = FirestoreEngine(store: MemoryStore())
  let host = FakeEndpointHost(project: "bench")
  host.add((any FirestoreBackend).self, engine)
  let server = try VestaTransportServer(loops: 1)
  let handler = FirestoreEndpoints().handler(in: host)
  var listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: handler)
  let address = listener.address
  let app = try DocumentApps.app(UUID().uuidString, .emulator(host: "127.0.0.1", port: address.port ?? 0))
  let network = FakeNetwork()
  app.container.override((any NetworkMonitor).self, with: network as any NetworkMonitor)
  let shown = Locked(0)
  let registration = try Firestore.instance(for: app).document("rooms/a").addSnapshotListener { snapshot, _ in
    if let number = snapshot?.get("n") as? Int { shown.withLock { $0 = number } }
  }
  func write(_ number: Int64) async throws {
    let database = "projects/bench/databases/(default)"
    let document = Document(name: "\(database)/documents/rooms/a", fields: ["n": .integer(number)])
    let request = CommitRequest(database: database, writes: [.update(document)])
    _ = try await engine.commit(request, context: CallContext(caller: .owner))
  }
  try await write(1)
  while shown.withLock({ $0 }) < 1 { try await Task.sleep(for: .milliseconds(1)) }
  let clock = ContinuousClock()
  var times: [Duration] = []
  for round in 2...12 {
    await listener.shutDown(within: .zero)
    // Long enough for attempts that fail, and their pauses.
    try await Task.sleep(for: .milliseconds(300))
    try await write(Int64(round))
    listener = try await server.listen(at: address, handler: handler)
    let start = clock.now
    network.change()
    while shown.withLock({ $0 }) < round { try await Task.sleep(for: .microseconds(100)) }
    times.append(clock.now - start)
  }
  registration.remove()
  _ = await app.delete()
  await listener.shutDown(within: .zero)
  await server.stop()
  try await engine.close()
  return times.sorted()[times.count / 2] / .nanoseconds(1)
}
