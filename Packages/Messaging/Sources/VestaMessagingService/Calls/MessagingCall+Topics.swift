import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// Subscriptions, and the messages that still wait when one ends.
extension MessagingCall {
  func subscribe(token: String, toTopic topic: String) async throws {
    var (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    let subscription = try await reader.subscription(key, topic)
    if subscription?.isCurrent == true { return }
    guard record.topics < tuning.maximumTopics else {
      throw MessagingServiceError(
        .resourceExhausted, reason: .quotaExceeded,
        "TOO_MANY_TOPICS: A registration has at most \(tuning.maximumTopics) topics. Unsubscribe from one first.")
    }
    record.topics += 1
    if subscription != nil { record.leftTopics = max(0, record.leftTopics - 1) }
    try await put(record, Keys.registration(key))
    let number = try await noteChange(of: key)
    var current = subscription ?? SubscriptionRecord()
    (current.isOver, current.since) = (false, number)
    try await put(current, Keys.subscription(key, topic))
    if record.pushAddress != nil { try await transaction.put([], for: Keys.member(topic, key)) }
  }

  func unsubscribe(token: String, fromTopic topic: String) async throws {
    var (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
    guard var subscription = try await reader.subscription(key, topic), subscription.isCurrent else { return }
    record.topics = max(0, record.topics - 1)
    let last = try await noteChange(of: key) - 1
    let isKept = try await end(&subscription, of: topic, after: last, &record)
    try await put(record, Keys.registration(key))
    if isKept {
      try await put(subscription, Keys.subscription(key, topic))
    } else {
      try await transaction.delete(Keys.subscription(key, topic))
    }
    try await transaction.delete(Keys.member(topic, key))
  }

  /// Ends a subscription after a message; answers whether it is kept, because messages that were sent during it wait.
  private func end(
    _ subscription: inout SubscriptionRecord, of topic: String, after last: Int64, _ record: inout RegistrationRecord
  ) async throws -> Bool {
    let after = max(subscription.since, record.cursor)
    subscription.isOver = true
    subscription.past.removeAll { $0.last <= record.cursor }
    var span = SubscriptionRecord.Span()
    (span.after, span.last) = (after, last)
    // A message to a condition may be for the registration because of this subscription, or in spite of it.
    var isNeeded = try await reader.count(Keys.topic(topic, after: after), limit: 1) > 0
    if !isNeeded { isNeeded = try await reader.count(Keys.conditions(after: after), limit: 1) > 0 }
    if isNeeded { subscription.past.append(span) }
    if subscription.past.isEmpty { return false }
    if subscription.past.count > max(1, tuning.longestHistory) {
      try await drop(subscription.past.removeFirst(), of: topic, &record)
    }
    if record.leftTopics >= tuning.maximumTopics {
      for span in subscription.past { try await drop(span, of: topic, &record) }
      return false
    }
    record.leftTopics += 1
    return true
  }

  /// Drops the messages to a topic that a subscription has brought.
  private func drop(
    _ span: SubscriptionRecord.Span, of topic: String, _ record: inout RegistrationRecord
  ) async throws {
    let range = Keys.topic(topic, after: max(span.after, record.cursor), upTo: span.last)
    let count = Int64(try await reader.count(range, limit: tuning.longestCount))
    guard count > 0 else { return }
    record.dropped += count
    try await self.count { $0.discarded += count }
  }

  // MARK: Waiting messages

  /// Takes note of what a read of the messages for many has found out: the cursor moves, and what is known to be
  /// dropped is counted.
  ///
  /// Messages below the new cursor that are under way are kept by separate rows, until they are acknowledged.
  ///
  /// - Returns: The number of dropped messages of which the registration has to be notified.
  func noteLoad(_ outcome: PendingLoad.Outcome, for key: RegistrationKey) async throws -> Int64 {
    guard var registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
      registration.token == outcome.token, registration.cursor == outcome.cursor
    else { return 0 }
    for number in outcome.replaced { _ = try await noteAcknowledged(number, key, registration) }
    for number in outcome.stale { try await transaction.delete(Keys.owed(key, number)) }
    for number in outcome.droppedDirect { try await transaction.delete(Keys.dropped(key, number)) }
    if let end = outcome.cursorEnd, end > registration.cursor {
      try await keep(outcome.underWay.filter { $0 > registration.cursor && $0 <= end }, for: key)
      registration.cursor = end
      try await transaction.deleteRange(Keys.acknowledged(key, upTo: end))
      for topic in outcome.pastTopics { try await forget(topic, upTo: end, key, &registration) }
    }
    let told = registration.dropped + outcome.dropped + Int64(outcome.droppedDirect.count)
    (registration.dropped, registration.lastSeenTime) = (0, max(registration.lastSeenTime, now))
    try await put(registration, Keys.registration(key))
    if outcome.dropped > 0 { try await count { $0.discarded += outcome.dropped } }
    return told
  }

  /// Keeps the messages under way that the cursor passes, except the ones acknowledged in between.
  private func keep(_ numbers: [Int64], for key: RegistrationKey) async throws {
    let acknowledged = try await transaction.get(numbers.map { Keys.acknowledged(key, $0) })
    for (number, row) in zip(numbers, acknowledged) where row == nil {
      try await transaction.put([], for: Keys.owed(key, number))
    }
  }

  /// Forgets the subscriptions to a topic that have ended, and whose messages are done with.
  private func forget(
    _ topic: String, upTo end: Int64, _ key: RegistrationKey, _ registration: inout RegistrationRecord
  ) async throws {
    guard var subscription = try await reader.subscription(key, topic) else { return }
    subscription.past.removeAll { $0.last <= end }
    if subscription.isOver, subscription.past.isEmpty {
      registration.leftTopics = max(0, registration.leftTopics - 1)
      try await transaction.delete(Keys.subscription(key, topic))
    } else {
      try await put(subscription, Keys.subscription(key, topic))
    }
  }
}
