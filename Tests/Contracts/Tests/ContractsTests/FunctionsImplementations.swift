import Foundation
import Testing
import VestaBytes
import VestaCore
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsService
import VestaServiceInterop
import VestaTesting

@Suite struct FunctionsImplementations {
  static let all: [Implementation<FunctionsSubject>] = [
    Implementation("the engine of an app") { try engine() }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<FunctionsSubject>) async {
    await implementation.keeps(FunctionsContracts.all)
  }

  private struct Crash: Error {}

  /// Functions need no store as long as none has a schedule.
  private static func engine() throws -> FunctionsSubject {
    let app = try VestaApp.configure(
      name: "functions-\(UUID().uuidString)", options: VestaOptions(projectID: "functions-\(UUID().uuidString)"),
      libraries: [FunctionsServiceLibrary.self])
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
