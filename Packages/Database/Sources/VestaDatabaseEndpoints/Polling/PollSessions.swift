import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// The sessions of long polling of a server, and the requests of `/.lp`.
///
/// A session stays on polling: one that asks to move to a WebSocket is refused, and its client keeps polling.
final class PollSessions: Sendable {
  private let host: any EndpointHost
  private let links: OpenLinks
  private let names: DatabaseNames
  private let tuning: DatabaseEndpointsTuning
  private let sessions = Locked<[String: PollSession]>([:])

  init(_ host: any EndpointHost, _ links: OpenLinks, _ names: DatabaseNames, _ tuning: DatabaseEndpointsTuning) {
    (self.host, self.links, self.names, self.tuning) = (host, links, names, tuning)
  }

  /// The number of open sessions.
  var count: Int { sessions.withLock { $0.count } }

  /// Answers a request.
  func response(to http: HTTPRequest) async throws -> HTTPResponse {
    switch try DatabasePoll(query: String(http.query ?? "")) {
    case .start(let opening, let callback, _): return Self.script(try await start(opening, callback, http))
    case .poll(let id, let password, _, let segments):
      guard let session = session(id, password) else { return Self.script(DatabasePollAnswer.close) }
      return Self.script(try await session.poll(segments))
    case .frame(let id, let password):
      let end = DatabasePoll.disconnect(id: id, password: password)
      return HTTPResponse(
        .ok, fields: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
        body: .bytes(DatabasePollAnswer.framePage(ending: end)))
    case .disconnect(let id, let password):
      session(id, password)?.end()
      return Self.script(DatabasePollAnswer.close)
    }
  }

  private func start(_ opening: DatabaseOpening, _ callback: String, _ http: HTTPRequest) async throws -> [UInt8] {
    let link = try ConnectionOpening(opening, http, host)
    try await names.check(link.place, for: link.request.context)
    guard count < tuning.sessionLimit else {
      throw ServiceStatus(.resourceExhausted, "This server has \(tuning.sessionLimit) sessions, and opens no more.")
    }
    let number = Locked<Int?>(nil)
    let session = PollSession(
      link.backend, link.request, host: http.authority, host.clock, tuning
    ) { [weak self] session in
      _ = self?.sessions.withLock { $0.removeValue(forKey: session.id) }
      if let number = number.withLock({ $0 }) { self?.links.remove(number) }
    }
    sessions.withLock { $0[session.id] = session }
    let own = links.add { [weak session] in session?.end() }
    number.withLock { $0 = own }
    // It may have ended before it had its number.
    if sessions.withLock({ $0[session.id] }) == nil { links.remove(own) }
    return try await session.start(callback: callback)
  }

  /// The session of an id, for one who knows its secret.
  private func session(_ id: String, _ password: String) -> PollSession? {
    guard let session = sessions.withLock({ $0[id] }), session.password == password else { return nil }
    return session
  }

  private static func script(_ bytes: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      .ok, fields: [.contentType: DatabasePollAnswer.contentType, .cacheControl: "no-store"],
      body: .bytes(bytes))
  }
}
