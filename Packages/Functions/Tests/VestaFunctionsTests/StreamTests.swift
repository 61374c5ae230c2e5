import Foundation
import Testing
import VestaCore
import VestaFunctionsService
import VestaTesting

@testable import VestaFunctions

/// The streams of callables: when the function begins, what they yield, and that it is cancelled, however they end.
@Suite struct StreamTests {
  private let functions: Functions
  private let begun = Log<Int>()
  private let ended = Log<Bool>()

  init() throws {
    let options = VestaOptions(googleAppID: "1:1:ios:1", gcmSenderID: "1")
    options.projectID = "project-\(UUID().uuidString)"
    options.backend = .embedded(directory: URL(fileURLWithPath: NSTemporaryDirectory()))
    let app = try VestaApp.configure(
      name: "s\(UUID().uuidString.prefix(8))", options: options,
      libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
    functions = Functions.functions(app: app)
    let (begun, ended) = (begun, ended)
    // Sends a given count of numbers, or without end; notes whether it was cancelled.
    try FunctionRegistry.registry(for: app).onStreamingCall("count") {
      (limit: Int, _, stream: CallableStream<Int>) -> String in
      begun.add(limit)
      defer { ended.add(Task.isCancelled) }
      var number = 0
      while number != limit {
        number += 1
        try await stream.send(number)
      }
      guard limit != 7 else { throw HTTPSError(.dataLoss, "seven") }
      return "done"
    }
  }

  private var count: Callable<Int, StreamResponse<Int, String>> { functions.httpsCallable("count") }

  @Test func `the function begins with the first read, its messages arrive in order, and then the result`() async throws
  {
    let stream = try count.stream(100)
    var iterator = stream.makeAsyncIterator()
    #expect(begun.entries.isEmpty)
    var numbers: [Int] = []
    var results: [String] = []
    while let response = try await iterator.next() {
      #expect(begun.entries.count == 1)
      switch response {
      case .message(let number): numbers.append(number)
      case .result(let text): results.append(text)
      }
    }
    #expect(numbers == Array(1...100))
    #expect(results == ["done"])
    let after = try await iterator.next()
    #expect(after == nil)
    await ended.wait(for: 1)
    #expect(begun.entries == [100])
  }

  @Test func `the failure of the function is thrown after its messages, once`() async throws {
    var iterator = try count.stream(7).makeAsyncIterator()
    for number in 1...7 {
      let response = try await iterator.next()
      if case .message(number) = response { continue }
      Issue.record("\(String(describing: response)) is not message \(number)")
    }
    do {
      _ = try await iterator.next()
      Issue.record("no failure")
    } catch let error as FunctionsError {
      #expect(error.code == .dataLoss)
    }
    let after = try await iterator.next()
    #expect(after == nil)
  }

  @Test func `a streamed value of another type is an error of Functions with the decoder's error beneath`() async throws
  {
    let wrong: [Callable<Int, StreamResponse<[String: Int], String>>] = [functions.httpsCallable("count")]
    let plain: Callable<Int, [String]> = functions.httpsCallable("count")
    let result: Callable<Int, StreamResponse<Int, [Int]>> = functions.httpsCallable("count")
    var errors: [(any Error)?] = []
    func read<Response: Sendable>(_ stream: AsyncThrowingStream<Response, any Error>) async {
      do {
        for try await _ in stream {}
        errors.append(nil)
      } catch {
        errors.append(error)
      }
    }
    for callable in wrong { await read(try callable.stream(1)) }
    await read(try plain.stream(1))
    await read(try result.stream(1))
    for error in errors {
      let error = try #require(error as? FunctionsError)
      #expect(error.code == .dataLoss)
      #expect(error.errorUserInfo[NSUnderlyingErrorKey] is DecodingError)
    }
    let unencodable: Callable<Double, StreamResponse<Int, String>> = functions.httpsCallable("count")
    let refused = #expect(throws: FunctionsError.self) { try unencodable.stream(.nan) }
    #expect(refused?.code == .invalidArgument)
    #expect(refused?.errorUserInfo[NSUnderlyingErrorKey] != nil)
  }

  @Test func `leaving the loop cancels the function`() async throws {
    for try await _ in try count.stream(-1) { break }
    #expect(await ended.wait(for: 1) == [true])
  }

  @Test func `dropping the iterator cancels the function`() async throws {
    do {
      var iterator = try count.stream(-1).makeAsyncIterator()
      _ = try await iterator.next()
    }
    #expect(await ended.wait(for: 1) == [true])
  }

  @Test func `cancelling the reader's task cancels the function and ends the stream`() async throws {
    let first = Gate()
    let reader = Task { [count] in
      for try await _ in try count.stream(-1) {
        first.open()
        while !Task.isCancelled { await Task.yield() }
      }
    }
    await first.wait()
    reader.cancel()
    // Streams of the standard library end without an error then.
    _ = try? await reader.value
    #expect(await ended.wait(for: 1) == [true])
  }
}
