import VestaTransportInterop

/// An exchange on a stream of HTTP/2, until both sides have said all.
///
/// Confined to the loop of its connection.
// Sound as @unchecked Sendable: hooks of bodies only carry it back to the loop.
final class HTTP2ClientStream: HTTP2Stream, @unchecked Sendable {
  let exchange: ClientExchange
  /// The body of the response that is still being read.
  var incoming: ByteStream?
  /// The bytes that the reader has not taken, for which the server gets no new window.
  var unconsumed = 0
  var isClosed = false

  init(_ id: Int32, _ exchange: ClientExchange) {
    self.exchange = exchange
    super.init(id)
  }
}
