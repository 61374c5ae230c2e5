import Foundation
import Testing
import VestaAppCheckInterop
import VestaAppCheckInteropFakes
import VestaAuthInterop
import VestaAuthInteropFakes
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFunctionsService
import VestaTesting

@testable import VestaFunctions

/// The client on the real engine.
@Suite struct ClientTests {
  let app: VestaApp
  let functions: Functions
  let registry: FunctionRegistry

  init() throws {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "project-\(UUID().uuidString)"
    options.backend = .embedded(directory: URL(fileURLWithPath: NSTemporaryDirectory()))
    app = try VestaApp.configure(
      name: "f\(UUID().uuidString.prefix(8))", options: options,
      libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
    functions = Functions.functions(app: app)
    registry = try FunctionRegistry.registry(for: app)
  }

  @Test func `a call returns the function's value, integers as integers`() async throws {
    registry.onCall("describe") { request in
      let data = request.data as? [String: Any]
      return ["name": data?["name"] as? String ?? "", "count": (data?["count"] as? Int ?? 0) + 1, "list": [1.5, true]]
    }
    let result = try await functions.httpsCallable("describe").call(["name": "ü", "count": Int.max - 1])
    let data = try #require(result.data as? [String: Any])
    #expect(data["name"] as? String == "ü")
    #expect(data["count"] as? Int == .max)
    #expect((data["list"] as? [Any])?.count == 2)
  }

  @Test func `numbers of a result, an argument and an error's details cast to every type that can hold them`()
    async throws
  {
    let casts = Log<Bool>()
    registry.onCall("num") { request in
      let data = request.data as? [String: Any]
      casts.add(data?["n"] as? Double == 3 && data?["n"] as? Int32 == 3 && data?["b"] as? Bool == true)
      return ["sum": 5, "half": 2.0, "list": [1, 2], "big": UInt64.max, "yes": true] as [String: Any]
    }
    registry.onCall("fail") { _ in throw HTTPSError(.dataLoss, "lost", details: ["n": 7]) }
    let result = try await functions.httpsCallable("num").call(["n": 3, "b": true] as [String: Any])
    let data = try #require(result.data as? [String: Any])
    #expect(casts.entries == [true])
    #expect(data["sum"] as? Double == 5 && data["sum"] as? Int32 == 5 && data["sum"] as? Int == 5)
    #expect(data["half"] as? Int == 2 && data["half"] as? Double == 2)
    #expect(data["list"] as? [Double] == [1, 2])
    #expect(data["big"] as? UInt64 == .max)
    #expect(data["yes"] as? Bool == true)
    let error = await #expect(throws: FunctionsError.self) { try await self.functions.httpsCallable("fail").call() }
    #expect((error?.details as? [String: Any])?["n"] as? Double == 7)
    // The data is returned unchanged.
    registry.onCall("echo") { $0.data }
    let echo: Callable<[String: Int], [String: Int]> = functions.httpsCallable("echo")
    #expect(try await echo(["a": 1, "b": .max]) == ["a": 1, "b": .max])
  }

  @Test func `every call keeps its caller's executor, on success and on failure`() async {
    registry.onCall("ping") { _ in 1 }
    let functions = functions
    let calls: [@Sendable (String) async throws -> Void] = [
      { _ = try await functions.httpsCallable($0).call() },
      { name in
        let typed: Callable<Int?, Int> = functions.httpsCallable(name)
        _ = try await typed.call(nil)
      },
      { name in
        let typed: Callable<Int?, Int> = functions.httpsCallable(name)
        _ = try await typed(nil)
      },
      { name in
        let typed: Callable<Int?, StreamResponse<Int, Int>> = functions.httpsCallable(name)
        for try await _ in try typed.stream(nil) {}
      },
    ]
    for (index, call) in calls.enumerated() {
      for (name, fails) in [("ping", false), ("missing", true)] {
        let reports = [
          await ExecutorProbe.fromMainActor { try await call(name) },
          await ExecutorProbe.fromActor { try await call(name) },
        ]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "call \(index): \(report)") }
      }
    }
  }

  @Test func `a typed call encodes and decodes`() async throws {
    struct Point: Codable, Equatable { var x: Int64, tags: [String]? }
    registry.onCall("twice") { (point: Point, _) in Point(x: point.x * 2, tags: point.tags) }
    let twice: Callable<Point, Point> = functions.httpsCallable("twice")
    #expect(try await twice(Point(x: 1 << 60, tags: nil)) == Point(x: 1 << 61, tags: nil))
    #expect(try await twice.call(Point(x: 1, tags: ["a"])) == Point(x: 2, tags: ["a"]))
  }

  @Test func `a failure has upstream's domain, code, message and details`() async throws {
    registry.onCall("fail") { _ in
      throw HTTPSError(.failedPrecondition, "not now", details: ["retry": 5])
    }
    do {
      _ = try await functions.httpsCallable("fail").call()
      Issue.record("nothing was thrown")
    } catch {
      let bridged = error as NSError
      #expect(bridged.domain == FunctionsErrorDomain)
      #expect(bridged.code == FunctionsErrorCode.failedPrecondition.rawValue)
      #expect(bridged.localizedDescription == "not now")
      #expect((bridged.userInfo[FunctionsErrorDetailsKey] as? [String: Any])?["retry"] as? Int == 5)
    }
  }

  @Test func `an unexpected error reveals nothing`() async throws {
    struct Secret: Error {}
    registry.onCall("crash") { _ in throw Secret() }
    let error = await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("crash").call() }
    #expect(error?.code == .internal)
    #expect(error?.message == "INTERNAL")
    #expect(error?.details == nil)
  }

  @Test func `unknown functions and values that cannot travel are clear errors`() async throws {
    let missing = await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("nobody").call() }
    #expect(missing?.code == .notFound)
    let cure = "Register it with FunctionRegistry.registry().onCall(\"nobody\") before it is called"
    #expect(missing?.message.hasPrefix("There is no function \"nobody\" in us-central1. \(cure)") == true)
    registry.onCall("there") { _ in 1 }
    let elsewhere = functions.httpsCallable(try #require(URL(string: "https://host.example/project/region/absent")))
    let absent = await #expect(throws: FunctionsError.self) { try await elsewhere.call() }
    #expect(absent?.message.contains("\"absent\" for https://host.example/project/region/absent") == true)
    #expect(absent?.message.contains("there\"") == false)
    let date = await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("a").call(Date()) }
    #expect(date?.code == .invalidArgument)
  }

  @Test func `the time limit of a callable ends the call`() async throws {
    registry.onCall("wait") { _ in
      try await Gate().pass()
      return nil
    }
    let callable = functions.httpsCallable("wait")
    #expect(callable.timeoutInterval == 70)
    callable.timeoutInterval = 0.01
    let error = await #expect(throws: FunctionsError.self) { try await callable.call() }
    #expect(error?.code == .deadlineExceeded)
  }

  @Test func `cancelling the task reaches the function`() async throws {
    let (begun, told) = (Gate(), Gate())
    registry.onCall("wait") { _ in
      begun.open()
      do { try await Gate().pass() } catch { told.open() }
      return nil
    }
    let callable = functions.httpsCallable("wait")
    let call = Task { try await callable.call() }
    await begun.wait()
    call.cancel()
    let error = await #expect(throws: FunctionsError.self) { try await call.value }
    #expect(error?.code == .cancelled)
    await told.wait()
  }

  @Test func `a stream has messages and the result, or messages alone`() async throws {
    registry.onStreamingCall("count") { (limit: Int, _, stream: CallableStream<Int>) in
      for number in 1...limit { try await stream.send(number) }
      return "done"
    }
    let both: Callable<Int, StreamResponse<Int, String>> = functions.httpsCallable("count")
    var seen: [String] = []
    for try await response in try both.stream(3) {
      switch response {
      case .message(let number): seen.append("\(number)")
      case .result(let text): seen.append(text)
      }
    }
    #expect(seen == ["1", "2", "3", "done"])
    let messages: Callable<Int, Int> = functions.httpsCallable("count")
    var numbers: [Int] = []
    for try await number in try messages.stream(50) { numbers.append(number) }
    #expect(numbers == Array(1...50))
  }

  @Test func `a failing stream throws after its messages, and leaving one cancels the call`() async throws {
    let ended = Gate()
    registry.onStreamingCall("fail") { (_: Int?, _, stream: CallableStream<Int>) -> Int in
      try await stream.send(1)
      throw HTTPSError(.aborted, "enough")
    }
    registry.onStreamingCall("endless") { (_: Int?, _, stream: CallableStream<Int>) -> Int in
      do {
        while true { try await stream.send(1) }
      } catch {
        ended.open()
        throw error
      }
    }
    let fail: Callable<Int?, Int> = functions.httpsCallable("fail")
    var numbers: [Int] = []
    let error = await #expect(throws: FunctionsError.self) {
      for try await number in try fail.stream() { numbers.append(number) }
    }
    #expect(error?.code == .aborted)
    #expect(numbers == [1])
    let endless: Callable<Int?, Int> = functions.httpsCallable("endless")
    for try await _ in try endless.stream() { break }
    await ended.wait()
  }

  @Test func `completion handlers are called on the main actor`() async throws {
    registry.onCall("ping") { _ in "pong" }
    let callable = functions.httpsCallable("ping")
    let text = await withCheckedContinuation { continuation in
      callable.call { result, error in
        MainActor.assertIsolated()
        continuation.resume(returning: error == nil ? result?.data as? String : nil)
      }
    }
    #expect(text == "pong")
    let typed: Callable<String?, String> = functions.httpsCallable("ping")
    let value = await withCheckedContinuation { continuation in
      typed.call(nil) { continuation.resume(returning: try? $0.get()) }
    }
    #expect(value == "pong")
    let again = await withCheckedContinuation { continuation in
      typed(nil) { continuation.resume(returning: try? $0.get()) }
    }
    #expect(again == "pong")
  }

  @Test func `URLs equal upstream's`() {
    let origin = FunctionLocation.Origin(projectID: "p", region: "r")
    #expect(FunctionLocation(name: "f", origin).url == "https://r-p.cloudfunctions.net/f")
    var custom = origin
    custom.customDomain = "https://api.example.com"
    #expect(FunctionLocation(name: "f", custom).url == "https://api.example.com/f")
    var emulator = custom
    emulator.emulatorOrigin = "http://localhost:5001"
    #expect(FunctionLocation(name: "f", emulator).url == "http://localhost:5001/p/r/f")
  }

  @Test func `functions are found by region, URL and custom domain`() async throws {
    var europe = CallableOptions()
    europe.region = "europe-west1"
    registry.onCall("where", options: europe) { _ in "europe" }
    let there = Functions.functions(app: app, region: "europe-west1")
    #expect(try await there.httpsCallable("where").call().data as? String == "europe")
    #expect(Functions.functions(app: app, region: "europe-west1") === there)
    await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("where").call() }
    let url = try #require(URL(string: "https://europe-west1-project.cloudfunctions.net/where"))
    #expect(try await functions.httpsCallable(url).call().data as? String == "europe")
    let domain = Functions.functions(app: app, customDomain: "https://api.example.com")
    #expect(try await domain.httpsCallable("where").call().data as? String == "europe")
  }

  @Test func `a deleted app refuses calls`() async throws {
    registry.onCall("ping") { _ in nil }
    await app.delete()
    let error = await #expect(throws: FunctionsError.self) { try await functions.httpsCallable("ping").call() }
    #expect(error?.code == .unavailable)
  }
}
