import Foundation
import VestaConcurrency
import VestaCore
import VestaFunctions
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsService

/// Calls of functions that call others, refuse, hang, block and stream, each of which runs as often as it is called.
extension FunctionsHistory {
  func registerCalls(_ registry: FunctionRegistry, _ app: VestaApp) {
    registry.onCall("deep") { [self, weak app] (depth: Int, _) async throws -> Int in
      try await counted("deep") {
        guard depth > 0, let app else { return 0 }
        let inner: Callable<Int, Int> = Functions.functions(app: app).httpsCallable("deep")
        return try await inner(depth - 1) + 1
      }
    }
    registry.onCall("refuse") { [self] (text: String, _) async throws -> Int in
      try await counted("refuse") { throw HTTPSError(.alreadyExists, text, details: ["why": text]) }
    }
    registry.onCall("hang") { [self] (_: Int, _) async throws -> Int in
      try await counted {
        try await Gate().pass()
        return 0
      }
    }
    registry.onCall("block") { [self] (number: Int, _) async throws -> Int in
      try await counted("block") {
        block()
        return number
      }
    }
    registry.onStreamingCall("count") { [self] (limit: Int, _, stream: CallableStream<Int>) async throws -> String in
      try await counted {
        for number in 0..<limit { try await stream.send(number) }
        return "done"
      }
    }
  }

  private func counted<Value>(_ name: String? = nil, _ body: () async throws -> Value) async throws -> Value {
    if let name { surplus.withLock { $0[name, default: 0] += 1 } }
    running.withLock { $0 += 1 }
    defer { running.withLock { $0 -= 1 } }
    return try await body()
  }

  func call(_ app: VestaApp, _ random: inout SplitMix) async {
    let functions = Functions.functions(app: app), number = random.below(5)
    switch random.below(6) {
    case 0:
      let deep: Callable<Int, Int> = functions.httpsCallable("deep")
      surplus.withLock { $0["deep", default: 0] -= number + 1 }
      await expect("deep \(number)") { try await deep(number) == number }
    case 1:
      let block: Callable<Int, Int> = functions.httpsCallable("block")
      surplus.withLock { $0["block", default: 0] -= 1 }
      await expect("block") { try await block(number) == number }
    case 2:
      let refuse: Callable<String, Int> = functions.httpsCallable("refuse")
      surplus.withLock { $0["refuse", default: 0] -= 1 }
      await expect("refuse") {
        do {
          _ = try await refuse("no \(number)")
          return false
        } catch let error as FunctionsError {
          return error.code == .alreadyExists && error.localizedDescription == "no \(number)"
        }
      }
    case 3:
      let hang: Callable<Int, Int> = functions.httpsCallable("hang")
      let task = Task { try await hang(0) }
      for _ in 0..<random.below(200) { await Task.yield() }
      task.cancel()
      await expect("a cancelled call") {
        if case .success = await task.result { return false }
        return true
      }
    case 4:
      var hang: Callable<Int, Int> = functions.httpsCallable("hang")
      hang.timeoutInterval = 0.05
      let call = hang
      await expect("a call with a time limit") {
        do {
          _ = try await call(0)
          return false
        } catch let error as FunctionsError {
          return error.code == .deadlineExceeded
        }
      }
    default: await stream(functions, &random)
    }
  }

  private func stream(_ functions: Functions, _ random: inout SplitMix) async {
    let limit = random.below(40), most = random.oneIn(2) ? random.below(10) : Int.max
    let count: Callable<Int, StreamResponse<Int, String>> = functions.httpsCallable("count")
    await expect("a stream of \(limit)") {
      var seen = 0
      for try await response in try count.stream(limit) {
        switch response {
        case .message(let number):
          guard number == seen else { return false }
          seen += 1
        case .result(let text): return text == "done" && seen == limit
        }
        if seen > most { return true }
      }
      return false
    }
  }

  private func expect(_ text: String, _ body: () async throws -> Bool) async {
    do {
      if try await !body() { model.withLock { $0.broken("\(text) has another answer") } }
    } catch {
      model.withLock { $0.broken("\(text) fails: \(error)") }
    }
  }
}
