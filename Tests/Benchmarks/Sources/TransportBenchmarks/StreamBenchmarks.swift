import BenchmarkKit
import Foundation
import Glibc
import VestaTransport
import VestaTransportInterop

/// Messages of 1 KiB on a stream of gRPC, from a server to a client of the same process, compared with the same bytes
/// over a bare socket between two threads.
func streamBenchmarks() async throws -> [Benchmark] {
  let server = try VestaTransportServer(loops: 1)
  let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: GRPCHandler(Source()))
  let channel = GRPCChannel(try VestaTransportClient(loops: 1), authority: listener.address.description)
  let count = 100_000

  @Sendable func ours() async -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let call = channel.open("/source.Source/Read", timeout: .seconds(120))
    call.offer(Array("\(count)".utf8))
    call.finish()
    var received = 0
    while let message = try? await call.next() { received += message.count }
    guard received == count * 1_024 else { return .nan }
    return (clock.now - start) / .nanoseconds(1) / Double(count)
  }
  return [
    Benchmark(
      name: "transport-grpc-stream", unit: .microseconds, bar: .ratio(atMost: 2), ours: ("Vesta", ours),
      other: ("bare socket", { await BareSocket.time(count: count) }))
  ]
}

private struct Source: GRPCService {
  func method(at path: String) -> GRPCMethod? {
    .stream { _, call in
      let request = try await call.requests.next() ?? []
      let message = [UInt8](repeating: 7, count: 1_024)
      for _ in 0..<(Int(String(decoding: request, as: UTF8.self)) ?? 0) { try await call.send(message) }
    }
  }
}

/// One thread writes each message as soon as the one before is written, another one reads.
private enum BareSocket {
  static func time(count: Int) async -> Double {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: run(count: count)) }
    }
  }

  private static func run(count: Int) -> Double {
    guard let (one, other) = connected() else { return .nan }
    let message = [UInt8](repeating: 7, count: 1_029)
    let clock = ContinuousClock()
    let start = clock.now
    Thread.detachNewThread {
      for _ in 0..<count {
        var sent = 0
        while sent < message.count {
          let moved = message.withUnsafeBytes { send(one, $0.baseAddress?.advanced(by: sent), message.count - sent, 0) }
          guard moved > 0 else { break }
          sent += moved
        }
      }
      shutdown(one, Int32(SHUT_WR))
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var received = 0
    while true {
      let moved = recv(other, &buffer, buffer.count, 0)
      guard moved > 0 else { break }
      received += moved
    }
    close(one)
    close(other)
    return received == count * message.count ? (clock.now - start) / .nanoseconds(1) / Double(count) : .nan
  }

  /// Two ends of a connection by TCP.
  private static func connected() -> (Int32, Int32)? {
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listening) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isConnected = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listening, address, length) == 0 && listen(listening, 1) == 0
          && getsockname(listening, address, &length) == 0 && connect(client, address, length) == 0
      }
    }
    let accepted = accept(listening, nil, nil)
    return isConnected && accepted >= 0 ? (client, accepted) : nil
  }
}
