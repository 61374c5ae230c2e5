import Foundation
import Testing
import VestaBytes
import VestaCore
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsService
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop

@Suite struct FunctionsImplementations {
  static let all: [Implementation<FunctionsSubject>] = [
    Implementation("the engine of an app") { try engine() }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<FunctionsSubject>) async {
    await implementation.keeps(FunctionsContracts.all)
  }

  @Test(arguments: HTTPFunctionsContracts.all)
  func `functions of the engine of an app that answer requests keep`(
    contract: Contract<HTTPFunctionsSubject>
  ) async throws {
    let app = try Self.app()
    let registry = try app.container.require(FunctionRegistry.self)
    let (beginnings, cancellations) = (Log<String>(), Log<String>())
    registry.onCall("echo") { $0.rawData }
    registry.onRequest("mirror") { request in
      HTTPResponse(201, fields: ["x-mirror": "\(request.method) \(request.target)"], body: request.body)
    }
    registry.onRequest("crash") { _ in throw Crash() }
    registry.onRequest("wait") { _ in
      beginnings.add("wait")
      defer { if Task.isCancelled { cancellations.add("wait") } }
      try await Gate().pass()
      return HTTPResponse()
    }
    registry.onRequest("pieces") { _ in
      let stream = ByteStream(limit: 1)
      Task {
        for piece in ["one", "two"] { try await stream.write(Array(piece.utf8)) }
        stream.finish()
      }
      return HTTPResponse(body: .stream(stream))
    }
    let backend = try app.container.require((any HTTPFunctionsBackend).self)
    try await contract.verify(
      HTTPFunctionsSubject(backend: backend, beginnings: beginnings, cancellations: cancellations))
    await app.delete()
  }

  private struct Crash: Error {}

  /// Functions need no store as long as none has a schedule.
  private static func app() throws -> VestaApp {
    let name = "functions-\(UUID().uuidString)"
    return try VestaApp.configure(
      name: name, options: VestaOptions(projectID: name), libraries: [FunctionsServiceLibrary.self])
  }

  private static func engine() throws -> FunctionsSubject {
    let app = try app()
    let registry = try app.container.require(FunctionRegistry.self)
    let (beginnings, cancellations) = (Log<String>(), Log<String>())
    registry.onCall("echo") { $0.rawData }
    registry.onCall("fail") { _ in throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"]) }
    registry.onCall("crash") { _ in throw Crash() }
    registry.onCall("wait") { _ in
      beginnings.add("wait")
      defer { if Task.isCancelled { cancellations.add("wait") } }
      try await Gate().pass()
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
    return FunctionsSubject(
      backend: try app.container.require((any FunctionsBackend).self), beginnings: beginnings,
      cancellations: cancellations)
  }
}
