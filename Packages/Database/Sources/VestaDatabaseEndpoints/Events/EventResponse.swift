import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// A listen as a response that stays open: server-sent events.
///
/// The head is sent when the backend has let the caller listen; one who may not gets the status of the refusal.
struct EventResponse: Sendable {
  private let exchange: DatabaseExchange
  private let body = ByteStream()
  private let link: MessageLink

  init(_ exchange: DatabaseExchange) {
    self.exchange = exchange
    let request = DatabaseConnectRequest(namespace: exchange.place.namespace, context: exchange.context)
    link = MessageLink(to: exchange.backend, request, limit: exchange.tuning.backlog) { [body] in
      body.fail(TransportError(.exhausted, "The client reads too slowly."))
    }
  }

  func open() async throws -> HTTPResponse {
    do {
      try await exchange.checkIndex()
      let first = try await firstEvents()
      begin(first)
      return HTTPResponse(
        .ok,
        fields: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-cache"], body: .stream(body))
    } catch {
      link.close()
      throw error
    }
  }

  /// The events up to the reply to the listen: at least the data that is there.
  private func firstEvents() async throws -> [DatabaseStreamEvent] {
    let spec = exchange.call.spec
    link.send(
      .listen(DatabaseListen(path: exchange.call.path, spec: spec, tag: spec.loadsAllData ? nil : 1)), id: 1)
    var events: [DatabaseStreamEvent] = []
    while let message = try await link.nextMessage() {
      switch message {
      case .reply(1, let reply):
        guard reply.status == .ok else { throw DatabaseServiceError(reply) }
        return events.isEmpty ? [.put(.root, .empty)] : events
      case .closed(let reason): try await refuse(reason)
      default: if let event = DatabaseStreamEvent(message, at: exchange.call.path) { events.append(event) }
      }
    }
    throw DatabaseServiceError(.unavailable, "The connection has ended.")
  }

  /// Finds out why a connection was not opened: a call on its own says it.
  private func refuse(_ reason: String) async throws {
    var request = DatabaseReadRequest(
      namespace: exchange.place.namespace, path: exchange.call.path, spec: DatabaseQuerySpec(), depth: .keys)
    (request.spec.index, request.spec.limit) = (.key, .init(1, .first))
    _ = try await exchange.backend.read(request, context: exchange.context)
    throw DatabaseServiceError(.unavailable, reason)
  }

  // MARK: The stream

  private func begin(_ first: [DatabaseStreamEvent]) {
    let (body, link, links, path) = (body, link, exchange.links, exchange.call.path)
    let form = exchange.call.nodeForm
    let pulse = Pulse(exchange.host.clock, every: exchange.tuning.keepAlive) {
      // A client that has not read what waits does not wonder whether the stream is open.
      if body.pipe.backlog == 0 { link.insert(Self.bytes(of: .keepAlive, .plain)) }
    }
    let number = links.add {
      link.close()
      body.finish()
    }
    let writing = Task {
      defer {
        pulse.end()
        links.remove(number)
        link.close()
      }
      do {
        for event in first { try await body.write(Self.bytes(of: event, form)) }
        loop: while let item = try await link.items.next() {
          switch item {
          case .text(let bytes): try await body.write(bytes)
          case .message(let message):
            guard let event = DatabaseStreamEvent(message, at: path) else { continue }
            try await body.write(Self.bytes(of: event, form))
            if event.isLast { break loop }
          }
        }
        body.finish()
      } catch {
        // A client that has left, a server that shuts down, or one that reads too slowly: each has ended the body.
        body.finish()
      }
    }
    pulse.begin()
    body.pipe.setDemand(
      nil,
      onCancel: {
        link.close()
        writing.cancel()
      })
  }

  static func bytes(of event: DatabaseStreamEvent, _ form: NodeWire.Form) -> [UInt8] {
    ServerSentEvent(String(decoding: event.data(form: form), as: UTF8.self), name: event.name).encoded
  }
}

extension DatabaseStreamEvent {
  /// Whether nothing follows.
  fileprivate var isLast: Bool {
    switch self {
    case .cancel, .authRevoked: true
    case .put, .patch, .keepAlive: false
    }
  }
}
