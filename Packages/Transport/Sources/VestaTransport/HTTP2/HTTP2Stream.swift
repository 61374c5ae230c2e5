import VestaTransportInterop

/// A stream of a connection of HTTP/2, and the body that is sent on it as the peer opens the window.
///
/// Confined to the loop of its connection.
class HTTP2Stream {
  enum Production {
    /// This number of bytes, and more will follow.
    case some(Int)
    /// This number of bytes, and nothing follows but the trailers.
    case last(Int, HTTPFields)
    /// Nothing is there yet.
    case waits
    case failed
  }

  let id: Int32
  /// The bytes that are sent next, from an offset on.
  private var current: [UInt8] = []
  private var offset = 0
  private var source: ByteStream?
  private var trailers: HTTPFields = [:]
  /// Whether the peer has said that it sends no more.
  var isRemoteEnded = false
  /// Whether the first frame of this side is among the bytes to be sent, or was sent.
  var isHeadSent = false
  /// Whether this side has sent its last frame.
  var isLocalEnded = false
  /// Whether the stream is reset without an error when this side has sent all and the peer has not: it need not
  /// continue.
  var resetsWhenAnswered = false
  /// Whether the library waits for the notice that there is more to send.
  var isDeferred = false
  /// Whether something is sent that the peer must take; the time at which it took something last.
  private(set) var isSending = false
  var progressedAt: Int64 = 0

  init(_ id: Int32) { self.id = id }

  /// Sets what is sent after the head.
  func send(_ body: HTTPBody, trailers: HTTPFields) {
    isSending = true
    switch body {
    case .empty: break
    case .bytes(let bytes): current = bytes
    case .stream(let stream, _): source = stream
    }
    self.trailers = trailers
  }

  /// Writes the next bytes of the body into the buffer.
  func produce(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Production {
    var count = 0
    while true {
      if offset == current.count {
        guard let source else {
          current = []
          offset = 0
          return .last(count, trailers)
        }
        switch source.pipe.take() {
        case .element(let bytes):
          current = bytes
          offset = 0
        case .nothingYet: return count > 0 ? .some(count) : .waits
        case .ended(nil): return .last(count, source.trailers)
        case .ended: return count > 0 ? .some(count) : .failed
        }
      }
      let room = buffer.count - count
      guard room > 0 else { return .some(count) }
      let taken = min(room, current.count - offset)
      // Unsafe pointers, used inside the closure only: bytes are copied into the frame.
      current.withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<count + taken])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + taken]))
      }
      offset += taken
      count += taken
    }
  }

  /// The stream is over: a writer that still writes is notified.
  func stopSending() {
    source?.cancel()
    source = nil
    current = []
    offset = 0
    isSending = false
  }
}
