import VestaMessagingBackend
import VestaServiceInterop

// The calls of the owner: sending, and the state of messages.
extension MessagingOperation {
  func send(_ message: PushMessage, isValidateOnly: Bool) async throws -> String {
    try checkOwner()
    let message = try message.checked()
    let acceptance = try await write { try await $0.send(message, isValidateOnly: isValidateOnly) }
    startDelivery(of: [acceptance], isValidateOnly)
    return name(acceptance)
  }

  func sendEach(
    _ messages: [PushMessage], isValidateOnly: Bool
  ) async throws -> [Result<String, MessagingServiceError>] {
    try checkOwner()
    guard messages.count > 0, messages.count <= options.tuning.maximumMessages else {
      throw MessagingServiceError.invalid(
        "messages", "There are 1 to \(options.tuning.maximumMessages) messages in a call, not \(messages.count).")
    }
    // They are checked before the transaction, to keep it short.
    let checked = messages.map { message in Result { () throws(MessagingServiceError) in try message.checked() } }
    let outcomes = try await write { call in
      var outcomes: [Result<Acceptance, MessagingServiceError>] = []
      for message in checked { outcomes.append(try await call.sendOne(message, isValidateOnly)) }
      return outcomes
    }
    startDelivery(of: outcomes.compactMap { try? $0.get() }, isValidateOnly)
    return outcomes.map { outcome in outcome.map(name) }
  }

  private func name(_ acceptance: Acceptance) -> String {
    "projects/\(engine.projectID)/messages/\(acceptance.messageID)"
  }

  /// Starts the delivery of messages that were committed.
  private func startDelivery(of messages: [Acceptance], _ isValidateOnly: Bool) {
    guard !isValidateOnly else { return }
    engine.startDispatching()
    engine.pushing.start(messages.compactMap(\.push))
    engine.startSweeping()
  }

  // MARK: Results

  func outbox(pageSize: Int, pageToken: String?) async throws -> OutboxPage {
    try checkOwner()
    guard pageSize > 0, pageSize <= options.tuning.maximumPage else {
      throw MessagingServiceError.invalid("pageSize", "It is between 1 and \(options.tuning.maximumPage).")
    }
    let before = pageToken.map { try? PageToken($0, of: OutboxPages.scope).number() } ?? Int64.max - 1
    guard let before, before > 0 else {
      throw MessagingServiceError.invalid("pageToken", "It is no page token of this list.")
    }
    return try await read { try await OutboxPages(reader: $0).page(pageSize, before: before) }
  }

  func statistics() async throws -> DeliveryStatistics {
    try checkOwner()
    try await engine.sweep()
    return try await engine.countDeliveries()
  }
}
