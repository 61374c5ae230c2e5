import VestaTransportInterop

/// A request on a stream of HTTP/2, until its response has been sent.
///
/// Confined to the loop of its connection.
// Sound as @unchecked Sendable: tasks and hooks only carry it back to the loop.
final class HTTP2ServerStream: HTTP2Stream, @unchecked Sendable {
  let head: HTTP2Head
  /// The body while it is gathered, and its limit; `nil` when it is not gathered.
  var limit: Int?
  var body: [UInt8] = []
  /// The body while a handler reads it.
  var incoming: ByteStream?
  /// The bytes that the reader has not taken, for which the peer gets no new window.
  var unconsumed = 0
  var task: Task<Void, Never>?
  /// Whether the response has begun.
  var isAnswered = false
  /// Whether the stream is over.
  var isClosed = false
  /// Whether the peer is notified some time after the answer, and not at once, that the rest of its body is not wanted.
  var isLingering = false
  /// The time after which a body that is gathered is late.
  var deadline = Int64.max

  init(_ id: Int32, _ head: HTTP2Head) {
    self.head = head
    super.init(id)
  }
}
