import Foundation
import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

extension Messaging {
  /// Subscribes the app to a topic; registers it first if it is not.
  ///
  /// While the service cannot be reached the change waits, also over a restart, and this call with it. When the token
  /// is deleted in between, the change waits until the app has another one.
  ///
  /// - Parameter topic: Letters, digits and `-_.~%`; the prefix `/topics/` is allowed.
  /// - Throws: ``MessagingError`` with `invalidTopicName`, or why the service has refused it.
  public func subscribe(toTopic topic: String) async throws {
    let name = try Self.checked(topic, "subscribe to")
    _ = try await token()
    try await change(.subscribe, name)
  }

  /// Ends a subscription; registers the app first if it is not.
  ///
  /// - Parameter topic: The topic, as for ``subscribe(toTopic:)``.
  /// - Throws: As ``subscribe(toTopic:)``.
  public func unsubscribe(fromTopic topic: String) async throws {
    let name = try Self.checked(topic, "unsubscribe from")
    _ = try await token()
    try await change(.unsubscribe, name)
  }

  private static func checked(_ topic: String, _ verb: String) throws -> String {
    let name = topic.hasPrefix("/topics/") ? String(topic.dropFirst("/topics/".count)) : topic
    guard TopicName.isValid(name) else {
      let action = verb.hasPrefix("un") ? "unsubscribe" : "subscribe"
      throw MessagingError(.invalidTopicName, "Cannot parse topic name: '\(topic)'. Will not \(action).")
    }
    return name
  }

  private func change(_ action: TopicQueue.Action, _ topic: String) async throws {
    try checkAppIsThere()
    try await Turn<Void>().wait { turn in
      // Checked again under the lock: a waiter that is added after the end would wait for ever.
      let isOver = state.withLock { state in
        guard !state.isOver else { return true }
        let batch = state.endedBatches + state.add(action, topic)
        state.topicWaiters.append(TopicWaiter(batch: batch, topic: topic, turn: turn))
        return false
      }
      if isOver { return turn.begin()?.resume(throwing: MessagingError.appDeleted) ?? () }
      saveTopics()
      workOnTopics()
    } onCancel: { turn in
      // The change stays, without a caller that waits for it.
      self.state.withLock { $0.topicWaiters.removeAll { $0.turn === turn } }
    }
  }

  private func saveTopics() {
    topicFile.save {
      state.withLock { state in
        defer { state.topicEvents = [] }
        return (state.topicEvents, state.topics)
      }
    }
  }

  /// Puts the changes that an earlier version has kept with the registration into their own file.
  func takeOverTopics() {
    guard let old = state.withLock({ $0.stored.topics }) else { return }
    state.withLock { state in
      for batch in old.batches { for topic in batch.topics { _ = state.add(batch.action, topic) } }
    }
    saveTopics()
    change { $0.topics = nil }
  }

  /// Works on the changes that wait, unless another call is doing so; without a token they wait for one.
  func workOnTopics() {
    guard fcmTokenIfKnown != nil else { return }
    let begins = state.withLock { state in
      guard !state.isWorkingOnTopics, !state.isOver, !state.topics.isEmpty else { return false }
      state.isWorkingOnTopics = true
      return true
    }
    if begins { Task { await workOnTopicsNow() } }
  }

  private func workOnTopicsNow() async {
    while let (action, topic) = nextChange() {
      switch await perform(action, topic) {
      case .done(let outcome): finish(action, topic, outcome)
      case .isAway: return workOnTopicsLater()
      case .needsToken:
        state.withLock { $0.isWorkingOnTopics = false }
        // A token that has arrived in between has found the work under way.
        return workOnTopics()
      }
    }
  }

  /// Ends the work until a timer begins it again: one timer, however many calls have failed.
  private func workOnTopicsLater() {
    let needsTimer = state.withLock { state in
      state.isWorkingOnTopics = false
      defer { state.hasTopicTimer = true }
      return !state.hasTopicTimer && !state.isOver
    }
    guard needsTimer else { return }
    _ = clock.schedule(after: tuning.topicPause) { [weak self] in
      self?.state.withLock { $0.hasTopicTimer = false }
      self?.workOnTopics()
    }
  }

  /// The next change; `nil` and the end of the work when there is none.
  private func nextChange() -> (TopicQueue.Action, String)? {
    state.withLock { state in
      guard !state.isOver, let next = state.topics.next else {
        state.isWorkingOnTopics = false
        return nil
      }
      return (next.action, next.topic)
    }
  }

  /// The outcome of asking the service for a change.
  private enum Outcome {
    case done(Result<Void, MessagingError>)
    /// The service cannot be reached: the change stays, and is tried again later.
    case isAway
    /// The token was deleted: the change stays until the app asks for another one. Nothing else registers the app.
    case needsToken
  }

  private func perform(_ action: TopicQueue.Action, _ topic: String) async -> Outcome {
    guard let token = fcmTokenIfKnown else { return .needsToken }
    do throws(MessagingServiceError) {
      switch action {
      case .subscribe: try await backend.subscribe(token: token, toTopic: topic, context: context)
      case .unsubscribe: try await backend.unsubscribe(token: token, fromTopic: topic, context: context)
      }
      return .done(.success(()))
    } catch {
      if [.unavailable, .deadlineExceeded, .aborted].contains(error.code) { return .isAway }
      guard error.reason == .unregistered else { return .done(.failure(MessagingError(error))) }
      // The token has been deleted or replaced during the call, or has to be replaced.
      guard fcmTokenIfKnown == token else { return .needsToken }
      return tokenWasRefused(token) ? .isAway : .done(.failure(MessagingError(error)))
    }
  }

  private func finish(_ action: TopicQueue.Action, _ topic: String, _ outcome: Result<Void, MessagingError>) {
    let waiters = state.withLock { state in
      let batch = state.endedBatches
      if state.topics.finish(action, topic) { state.endedBatches += 1 }
      state.topicEvents.append(.answered)
      // The same change in a later batch is another one: its callers wait for that.
      let waiters = state.topicWaiters.filter { $0.batch == batch && $0.topic == topic }
      state.topicWaiters.removeAll { $0.batch == batch && $0.topic == topic }
      return waiters
    }
    saveTopics()
    for waiter in waiters { waiter.turn.begin()?.resume(with: outcome.mapError { $0 as any Error }) }
  }
}

extension Messaging.State {
  /// Adds a change of a topic.
  ///
  /// - Returns: The index of its batch.
  fileprivate mutating func add(_ action: TopicQueue.Action, _ topic: String) -> Int {
    topicEvents.append(.called(action, topic))
    return topics.add(action, topic)
  }
}
