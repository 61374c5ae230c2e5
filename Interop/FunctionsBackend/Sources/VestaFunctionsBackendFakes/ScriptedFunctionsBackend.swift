public import VestaBytes
import VestaConcurrency
public import VestaFunctionsBackend
public import VestaServiceInterop

/// A service whose functions are closures of a test, and that notes its calls.
///
/// ```swift
/// let backend = ScriptedFunctionsBackend()
/// backend.set("greet") { data, _ in .string("Hello, \(data.string ?? "")") }
/// ```
///
/// It believes every token and has no time unless the test says otherwise, so a deadline never passes.
public final class ScriptedFunctionsBackend: FunctionsBackend {
  /// The body of a function: gets the data, may send messages on the way, and returns the result.
  public typealias Body =
    @Sendable (_ data: JSONValue, _ send: @escaping @Sendable (JSONValue) -> Void) async throws -> JSONValue

  private struct State {
    var functions: [String: Body] = [:]
    var calls: [FunctionCall] = []
    var contexts: [CallContext] = []
  }

  private let state = Locked(State())
  private let region: String
  private let now: @Sendable () -> Int64
  private let isBelieved: @Sendable (CallContext.Caller) -> Bool

  /// A service without functions.
  ///
  /// - Parameters:
  ///   - region: The region of all functions.
  ///   - now: The time that deadlines are compared with, in the unit of `CallContext.deadline`.
  ///   - isBelieved: Whether a caller's token is valid; a call of any other is `UNAUTHENTICATED`.
  public init(
    region: String = "us-central1", now: @escaping @Sendable () -> Int64 = { 0 },
    isBelieved: @escaping @Sendable (CallContext.Caller) -> Bool = { _ in true }
  ) {
    self.region = region
    self.now = now
    self.isBelieved = isBelieved
  }

  /// The calls so far, including streams.
  public var calls: [FunctionCall] { state.withLock { $0.calls } }

  /// The contexts of the calls so far.
  public var contexts: [CallContext] { state.withLock { $0.contexts } }

  /// Adds a function, or replaces the one of this name.
  public func set(_ name: String, _ body: @escaping Body) { state.withLock { $0.functions[name] = body } }

  /// Runs the function in the calling task; its messages go nowhere.
  public func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    note(call, context)
    return try await run(call, context) { _ in }
  }

  /// Runs the function in a task that ends with the stream.
  public func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error> {
    note(call, context)
    return AsyncThrowingStream { continuation in
      let task = Task {
        do {
          let result = try await self.run(call, context) { continuation.yield(.message($0)) }
          continuation.yield(.result(result))
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func note(_ call: FunctionCall, _ context: CallContext) {
    state.withLock { state in
      state.calls.append(call)
      state.contexts.append(context)
    }
  }

  private func run(
    _ call: FunctionCall, _ context: CallContext, _ send: @escaping @Sendable (JSONValue) -> Void
  ) async throws -> JSONValue {
    if let deadline = context.deadline, deadline < now() { throw FunctionsServiceError(.deadlineExceeded, "late") }
    guard isBelieved(context.caller) else { throw FunctionsServiceError(.unauthenticated, "Unauthenticated") }
    guard let name = name(of: call.target), let body = state.withLock({ $0.functions[name] }) else {
      throw FunctionsServiceError(.notFound, "NOT FOUND")
    }
    do {
      return try await body(call.data, send)
    } catch let failure as FunctionsServiceError {
      throw failure
    } catch is CancellationError {
      throw FunctionsServiceError(.cancelled, "CANCELLED")
    } catch {
      throw FunctionsServiceError(.internal, "INTERNAL")
    }
  }

  private func name(of target: FunctionTarget) -> String? {
    switch target {
    case .name(let name, let region): region == self.region ? name : nil
    case .url(let url): url.split(separator: "/").last.map(String.init)
    }
  }
}
