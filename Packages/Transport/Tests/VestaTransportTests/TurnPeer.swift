import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// A client of HTTP/2 on a socket whose every step a test chooses, and everything that it was sent.
///
/// Frames and windows are the machine's of this package in the role of a client.
// Sound as @unchecked Sendable: a test hands it from one thread to the next.
final class TurnPeer: @unchecked Sendable {
  struct Answer {
    var status = 0
    var fields: HTTPFields = [:]
    var body: [UInt8] = []
    var trailers: HTTPFields = [:]
    /// How the stream has ended; `nil` while it lasts.
    var code: HTTP2Code?
  }

  let peer: RawPeer
  private let session: HTTP2Session
  private(set) var answers: [Int32: Answer] = [:]
  /// The bytes that were received and are not taken: the server has no new window for them.
  private var untaken: [(stream: Int32, count: Int)] = []
  /// Whether the server has said after which stream it serves none.
  private(set) var hasGoAway = false

  init(_ server: TestServer, _ tuning: TransportTuning) throws {
    peer = try server.peer()
    session = HTTP2Session(.client, tuning, now: 0)
  }

  /// Adds a request to the bytes that leave next.
  func ask(_ target: String, method: HTTPMethod = .get) -> Int32? {
    let id = session.request(HTTPRequest(method, target, authority: "h"))
    if let id { answers[id] = Answer() }
    return id
  }

  func reset(_ stream: Int32) { session.reset(stream, .cancel) }

  func goAway() { session.goAway() }

  /// Sends everything that was added.
  func send() {
    var bytes: [UInt8] = []
    _ = session.produce(into: &bytes, limit: .max)
    note()
    peer.send(bytes)
  }

  /// Lets the server send as much again as was received.
  func take() {
    for part in untaken {
      session.consumeConnection(part.count)
      if answers[part.stream]?.code == nil { session.consume(part.count, of: part.stream) }
    }
    untaken = []
    send()
  }

  /// Waits for bytes and notes what they mean.
  ///
  /// - Returns: `false` at the end of the connection.
  func receive() -> Bool {
    guard let bytes = peer.receive(), !bytes.isEmpty else { return false }
    let isGood = bytes.withUnsafeBufferPointer { session.receive($0) }
    note()
    return isGood
  }

  private func note() {
    for event in session.events {
      switch event {
      case .head(let id, let head, _):
        answers[id]?.status = head.status
        answers[id]?.fields = head.fields
      case .body(let id, let bytes):
        answers[id]?.body += bytes
        untaken.append((id, bytes.count))
      case .trailers(let id, let fields): answers[id]?.trailers = fields
      case .closed(let id, let code): answers[id]?.code = code
      case .goAway: hasGoAway = true
      case .end, .pong: break
      }
    }
    session.events = []
  }
}
