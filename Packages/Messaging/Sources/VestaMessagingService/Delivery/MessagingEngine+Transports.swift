import VestaCore
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

// Delivery to registrations that are not connected.
extension MessagingEngine {
  /// Hands messages over to the transports of registrations that are not connected.
  func startPushing(_ numbers: [Int64]) {
    guard !transports.isEmpty else { return }
    let surplus = pushes.add(numbers) { [self] in await push($0) }
    if surplus > 0 {
      log.error(
        "I-MSS000004", "\(surplus) messages wait until their registrations connect: the transports are too slow.")
    }
  }

  private func push(_ number: Int64) async {
    let targets: [(RegistrationKey, RegistrationRecord, DispatchedMessage)]
    do {
      targets = try await self.targets(of: number)
    } catch {
      return log.error(
        "I-MSS000005", "A message waits until its registrations connect: it cannot be read now. \(error)")
    }
    for (key, registration, message) in targets where table.session(key) == nil {
      guard let transport = transports.first(where: { $0.platforms.contains(registration.platform) }),
        let address = registration.pushAddress
      else { continue }
      let delivery = message.delivery(platform: registration.platform, senderID: senderID)
      do {
        try await transport.push(delivery, to: address)
        try await acknowledge(token: registration.token, messageIDs: [delivery.messageID], context: CallContext())
      } catch  where error.reason == .unregistered {
        try? await unregister(token: registration.token, context: CallContext())
      } catch {
        log.error("I-MSS000006", "A transport failed; the message waits until its registration connects. \(error)")
      }
    }
  }

  private func targets(of number: Int64) async throws -> [(RegistrationKey, RegistrationRecord, DispatchedMessage)] {
    let store = try await store()
    let end = time() - options.registrationLifetime.microseconds
    return try await store.read { reader in
      let reader = MessagingReader(reader: reader)
      guard let record = try await reader.messages([number])[number],
        let message = DispatchedMessage(number: number, record: record)
      else { return [] }
      var keys: [RegistrationKey] = []
      switch message.audience {
      case .registration(let key): keys = [key]
      case .topic(let topic):
        keys = try await reader.reader.entries(in: Keys.members(topic)).map { try Keys.registration(ofMember: $0.key) }
      case .condition: break
      }
      var targets: [(RegistrationKey, RegistrationRecord, DispatchedMessage)] = []
      for key in keys {
        guard let found = try await reader.record(RegistrationRecord.self, Keys.registration(key)),
          found.pushAddress != nil, found.lastSeenTime > end
        else { continue }
        targets.append((key, found, message))
      }
      return targets
    }
  }
}

private let log = Logger(service: "VestaMessagingService")
