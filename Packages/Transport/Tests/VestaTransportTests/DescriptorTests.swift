import Dispatch
import Glibc
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// A process that has no descriptors left; each test has a separate one.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DescriptorTests {
  /// Files that hold all descriptors but the ones that were given back.
  private final class Ballast {
    private var held: [Int32] = []

    /// Makes 64 descriptors more than there are the limit, so that they are used up soon.
    init() async {
      // Dispatch takes a descriptor with the first timer of each clock, and ends the process if there is none.
      try? await Task.sleep(for: .milliseconds(1))
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
      }
      let first = open("/dev/null", O_RDONLY)
      held.append(first)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(limit.rlim_max, rlim_t(first) + 64)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Takes all that are left.
    ///
    /// - Returns: How many these were.
    @discardableResult
    func fill() -> Int {
      let before = held.count
      while true {
        let next = dup(held[0])
        guard next >= 0 else { return held.count - before }
        held.append(next)
      }
    }

    func release(_ count: Int) { for _ in 0..<count { close(held.removeLast()) } }
  }

  private static let get = "GET /served HTTP/1.1\r\nhost: h\r\n\r\n"

  private static func isServed(_ peer: RawPeer) -> Bool {
    peer.send(get)
    return peer.receive(until: "\r\n\r\n/served").contains("200 OK")
  }

  /// Throws unless it is so: in the process of an exit test an error is the failure.
  private static func check(_ isSo: Bool, _ what: String) throws {
    guard isSo else {
      let line = "DescriptorTests: not so: \(what)\n"
      _ = write(STDERR_FILENO, line, line.utf8.count)
      throw TransportError(.invalidArgument, what)
    }
  }

  @Test func `a listener without descriptors refuses, keeps its place and its connections, and recovers`() async {
    await #expect(processExitsWith: .success) {
      try await TestServer.run {
        $0.acceptPause = .milliseconds(5)
      } _: { server in
        let ballast = await Ballast()
        let early = try server.peer()
        try Self.check(Self.isServed(early), "an early connection is served")
        for round in 0..<20 {
          ballast.fill()
          // One for the client; none is left for the server, which says so by the end of the connection.
          ballast.release(1)
          let refused = try server.peer()
          refused.send(Self.get)
          try Self.check(refused.receive()?.isEmpty ?? true, "round \(round): a connection without a descriptor ends")
          try Self.check(Self.isServed(early), "round \(round): the early connection is served on")
          refused.close()
          ballast.release(4)
          let late = try server.peer()
          try Self.check(Self.isServed(late), "round \(round): a later connection is served")
          late.close()
          // Connections that the server has closed count for the next round.
          await server.waitForConnections(1)
        }
        ballast.release(8)
        early.close()
        await server.waitForConnections(0)
      }
    }
  }

  @Test func `a request that finds no descriptor fails with a typed error, was not sent, and succeeds later`() async {
    await #expect(processExitsWith: .success) {
      try await Self.requestWithoutDescriptors(host: "127.0.0.1", version: .http1_1)
    }
    await #expect(processExitsWith: .success) {
      try await Self.requestWithoutDescriptors(host: "127.0.0.1", version: .http2)
    }
  }

  @Test func `a name that cannot be looked up for want of descriptors is not taken for one that does not exist`() async
  {
    await #expect(processExitsWith: .success) {
      try await Self.requestWithoutDescriptors(host: "localhost", version: .http1_1)
    }
    await #expect(processExitsWith: .success) {
      try await Self.requestWithoutDescriptors(host: "localhost", version: .http2)
    }
  }

  /// One request for each process: a client gives the descriptors of its loops back some time after its end, and the
  /// next request would find them.
  private static func requestWithoutDescriptors(host: String, version: TransportPeer.Version) async throws {
    try await TestServer.run { server in
      let ballast = await Ballast()
      let client = try VestaTransportClient()
      ballast.fill()
      var request = HTTPRequest(.get, "/later", authority: "\(host):\(server.listener.address.port ?? 0)")
      request.version = version
      do {
        _ = try await client.send(request, timeout: .seconds(30))
        try check(false, "a request without a descriptor fails")
      } catch {
        let failure = error as? TransportError
        try check(failure?.code == .exhausted && failure?.mayHaveBeenProcessed == false, "\(error)")
      }
      ballast.release(30)
      let response = try await client.send(request, timeout: .seconds(30))
      try check(try await response.body.collect(upTo: 100) == Array("/later".utf8), "\(response.status)")
      await client.close()
    }
  }

  @Test func `a server that finds no descriptor is not made, and leaves none behind`() async {
    await #expect(processExitsWith: .success) {
      let ballast = await Ballast()
      for left in 0..<4 {
        ballast.fill()
        ballast.release(left)
        // Each loop takes two.
        do {
          _ = try VestaTransportServer(loops: 2)
          throw CancellationError()
        } catch let error as TransportError {
          try Self.check(error.code == .exhausted, "\(error)")
        }
        var regained = 0
        while regained < left {
          regained += ballast.fill()
          await Task.yield()
        }
      }
    }
  }
}
