import VestaBytes
public import VestaServiceInterop

/// The failure of a gRPC call: a status that is not OK.
///
/// ```swift
/// throw GRPCError(.notFound, "There is no document \(name).")
/// ```
public struct GRPCError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The status code.
  public var code: ServiceCode

  /// A sentence for developers, which the peer sees.
  public var message: String

  /// The bytes of a `google.rpc.Status` with further details, which travel as `grpc-status-details-bin`.
  public var details: [UInt8]?

  /// Further fields of the trailers.
  public var trailers: HTTPFields

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The status code.
  ///   - message: A sentence for developers.
  ///   - details: The bytes of a `google.rpc.Status`.
  ///   - trailers: Further fields of the trailers.
  public init(_ code: ServiceCode, _ message: String, details: [UInt8]? = nil, trailers: HTTPFields = [:]) {
    self.code = code
    self.message = message
    self.details = details
    self.trailers = trailers
  }

  /// The failure for a status, whose details travel along.
  public init(_ status: ServiceStatus) {
    let details = status.details.isEmpty ? nil : try? ProtobufStatusSchema.bytes(of: status.protobuf)
    // Larger trailers are refused by peers, and the code is lost with them.
    self.init(status.code, status.message, details: details.flatMap { $0.count <= 4_096 ? $0 : nil })
  }

  /// The code, the message and the details; malformed details count as absent.
  public var status: ServiceStatus {
    let read = details.flatMap { try? ProtobufStatusSchema.message(from: $0) }
    return ServiceStatus(code, message, details: read.map { ServiceStatus($0).details } ?? [])
  }

  /// The failure of a call whose connection or exchange has failed.
  ///
  /// ``TransportError/mayHaveBeenProcessed`` says whether the call may have had an effect.
  public init(_ error: TransportError) {
    self.init(error.serviceCode, error.message)
  }

  /// The failure of a call that must not be repeated unseen where ``TransportError/mayHaveBeenProcessed``.
  init(_ error: TransportError, isRepeatable: Bool) {
    let status = error.status(isRepeatable: isRepeatable)
    self.init(status.code, status.message)
  }

  /// The failure for an error: itself, or what its kind means.
  ///
  /// - Parameter error: An error; its text stays on this side unless it is a ``GRPCError``, a ``TransportError`` or the
  ///   failure of a service.
  public init(_ error: any Error) {
    switch error {
    case let error as GRPCError: self = error
    case let error as TransportError: self.init(error)
    case let error as ServiceStatus: self.init(error)
    case let error as any ServiceFailure: self.init(error.status)
    case is CancellationError: self.init(.cancelled, "The call was cancelled.")
    default: self.init(.unknown, "The call has failed.")
    }
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
