public import VestaServiceInterop
public import VestaTesting

/// An adapter between a service and its client, as the way of a failure: a wire with both of its ends, or the error
/// type of a product.
public struct StatusAdapterSubject: Sendable {
  /// Returns the failure that a client receives for a failure of the service.
  public let deliver: @Sendable (ServiceStatus) async throws -> ServiceStatus

  /// An adapter.
  public init(deliver: @escaping @Sendable (ServiceStatus) async throws -> ServiceStatus) { self.deliver = deliver }
}

/// The promises of an adapter about failures, as checks.
public enum StatusContracts {
  /// All promises.
  public static let all: [Contract<StatusAdapterSubject>] = [
    Contract("the code and the message of a failure reach the client") { subject in
      for code in ServiceCode.allCases {
        let received = try await subject.deliver(ServiceStatus(code, "why"))
        try expect(received.code, equals: code, "the code")
        // The protocol of a product may put its own name of the failure before the message, and a caller that has
        // cancelled its call needs none.
        if code == .cancelled { continue }
        try expect(received.message.contains("why"), "the message of \(code) is \(received.message)")
      }
    },
    Contract("the time after which to try again reaches the client") { subject in
      for wait in [Duration.milliseconds(1_500), .seconds(3), .zero] {
        let status = ServiceStatus(.unavailable, "busy", details: [.retryInfo(after: wait)])
        try expect(try await subject.deliver(status).retryAfter, equals: wait, "the time")
      }
      let plain = try await subject.deliver(ServiceStatus(.unavailable, "busy"))
      try expect(plain.retryAfter == nil, "a time was made up")
    },
    Contract("every structured detail reaches the client") { subject in
      for detail in samples {
        let status = ServiceStatus(.failedPrecondition, "why", details: [detail])
        let received = try await subject.deliver(status)
        try expect(received.details.contains(detail), "\(detail) is lost: \(received.details)")
      }
      let received = try await subject.deliver(ServiceStatus(.failedPrecondition, "why", details: samples))
      for detail in samples { try expect(received.details.contains(detail), "\(detail) is lost among others") }
    },
  ]

  private static let samples: [ErrorDetail] = [
    .errorInfo(reason: "DISK_FULL", domain: "store.vesta", metadata: ["path": "a/b", "free": "0"]),
    .badRequest(field: "a.b", description: "no number"),
    .badRequest(field: "c", description: "too long"),
    .help(url: "https://vesta.example/index", description: "create the index"),
  ]
}
