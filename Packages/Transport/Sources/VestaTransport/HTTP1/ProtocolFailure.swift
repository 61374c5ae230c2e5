/// A message that its protocol forbids, and the status with which a server refuses it.
struct ProtocolFailure: Error, Equatable, CustomStringConvertible {
  let status: Int
  let reason: String

  /// A malformed message.
  init(_ reason: String) { self.init(400, reason) }

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  var description: String { "\(status): \(reason)" }
}
