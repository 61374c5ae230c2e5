public import VestaServiceInterop

extension TransportError {
  /// The code of a call whose connection or exchange has failed, in gRPC and REST alike.
  ///
  /// ``mayHaveBeenProcessed`` says whether the call may have had an effect.
  public var serviceCode: ServiceCode {
    switch code {
    case .timedOut: .deadlineExceeded
    case .protocolViolation: .internal
    case .tooLarge, .exhausted: .resourceExhausted
    case .invalidArgument: .invalidArgument
    case .insecure, .cannotConnect, .hostNotFound, .connectionLost, .closed: .unavailable
    default: .unknown
    }
  }

  /// The status of a call.
  ///
  /// Callers repeat a call by themselves after `UNAVAILABLE`. One that must not be repeated, and that the peer may have
  /// acted on, fails with `DEADLINE_EXCEEDED` in its place, as a commit of unknown outcome does in an engine.
  ///
  /// - Parameter isRepeatable: Whether the same call may be made twice without a second effect.
  public func status(isRepeatable: Bool) -> ServiceStatus {
    guard !isRepeatable, mayHaveBeenProcessed, serviceCode == .unavailable else {
      return ServiceStatus(serviceCode, message)
    }
    return ServiceStatus(
      .deadlineExceeded, "The outcome of the call is not known, as its connection was lost. \(message)")
  }
}
