import Foundation
import Testing
import VestaBytes
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaFunctions
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsEndpoints
import VestaFunctionsRemote
import VestaFunctionsService
import VestaServiceInterop
import VestaTesting
import VestaTransport
import VestaTransportInterop

/// The functions of an app on sockets.
private final class FunctionsServer: Sendable {
  let app: VestaApp
  let beginnings = Log<String>()
  let cancellations = Log<String>()
  /// The numbers with which the function `tally` was called.
  let tallied = Log<Int>()
  let port: Int
  private let server: VestaTransportServer
  private let listener: any HTTPListener

  init() async throws {
    app = try VestaApp.configure(
      name: "functions-\(UUID().uuidString)", options: VestaOptions(projectID: "demo"),
      libraries: [FunctionsServiceLibrary.self])
    server = try VestaTransportServer(loops: 1)
    let handler = FunctionsEndpoints().handler(in: OneAppHost(app: app))
    listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: handler)
    port = listener.address.port ?? 0
    try register()
  }

  func stop() async {
    await listener.shutDown(within: .zero)
    await server.stop()
    await app.delete()
  }

  private func register() throws {
    struct Crash: Error {}
    let (beginnings, cancellations, tallied) = (beginnings, cancellations, tallied)
    let registry = try FunctionRegistry.registry(for: app)
    registry.onCall("echo") { $0.rawData }
    registry.onCall("tally") { (number: Int, _) in
      tallied.add(number)
      return number
    }
    registry.onCall("fail") { _ in throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"]) }
    registry.onCall("crash") { _ in throw Crash() }
    registry.onCall("wait") { _ in
      beginnings.add("wait")
      do {
        try await Gate().pass()
      } catch {
        cancellations.add("wait")
        throw error
      }
      return nil
    }
    registry.onStreamingCall("count") { request, stream in
      for number in 1...(request.rawData.integer ?? 1) { try await stream.send(Int32(number)) }
      return "done"
    }
    registry.onStreamingCall("countAndFail") { _, stream in
      try await stream.send(Int32(1))
      try await stream.send(Int32(2))
      throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"])
    }
    registry.onStreamingCall("typed") { (limit: Int, _, stream: CallableStream<Int>) in
      for number in 1...limit { try await stream.send(number) }
      return "done"
    }
    registry.onRequest("mirror") { HTTPResponse(201, body: $0.body) }
  }
}

/// A server that has one app for every project.
private struct OneAppHost: EndpointHost {
  let app: VestaApp
  var clock: ServiceClock { .system }
  var defaultProject: String { "demo" }
  var isDevelopment: Bool { true }

  func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
    guard let backend = try? app.container.find(type) else {
      throw ServiceStatus(.unimplemented, "There is no \(type).")
    }
    return backend
  }

  func onShutDown(_ work: @escaping @Sendable () -> Void) {}
}

/// Functions over sockets: their contract, the client, and bodies that travel both ways.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FunctionsWireTests {
  /// The contract of URLs names a host that is not of this machine.
  private static let contracts = FunctionsContracts.all.filter { !$0.name.contains("URL") }

  @Test(arguments: contracts)
  func `the contract is kept over sockets`(contract: Contract<FunctionsSubject>) async throws {
    let server = try await FunctionsServer()
    let client = try VestaTransportClient()
    let remote = FunctionsRemote(
      project: "demo", on: try RESTService(client, at: "http://127.0.0.1:\(server.port)"))
    try await contract.verify(
      FunctionsSubject(
        backend: remote, beginnings: server.beginnings, cancellations: server.cancellations,
        patience: .seconds(120)))
    await client.close()
    await server.stop()
  }

  @Test func `the client calls and streams through the remote library, which the backend chooses`() async throws {
    let server = try await FunctionsServer()
    let app = try VestaApp.configure(
      name: "client-\(UUID().uuidString)",
      options: VestaOptions(projectID: "demo", backend: .emulator(host: "127.0.0.1", port: server.port)),
      libraries: [
        FunctionsLibrary.self, FunctionsServiceLibrary.self, FunctionsRemoteLibrary.self, TransportLibrary.self,
      ])
    let functions = Functions.functions(app: app)
    let echo: Callable<[Int], [Int]> = functions.httpsCallable("echo")
    #expect(try await echo([1, 2]) == [1, 2])
    let count: Callable<Int, StreamResponse<Int, String>> = functions.httpsCallable("typed")
    var texts: [String] = []
    for try await response in try count.stream(3) {
      switch response {
      case .message(let number): texts.append("\(number)")
      case .result(let text): texts.append(text)
      }
    }
    #expect(texts == ["1", "2", "3", "done"])
    await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("nobody").call() }
    await app.delete()
    await server.stop()
  }

  @Test func `through cuts and delays a function runs at most once for each call, and once for each that succeeds`()
    async throws
  {
    let server = try await FunctionsServer()
    let network = try FaultyNetwork(to: server.port)
    let app = try VestaApp.configure(
      name: "client-\(UUID().uuidString)",
      options: VestaOptions(projectID: "demo", backend: .emulator(host: "127.0.0.1", port: network.port)),
      libraries: [FunctionsLibrary.self, FunctionsRemoteLibrary.self, TransportLibrary.self])
    let tally: Callable<Int, Int> = Functions.functions(app: app).httpsCallable("tally")
    let storm = Task {
      for number in 0..<25 {
        network.set(number % 3 == 0 ? .slow(5) : .fine)
        // Each cut ends eight calls at most, so enough of the 480 are left.
        await server.tallied.wait { $0.count >= 8 * (number + 1) }
        network.cut()
      }
      network.set(.fine)
    }
    let succeeded = await withTaskGroup(of: [Int].self) { group in
      for lane in 0..<8 {
        group.addTask {
          var succeeded: [Int] = []
          for number in 0..<60 where (try? await tally(lane * 1_000 + number)) != nil {
            succeeded.append(lane * 1_000 + number)
          }
          return succeeded
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    await storm.value
    let runs = server.tallied.entries
    let doubled = Dictionary(grouping: runs) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    #expect(doubled == [])
    #expect(Set(succeeded).subtracting(runs) == [])
    #expect(succeeded.count > 240)
    print("\(succeeded.count) of 480 calls have succeeded, \(runs.count) have run")
    await app.delete()
    network.close()
    await server.stop()
  }

  @Test func `a body of many pieces is returned while it is sent`() async throws {
    let server = try await FunctionsServer()
    let client = try VestaTransportClient()
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/demo/us-central1/mirror"))
    let body = ByteStream()
    let writing = Task {
      for _ in 0..<64 { try await body.write([UInt8](repeating: 7, count: 65_536)) }
      body.finish()
    }
    let answer = try await client.send(HTTPRequest(.put, url, body: .stream(body)), timeout: nil)
    let received = try await answer.body.collect(upTo: 8 << 20)
    #expect(answer.status.code == 201 && received.count == 64 * 65_536)
    try await writing.value
    await client.close()
    await server.stop()
  }
}
