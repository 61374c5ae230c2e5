import Glibc
import VestaTransportInterop

@testable import VestaTransport

/// A server that sends the frames that a test wants: each connection has a thread, and its number.
final class FrameServer: Sendable {
  let authority: String
  private let descriptor: Int32

  init(_ serve: @escaping @Sendable (HTTP2Peer, Int) -> Void) throws {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
    let descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    self.descriptor = descriptor
    authority = PlatformSocket.localAddress(descriptor)?.description ?? ""
    _ = PlatformThread.start {
      var number = 0
      while true {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return }
        let connection = number
        number += 1
        _ = PlatformThread.start { serve(HTTP2Peer(accepted: RawPeer(accepted: accepted)), connection) }
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    PlatformSocket.close(descriptor)
  }
}
