import Dispatch
public import Foundation
import VestaConcurrency
import VestaCore

extension RemoteConfig {
  /// Completion form of ``ensureInitialized()``.
  @preconcurrency
  public func ensureInitialized(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    completeInBackground {
      try await $0.ensureInitialized()
    } then: { _, error in
      completionHandler(error)
    }
  }

  /// Completion form of ``fetch()``.
  @preconcurrency
  public func fetch(completionHandler: (@Sendable (RemoteConfigFetchStatus, (any Error)?) -> Void)? = nil) {
    complete {
      try await $0.fetch()
    } then: { status, error in
      completionHandler?(status ?? Self.status(of: error), error)
    }
  }

  /// Completion form of ``fetch(withExpirationDuration:)``.
  @preconcurrency
  public func fetch(
    withExpirationDuration expirationDuration: TimeInterval,
    completionHandler: (@Sendable (RemoteConfigFetchStatus, (any Error)?) -> Void)? = nil
  ) {
    complete {
      try await $0.fetch(withExpirationDuration: expirationDuration)
    } then: { status, error in
      completionHandler?(status ?? Self.status(of: error), error)
    }
  }

  /// Completion form of ``fetchAndActivate()``.
  @preconcurrency
  public func fetchAndActivate(
    completionHandler: (@Sendable (RemoteConfigFetchAndActivateStatus, (any Error)?) -> Void)? = nil
  ) {
    complete {
      try await $0.fetchAndActivate()
    } then: { status, error in
      completionHandler?(status ?? .error, error)
    }
  }

  /// Completion form of ``activate()``; the handler is called on a background queue.
  @preconcurrency
  public func activate(completion: (@Sendable (Bool, (any Error)?) -> Void)? = nil) {
    completeInBackground {
      try await $0.activate()
    } then: { hasChanged, error in
      completion?(hasChanged ?? false, error)
    }
  }

  /// Completion form of ``setCustomSignals(_:)``.
  @preconcurrency
  public func setCustomSignals(
    _ customSignals: [String: CustomSignalValue?], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    complete {
      try await $0.setCustomSignals(customSignals)
    } then: { _, error in
      completionHandler?(error)
    }
  }

  private static func status(of error: (any Error)?) -> RemoteConfigFetchStatus {
    (error as? RemoteConfigError)?.code == .throttled ? .throttled : .failure
  }

  private func complete<Value: Sendable>(
    _ operation: @escaping @Sendable (RemoteConfig) async throws -> Value,
    then completion: @escaping @Sendable (Value?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await operation(self) }
  }

  /// Calls the handler on a thread where it may block.
  private func completeInBackground<Value: Sendable>(
    _ operation: @escaping @Sendable (RemoteConfig) async throws -> Value,
    then completion: @escaping @Sendable (Value?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: .global()) { (value: Value?, error: (any Error)?) in
      BlockingPool.shared.async { completion(value, error) }
    } _: {
      try await operation(self)
    }
  }
}
