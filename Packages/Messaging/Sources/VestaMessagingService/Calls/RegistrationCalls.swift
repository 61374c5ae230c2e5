import VestaMessagingBackend
import VestaServiceInterop

// Registrations, their topics, and what they acknowledge.
extension MessagingOperation {
  func register(_ request: RegisterRequest) async throws -> String {
    if let address = request.pushAddress {
      try await engine.transports.first { $0.platforms.contains(request.platform) }?.check(address)
    }
    let token = try await write { try await $0.register(request) }
    engine.startDispatching()
    return token
  }

  func unregister(token: String) async throws {
    try await write { try await $0.unregister(token: token) }
    engine.startDispatching()
  }

  func subscribe(token: String, toTopic topic: String) async throws {
    let topic = try TopicName.checked(topic, field: "topic")
    try await write { try await $0.subscribe(token: token, toTopic: topic) }
    engine.startDispatching()
  }

  func unsubscribe(token: String, fromTopic topic: String) async throws {
    let topic = try TopicName.checked(topic, field: "topic")
    try await write { try await $0.unsubscribe(token: token, fromTopic: topic) }
    engine.startDispatching()
  }

  /// Acknowledges messages, and stores with them the deliveries that were not stored yet.
  func acknowledge(token: String, messageIDs: [String]) async throws {
    guard messageIDs.count <= options.tuning.maximumAcknowledged else {
      throw MessagingServiceError.invalid(
        "messageIDs", "At most \(options.tuning.maximumAcknowledged) messages are acknowledged at once.")
    }
    let delivered = engine.deliveries.take()
    do {
      let outcome = try await write {
        try await $0.acknowledge(token: token, messageIDs: messageIDs, delivered: delivered)
      }
      engine.makeRoom(after: outcome.numbers, of: outcome.key, token: token)
    } catch {
      engine.deliveries.add(delivered)
      throw error
    }
  }

  // MARK: Of the owner

  func subscribe(tokens: [String], toTopic topic: String) async throws -> [MessagingServiceError?] {
    try await manage(tokens, topic) { try await $0.subscribe(token: $1, toTopic: $2) }
  }

  func unsubscribe(tokens: [String], fromTopic topic: String) async throws -> [MessagingServiceError?] {
    try await manage(tokens, topic) { try await $0.unsubscribe(token: $1, fromTopic: $2) }
  }

  private func manage(
    _ tokens: [String], _ topic: String,
    _ change: @escaping @Sendable (MessagingCall, String, String) async throws -> Void
  ) async throws -> [MessagingServiceError?] {
    try checkOwner()
    let topic = try TopicName.checked(topic, field: "topic")
    guard tokens.count > 0, tokens.count <= options.tuning.maximumTokens else {
      throw MessagingServiceError.invalid(
        "tokens", "There are 1 to \(options.tuning.maximumTokens) tokens in a call, not \(tokens.count).")
    }
    let outcomes = try await write { call in
      var outcomes: [MessagingServiceError?] = []
      for token in tokens {
        do {
          try await change(call, token, topic)
          outcomes.append(nil)
        } catch let error as MessagingServiceError {
          // Every change looks at all rows before it writes the first one.
          outcomes.append(error)
        }
      }
      return outcomes
    }
    engine.startDispatching()
    return outcomes
  }

  func registration(token: String) async throws -> RegistrationInfo {
    try checkOwner()
    _ = try await engine.store()
    let (now, lifetime) = (engine.time(), options.registrationLifetime.microseconds)
    return try await read { reader in
      let (key, record) = try await reader.registration(token: token, now: now, lifetime: lifetime)
      return RegistrationInfo(
        installationID: key.installationID, platform: record.platform, appID: record.appID,
        createTime: record.createTime, lastSeenTime: record.lastSeenTime,
        topics: try await reader.subscriptions(key).filter(\.value.isCurrent).keys.sorted())
    }
  }

  func token(ofInstallation id: String) async throws -> String {
    try checkOwner()
    guard Tokens.isInstallationID(id) else { throw MessagingServiceError.unregistered }
    let key = RegistrationKey(installationID: id, senderID: engine.senderID)
    _ = try await engine.store()
    let earliest = engine.time() - options.registrationLifetime.microseconds
    let found = try await read { try await $0.record(RegistrationRecord.self, Keys.registration(key)) }
    guard let found, found.lastSeenTime > earliest else { throw MessagingServiceError.unregistered }
    return found.token
  }
}
