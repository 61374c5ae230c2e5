import VestaBytes
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingWire
import VestaServiceInterop
import VestaTransportInterop

/// The connections of Vesta's own clients: a backend's deliveries as server-sent events.
///
/// The event `delivery` has a delivery, and `end` is the last one: it has the error, or nothing where the server ended
/// the connection in order. A comment now and then says that the connection lives. The queue of a client that does
/// not read is bounded: the engine sends no more than a client has acknowledged and a window.
final class DeliveryStreams: Sendable {
  private struct State {
    var next = 0
    var open: [Int: ByteStream] = [:]
    var isEnded = false
    var timer: ListenerRegistration?
  }

  private let keepAlive: Duration
  private let clock: ServiceClock
  private let state = Locked(State())

  init(keepAlive: Duration, clock: ServiceClock) { (self.keepAlive, self.clock) = (keepAlive, clock) }

  deinit { state.withLock { $0.timer.take() }?.cancel() }

  func open(_ backend: any MessagingBackend, _ token: String, _ context: CallContext) throws -> HTTPResponse {
    let body = ByteStream()
    guard let number = add(body) else { throw ServiceStatus(.unavailable, "The server shuts down.") }
    giveSigns(begins: true)
    let connection = backend.connect(token: token, context: context) { [weak self] error in
      self?.end(number, error)
    } _: { delivery in
      body.offer(Self.event("delivery", DeliveryWire.json(of: delivery)))
    }
    body.pipe.setDemand(
      nil,
      onCancel: { [weak self] in
        connection.cancel()
        self?.remove(number)
      })
    return HTTPResponse(
      fields: [.contentType: ServerSentEvent.contentType, .cacheControl: "no-store"], body: .stream(body))
  }

  /// Adds a stream; returns its number, or nil if the streams have ended.
  private func add(_ body: ByteStream) -> Int? {
    state.withLock { state in
      guard !state.isEnded else { return nil }
      state.next += 1
      state.open[state.next] = body
      return state.next
    }
  }

  /// Ends all connections in order: their clients connect again.
  func end() {
    let numbers = state.withLock { state in
      state.isEnded = true
      return Array(state.open.keys)
    }
    for number in numbers { end(number, nil) }
  }

  private func end(_ number: Int, _ error: MessagingServiceError?) {
    guard let body = remove(number) else { return }
    body.offer(Self.event("end", error.map { MessagingErrorWire.body(of: $0) } ?? Array("{}".utf8)))
    body.finish()
  }

  /// Has a sign of life sent to all connections, and again after the time; without connections there is no timer.
  private func giveSigns(begins: Bool = false) {
    if begins, state.withLock({ $0.timer != nil }) { return }
    let next = clock.schedule(after: keepAlive) { [weak self] in self?.giveSigns() }
    let (bodies, surplus) = state.withLock { state -> ([ByteStream], ListenerRegistration?) in
      if begins ? state.timer != nil : state.open.isEmpty {
        // Another connection has begun the signs in between, or there is none left.
        if !begins { state.timer = nil }
        return ([], next)
      }
      state.timer = next
      return (begins ? [] : Array(state.open.values), nil)
    }
    surplus?.cancel()
    for body in bodies { body.offer(ServerSentEvent.keepAlive) }
  }

  @discardableResult
  private func remove(_ number: Int) -> ByteStream? { state.withLock { $0.open.removeValue(forKey: number) } }

  private static func event(_ name: String, _ json: [UInt8]) -> [UInt8] {
    ServerSentEvent(String(decoding: json, as: UTF8.self), name: name).encoded
  }
}
