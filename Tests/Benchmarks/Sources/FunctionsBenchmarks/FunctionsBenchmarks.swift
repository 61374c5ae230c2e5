public import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaFunctions
import VestaFunctionsService

/// The cost of a callable function, compared with the closure that it runs.
public func functionsBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "functions: call in the process", bar: .figure(atMost: 10_000),
      ours: (
        "HTTPSCallable",
        {
          let callable = FunctionsBench.shared.functions.httpsCallable("echo")
          return await measure(20_000) { count in
            for _ in 0..<count { keep(try? await callable.call("text").data as? String) }
          }
        }
      ),
      other: ("the closure", { await direct() })
    ),
    Benchmark(
      name: "functions: typed call in the process", bar: .figure(atMost: 10_000),
      ours: (
        "Callable",
        {
          let add: Callable<[Int], Int> = FunctionsBench.shared.functions.httpsCallable("add")
          return await measure(10_000) { count in
            for number in 0..<count { keep(try? await add([number, 2])) }
          }
        }
      ),
      other: ("the closure", { await direct() })
    ),
    Benchmark(
      name: "functions: message of a stream", bar: .none,
      ours: (
        "Callable.stream",
        {
          let count: Callable<Int, Int> = FunctionsBench.shared.functions.httpsCallable("count")
          return await measure(20_000) { limit in
            guard let stream = try? count.stream(limit) else { return }
            do { for try await number in stream { keep(number) } } catch { preconditionFailure("\(error)") }
          }
        }
      ),
      other: ("the closure", { await direct() })
    ),
  ]
}

private func direct() async -> Double {
  let closure = FunctionsBench.echo
  return await measure(1_000_000) { count in for _ in 0..<count { keep(try? await closure("text")) } }
}

/// An app with three functions.
private final class FunctionsBench: Sendable {
  static let shared = FunctionsBench()
  static let echo: @Sendable (String) async throws -> String = { $0 }
  let functions: Functions

  private init() {
    do {
      let options = VestaOptions(projectID: "bench", backend: .embedded())
      let app = try VestaApp.configure(
        name: "functions-bench", options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
      functions = Functions.functions(app: app)
      let registry = try FunctionRegistry.registry(for: app)
      registry.onCall("echo") { try await Self.echo($0.data as? String ?? "") }
      registry.onCall("add") { (numbers: [Int], _) in numbers.reduce(0, +) }
      registry.onStreamingCall("count") { (limit: Int, _, stream: CallableStream<Int>) in
        for number in 0..<limit { try await stream.send(number) }
        return 0
      }
    } catch {
      preconditionFailure("the benchmark's own app could not be made: \(error)")
    }
  }
}
