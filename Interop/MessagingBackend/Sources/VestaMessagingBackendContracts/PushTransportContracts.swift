public import VestaMessagingBackend
public import VestaTesting

/// A transport that is held to its contract.
public struct PushTransportSubject: Sendable {
  /// The transport.
  public let transport: any PushTransport
  /// An address that exists.
  public let address: PushAddress
  /// An address that does not exist.
  public let missingAddress: PushAddress
  /// The ids of the messages that were sent to the platform's service for the address.
  public let received: @Sendable () async throws -> [String]

  /// A transport.
  public init(
    _ transport: any PushTransport, address: PushAddress, missingAddress: PushAddress,
    received: @escaping @Sendable () async throws -> [String]
  ) {
    self.transport = transport
    self.address = address
    self.missingAddress = missingAddress
    self.received = received
  }
}

/// The promises of `PushTransport` as checks.
public enum PushTransportContracts {
  /// All promises.
  public static let all: [Contract<PushTransportSubject>] = [
    Contract("a push that has returned was handed over") { subject in
      try await subject.transport.push(delivery("1"), to: subject.address)
      try expect(try await subject.received(), equals: ["1"], "the messages")
    },
    Contract("an address that does not exist is reported every time") { subject in
      for _ in 1...2 {
        let error = try await expectThrows(MessagingServiceError.self, "a push to nobody") {
          try await subject.transport.push(delivery("1"), to: subject.missingAddress)
        }
        try expect(error.reason, equals: .unregistered, "the reason")
      }
    },
    Contract("pushes at the same time are all handed over") { subject in
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<32 {
          group.addTask { try? await subject.transport.push(delivery("\(number)"), to: subject.address) }
        }
      }
      try expect(Set(try await subject.received()).count, equals: 32, "the number of messages")
    },
    Contract("it reaches at least one platform") { subject in
      try expect(!subject.transport.platforms.isEmpty, "there are no platforms")
    },
  ]

  private static func delivery(_ id: String) -> PushDelivery {
    let message = PushMessage(to: .token("t"), data: ["a": "b"])
    return PushDelivery(
      messageID: id, message: message, from: "1", sentTime: 0,
      settings: DeliverySettings(message, platform: "ios", now: 0))
  }
}
