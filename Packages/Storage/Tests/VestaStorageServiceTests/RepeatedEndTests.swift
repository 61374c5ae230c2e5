import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaStorageEndpoints
import VestaTesting
import VestaTransportInterop

@testable import VestaStorageService

/// Uploads whose last request is made twice at once, as by a client whose connection broke during the first one.
@Suite struct RepeatedEndTests {
  private let server: EndpointServer
  private let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }

  init() throws { server = try EndpointServer() }

  /// Listens with an engine; the hook runs before its calls.
  private func serve(
    _ hook: @escaping @Sendable (HookedStorageBackend.Call) async throws -> Void = { _ in }
  ) async throws {
    let engine = server.engine()
    let hooked = HookedStorageBackend(engine) { call, moment in if moment == .before { try await hook(call) } }
    var tuning = StorageEndpointsTuning()
    tuning.chunkLength = 1_000
    try await server.listen(server.host(engine, behind: hooked), tuning)
  }

  private func send(
    _ method: HTTPMethod, _ target: String, _ fields: HTTPFields, _ body: [UInt8]
  ) async throws -> (status: Int, fields: HTTPFields, json: JSONObject) {
    let answer = try await server.send(method, target, fields, body)
    return (answer.status, answer.fields, (try? JSONObject(json: answer.body)) ?? JSONObject())
  }

  private func firebaseUpload() async throws -> @Sendable () async throws -> (status: Int, json: JSONObject) {
    let started = try await send(
      .post, "/v0/b/demo.appspot.com/o?name=a",
      ["x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start"], Array("{}".utf8))
    let url = try #require(HTTPURL(started.fields["x-goog-upload-url"] ?? ""))
    return { [self] in
      let fields: HTTPFields = ["x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"]
      let end = try await send(.post, url.target, fields, bytes)
      return (end.status, end.json)
    }
  }

  private func googleUpload() async throws -> @Sendable () async throws -> (status: Int, json: JSONObject) {
    let started = try await send(
      .post, "/upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=a", [:], Array("{}".utf8))
    let url = try #require(HTTPURL(started.fields["location"] ?? ""))
    return { [self] in
      let end = try await send(.put, url.target, ["content-range": "bytes 0-49999/50000"], bytes)
      return (end.status, end.json)
    }
  }

  @Test(arguments: [true, false])
  func `both requests that end an upload at once get its object`(_ isFirebase: Bool) async throws {
    try await serve()
    for round in 0..<10 {
      let end = isFirebase ? try await firebaseUpload() : try await googleUpload()
      async let first = end()
      async let second = end()
      for answer in [try await first, try await second] {
        #expect(answer.status == 200 && answer.json["size"] == "50000", "round \(round): \(answer)")
      }
    }
  }

  @Test(arguments: [true, false])
  func `a request that is overtaken by its repetition gets the object`(_ isFirebase: Bool) async throws {
    let (arrived, goOn) = (Gate(), Gate())
    let isFirst = Locked(true)
    try await serve { call in
      // The first one has seen an upload without content, and is held before it brings some.
      guard call == .append, isFirst.withLock({ $0.take() }) else { return }
      arrived.open()
      await goOn.wait()
    }
    let end = isFirebase ? try await firebaseUpload() : try await googleUpload()
    async let first = end()
    await arrived.wait()
    let second = try await end()
    goOn.open()
    let overtaken = try await first
    #expect(second.status == 200 && overtaken.status == 200, "\(overtaken)")
    #expect(overtaken.json == second.json)
  }
}

extension Bool {
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
