import VestaConcurrency
import VestaTransportInterop

/// A connection, as an exchange on it sees it.
protocol ExchangeCarrier: AnyObject {
  /// Ends an exchange whose caller has left or has an error.
  func abandon(_ exchange: ClientExchange)
}

/// A request under way, until the end of its response.
///
/// Confined to the loop that it was given to.
// Sound as @unchecked Sendable: everything but the constants is touched on that loop alone.
final class ClientExchange: @unchecked Sendable {
  enum Outcome: Sendable {
    case response(HTTPResponse)
    case webSocket(WebSocket)

    func response() throws -> HTTPResponse {
      guard case .response(let response) = self else {
        throw TransportError(.protocolViolation, "The server has changed the protocol unasked.")
      }
      return response
    }
  }

  /// A WebSocket that is asked for.
  struct Opening: Sendable {
    var key: String
    var subprotocols: [String]
  }

  let request: HTTPRequest
  let webSocket: Opening?
  private let turn: Turn<Outcome>
  /// The connection that serves it; `nil` while there is none yet.
  weak var connection: (any ExchangeCarrier)?
  /// Whether its connection had been used before.
  var isOnKeptConnection = false
  /// How often it was sent.
  var attempts = 0
  /// Whether a byte of a response was received.
  var hasResponse = false
  /// Whether all of it was written.
  var isSent = false
  /// The time-out, and what cancels it.
  var timer: LoopTimer?
  var cancelTimer: ((LoopTimer) -> Void)?
  /// Whether the caller has its outcome.
  private(set) var isOver = false

  init(_ request: HTTPRequest, webSocket: Opening?, _ turn: Turn<Outcome>) {
    self.request = request
    self.webSocket = webSocket
    self.turn = turn
  }

  /// Whether it can be sent again on another connection with no second effect.
  var canBeRepeated: Bool {
    guard isOnKeptConnection, !hasResponse, !isOver, request.method.isIdempotent else { return false }
    if case .stream = request.body { return false }
    return true
  }

  /// Whether it can be sent again after a server has said that it has not looked at it.
  func canBeRepeatedAfterRefusal(attempts limit: Int) -> Bool {
    guard !hasResponse, !isOver, attempts < limit else { return false }
    // Bytes that were taken out of a stream cannot be sent again.
    if case .stream = request.body { return !isSent }
    return true
  }

  func succeed(_ outcome: Outcome) {
    guard !isOver else { return }
    end()
    guard let continuation = turn.begin() else {
      // The caller has left in between.
      if case .response(let response) = outcome { response.body.stream.cancel() }
      if case .webSocket(let socket) = outcome { socket.close() }
      connection?.abandon(self)
      return
    }
    continuation.resume(returning: outcome)
  }

  /// Ends it with an error, if the caller has no outcome yet; its connection ends with it.
  func fail(_ error: any Error) {
    guard !isOver else { return }
    end()
    if case .stream(let stream, _) = request.body { stream.cancel() }
    turn.begin()?.resume(throwing: error)
    connection?.abandon(self)
  }

  private func end() {
    isOver = true
    if let timer { cancelTimer?(timer) }
    timer = nil
    cancelTimer = nil
  }
}
