public import VestaBytes

/// The failure to read a message of the protocol.
///
/// A message that names its request can be answered: the connection of a client with one wrong value need not end.
public struct DatabaseWireError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The failure.
  public let failure: BytesError
  /// The number of the request that the message is; `nil` when it has none.
  public let requestID: Int?

  /// A failure.
  public init(_ failure: BytesError, requestID: Int? = nil) {
    self.failure = failure
    self.requestID = requestID
  }

  /// The failure.
  public var description: String { requestID.map { "request \($0): \(failure)" } ?? "\(failure)" }

  /// Compares the kind and the message.
  public static func == (left: DatabaseWireError, right: DatabaseWireError) -> Bool {
    left.failure == right.failure && left.requestID == right.requestID
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(failure.message)
    hasher.combine(requestID)
  }
}
