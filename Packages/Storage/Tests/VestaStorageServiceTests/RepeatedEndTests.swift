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
  private struct UploadInParts: Sendable {
    typealias Answer = (status: Int, fields: HTTPFields, body: [UInt8])
    /// Sends its only part.
    let put: @Sendable () async throws -> Answer
    /// Ends it.
    let end: @Sendable () async throws -> Answer
  }

  /// Starts an upload in parts, and sends its only part.
  private func uploadInParts() async throws -> UploadInParts {
    let target = "/demo.appspot.com/a"
    let started = try await server.send(.post, "\(target)?uploads")
    let id = String(decoding: started.body, as: UTF8.self).split(separator: "UploadId>").dropFirst().first?
      .prefix { $0 != "<" }
    let query = "uploadId=\(try #require(id))"
    let put: @Sendable () async throws -> UploadInParts.Answer = { [server, bytes] in
      try await server.send(.put, "\(target)?partNumber=1&\(query)", [:], bytes)
    }
    let tag = try #require(try await put().fields["etag"])
    let part = "<Part><PartNumber>1</PartNumber><ETag>\(tag)</ETag></Part>"
    let list = "<CompleteMultipartUpload>\(part)</CompleteMultipartUpload>"
    return UploadInParts(put: put) { [server] in
      try await server.send(.post, "\(target)?\(query)", [:], Array(list.utf8))
    }
  }

  @Test(arguments: [HookedStorageBackend.Call.open, .read, .append, .finalize])
  func `the end of parts that is overtaken by its repetition gets the object`(
    _ held: HookedStorageBackend.Call
  ) async throws {
    let (arrived, goOn) = (Gate(), Gate())
    let isFirst = Locked(true)
    try await serve { call in
      guard call == held, isFirst.withLock({ $0.take() }) else { return }
      arrived.open()
      await goOn.wait()
    }
    let upload = try await uploadInParts()
    async let first = upload.end()
    await arrived.wait()
    // It removes the parts that the first request is about to read.
    let second = try await upload.end()
    goOn.open()
    let overtaken = try await first
    #expect(second.status == 200 && overtaken.status == 200, "\(String(decoding: overtaken.body, as: UTF8.self))")
    #expect(overtaken.body == second.body)
  }

  @Test func `the end of parts gets the object of its repetition also where a part was sent again`() async throws {
    let (arrived, goOn) = (Gate(), Gate())
    let isFirst = Locked(true)
    try await serve { call in
      // Parts of the ended upload stay: the first request finds another generation of the one that it has listed.
      if call == .delete { throw StorageServiceError(.unavailable, "The disk is away.") }
      guard call == .open, isFirst.withLock({ $0.take() }) else { return }
      arrived.open()
      await goOn.wait()
    }
    let upload = try await uploadInParts()
    async let first = upload.end()
    await arrived.wait()
    #expect(try await upload.put().status == 200)
    let second = try await upload.end()
    goOn.open()
    let overtaken = try await first
    #expect(second.status == 200 && overtaken.status == 200, "\(String(decoding: overtaken.body, as: UTF8.self))")
    #expect(overtaken.body == second.body)
  }
}

extension Bool {
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
