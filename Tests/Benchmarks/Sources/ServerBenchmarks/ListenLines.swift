import BenchmarkKit
import Foundation
import VestaBytes
import VestaConcurrency
import VestaFirestoreWire
import VestaTransport
import VestaTransportInterop

/// A write with 10,000 listeners on another document and on that one: each with a separate connection, and as streams of
/// 100 connections.
func listenLines(_ bench: ServerBench) -> [Benchmark] {
  listenLines(bench, streams: 1) + listenLines(bench, streams: 100)
}

private func listenLines(_ bench: ServerBench, streams: Int) -> [Benchmark] {
  let crowd = Crowd(streams: streams)
  let name = streams == 1 ? "" : "-streams"
  return [
    Benchmark(
      name: "server-write-beside-listeners\(name)", unit: .microseconds, bar: .ratio(atMost: 1.2),
      ours: ("beside 10,000", { await crowd.timeOfWrites() }),
      // Another value each time, as with listeners: a write that changes nothing commits nothing.
      other: ("alone", { await medianTime(500) { try await bench.setByWire(1, seed: $0) } })),
    Benchmark(
      name: "server-told\(name)", unit: .microseconds, bar: .figure(atMost: 6.67),
      ours: ("a change to one of 10,000", { await crowd.timeOfMessages() }),
      other: ("a set alone", { await medianTime(500) { try await bench.setByWire(2, seed: $0) } })),
    Benchmark(
      name: "server-listener-memory\(name)", unit: .kibibytes, bar: .figure(atMost: 20),
      ours: ("of the server", { await crowd.memory() }),
      other: ("the process alone", { Memory.resident(bench.server.id) })),
  ]
}

/// A separate server with all listeners, made when the first line needs it.
private final class Crowd: Sendable {
  private static let count = 10_000

  private struct Made: @unchecked Sendable {  // the sockets are used by one thread at a time: lines run one by one
    let server: VestaProcess
    let directory: URL
    let client: VestaTransportClient
    let channel: GRPCChannel
    let sockets: [ListeningSocket]
    let memory: Double
  }

  /// The streams of a connection.
  private let streams: Int
  private let made = Locked<Made?>(nil)
  private let seeds = Locked(0)

  init(streams: Int) { self.streams = streams }

  deinit {
    guard let made = made.withLock({ $0 }) else { return }
    made.server.kill()
    try? FileManager.default.removeItem(at: made.directory)
  }

  private func crowd() async throws -> Made {
    if let made = made.withLock({ $0 }) {
      guard await Self.onThread({ made.sockets.allSatisfy { $0.stayOpen() } }) else { throw ServerBench.Absent() }
      return made
    }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let server = try await VestaProcess.start(directory)
    let port = try server.port(of: "firestore")
    let client = try VestaTransportClient()
    let channel = GRPCChannel(client, authority: "127.0.0.1:\(port)")
    // The documents of the server that is measured alone.
    try await ServerBench.fill(channel)
    let before = Memory.resident(server.id)
    let (connections, streams) = (Self.count / streams, streams)
    let sockets = await Self.onThread {
      (0..<connections).compactMap { _ in
        ListeningSocket(port: port, document: ServerBench.name(0), streams: streams)
      }
    }
    guard sockets.count == connections else { throw ServerBench.Absent() }
    let memory = (Memory.resident(server.id) - before) / Double(Self.count)
    let all = Made(
      server: server, directory: directory, client: client, channel: channel, sockets: sockets, memory: memory)
    made.withLock { $0 = all }
    return all
  }

  /// Reads of sockets wait, so they have a thread.
  private static func onThread<Value>(_ body: @escaping @Sendable () -> sending Value) async -> sending Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  private static func set(_ number: Int, seed: Int) throws -> [UInt8] {
    try CommitRequestWire.bytes(of: ServerBench.set(number, seed: seed))
  }

  func memory() async -> Double { (try? await crowd())?.memory ?? .nan }

  /// The median of single writes of a document without listeners.
  func timeOfWrites() async -> Double {
    do {
      let crowd = try await crowd()
      return await medianTime(500) {
        _ = try await crowd.channel.unary(ServerBench.path("Commit"), try Self.set(1, seed: $0))
      }
    } catch {
      print("failed: \(error)")
      return .nan
    }
  }

  /// From a write until all listeners have it, for each.
  func timeOfMessages() async -> Double {
    do {
      let crowd = try await crowd()
      let rounds = 10
      let clock = ContinuousClock()
      let start = clock.now
      for _ in 0..<rounds {
        _ = try await crowd.channel.unary(
          ServerBench.path("Commit"),
          try Self.set(
            0,
            seed: seeds.withLock {
              $0 += 1; return $0
            }))
        guard await Self.onThread({ crowd.sockets.allSatisfy { $0.changed() } }) else { throw ServerBench.Absent() }
      }
      return ((clock.now - start) / .nanoseconds(1)) / Double(rounds * Self.count)
    } catch {
      print("failed: \(error)")
      return .nan
    }
  }
}
