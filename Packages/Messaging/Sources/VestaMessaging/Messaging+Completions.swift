import Dispatch
import VestaCore

extension Messaging {
  /// Completion form of ``token()``.
  @preconcurrency
  public func token(completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
    complete({ try await $0.token() }, then: completion)
  }

  /// Completion form of ``deleteToken()``.
  @preconcurrency
  public func deleteToken(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete {
      try await $0.deleteToken()
    } then: { _, error in
      completion(error)
    }
  }

  /// Completion form of ``retrieveFCMToken(forSenderID:)``.
  @preconcurrency
  public func retrieveFCMToken(
    forSenderID senderID: String, completion: @escaping @Sendable (String?, (any Error)?) -> Void
  ) {
    complete({ try await $0.retrieveFCMToken(forSenderID: senderID) }, then: completion)
  }

  /// Completion form of ``deleteFCMToken(forSenderID:)``.
  @preconcurrency
  public func deleteFCMToken(forSenderID senderID: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete {
      try await $0.deleteFCMToken(forSenderID: senderID)
    } then: { _, error in
      completion(error)
    }
  }

  /// Completion form of ``deleteData()``.
  @preconcurrency
  public func deleteData(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete {
      try await $0.deleteData()
    } then: { _, error in
      completion(error)
    }
  }

  /// Completion form of ``register()``.
  @preconcurrency
  public func register(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete {
      try await $0.register()
    } then: { _, error in
      completion(error)
    }
  }

  /// Completion form of ``unregister()``.
  @preconcurrency
  public func unregister(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete {
      try await $0.unregister()
    } then: { _, error in
      completion(error)
    }
  }

  /// Completion form of ``subscribe(toTopic:)``.
  @preconcurrency
  public func subscribe(toTopic topic: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete {
      try await $0.subscribe(toTopic: topic)
    } then: { _, error in
      completion?(error)
    }
  }

  /// Completion form of ``unsubscribe(fromTopic:)``.
  @preconcurrency
  public func unsubscribe(fromTopic topic: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete {
      try await $0.unsubscribe(fromTopic: topic)
    } then: { _, error in
      completion?(error)
    }
  }

  private func complete<Value: Sendable>(
    _ operation: @escaping @Sendable (Messaging) async throws -> Value,
    then completion: @escaping @Sendable (Value?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: callbackQueue, completion) { try await operation(self) }
  }
}
