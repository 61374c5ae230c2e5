import Dispatch
import VestaConcurrency

/// Finds out on which executor a caller continues after an asynchronous call: it must be the one it called from.
///
/// With the current compiler a `nonisolated(nonsending) async throws` function that ends in `try await` of an
/// actor-isolated call does not return to its caller's executor on the error path. Run each such call through the
/// probe, once where it succeeds and once where it throws:
///
/// ```swift
/// #expect(await ExecutorProbe.violations { try await auth.signIn(withEmail: email, password: "wrong") } == [])
/// ```
public enum ExecutorProbe {
  /// The observation of one caller.
  public struct Report: Sendable, Hashable, CustomStringConvertible {
    /// The caller, such as "the main actor".
    public let caller: String
    /// Whether the operation threw.
    public let hasThrown: Bool
    /// Whether the caller went on on its own executor.
    public let isKept: Bool

    /// One line.
    public var description: String {
      "\(caller) \(isKept ? "kept" : "lost") its executor after \(hasThrown ? "an error" : "a success")"
    }
  }

  /// Calls from the main actor and from another actor.
  ///
  /// - Parameter operation: The call.
  /// - Returns: A sentence for each caller that lost its executor.
  public static func violations<Value>(
    _ operation: @escaping @Sendable () async throws -> Value
  ) async -> [String] {
    let reports = [await fromMainActor(operation), await fromActor(operation)]
    return reports.filter { !$0.isKept }.map(\.description)
  }

  /// Calls from the main actor.
  @MainActor
  public static func fromMainActor<Value>(_ operation: @Sendable () async throws -> Value) async -> Report {
    _ = mainKey
    do {
      _ = try await operation()
      return Report(caller: "the main actor", hasThrown: false, isKept: isOnMainQueue())
    } catch {
      return Report(caller: "the main actor", hasThrown: true, isKept: isOnMainQueue())
    }
  }

  /// Calls from an actor with a separate queue.
  public static func fromActor<Value>(_ operation: @Sendable () async throws -> Value) async -> Report {
    await ProbeActor().report(operation)
  }

  // The main actor runs on the main queue, which is not always drained by the main thread.
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private static func isOnMainQueue() -> Bool { DispatchQueue.getSpecific(key: mainKey) == true }
}

private actor ProbeActor {
  private let queue = WorkQueue(label: "vesta.probe")

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func report<Value>(_ operation: @Sendable () async throws -> Value) async -> ExecutorProbe.Report {
    do {
      _ = try await operation()
      return ExecutorProbe.Report(caller: "an actor", hasThrown: false, isKept: queue.isCurrent)
    } catch {
      return ExecutorProbe.Report(caller: "an actor", hasThrown: true, isKept: queue.isCurrent)
    }
  }
}
