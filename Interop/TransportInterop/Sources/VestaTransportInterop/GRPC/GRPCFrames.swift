/// Messages that are sent at once, as they are sent: framed once, for as many calls as get them.
public struct GRPCFrames: Equatable, Sendable {
  let bytes: [UInt8]

  /// Frames messages.
  public init(_ messages: [[UInt8]]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(messages.reduce(0) { $0 + $1.count + 5 })
    for message in messages { GRPCMessageMachine.write(message, into: &bytes) }
    self.bytes = bytes
  }

  /// The number of bytes.
  public var count: Int { bytes.count }
}
