import VestaTransportInterop

/// The protocol of a connection, which its first bytes say, or the agreement of TLS.
enum ApplicationProtocol {
  case http1
  case http2
}

extension ServerConnection {
  /// Whether the first bytes are HTTP/2's by prior knowledge; `nil` while that is unknown.
  func beginsWithPreface(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    switch HTTP2Preface.match(bytes) {
    case .whole: return true
    case .other: return false
    case .beginning:
      if !isHeadBegun, !bytes.isEmpty {
        isHeadBegun = true
        deadline = loop.now + loop.times.head
      }
      return nil
    }
  }

  /// The protocol was chosen, before any byte of it was used.
  func choose(_ chosen: ApplicationProtocol) {
    guard isUndecided else { return }
    isUndecided = false
    guard chosen == .http2 else { return }
    isHeadBegun = false
    deadline = .max
    phase = .http2(HTTP2ServerSession(self))
  }
}
