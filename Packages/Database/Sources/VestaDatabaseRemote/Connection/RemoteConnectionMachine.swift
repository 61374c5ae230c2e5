import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop

/// The client's side of a connection, as a value: requests in, frames out, frames in, messages out.
///
/// It knows which request a reply answers, which host serves the database, and when a silent connection is lost. It
/// does not connect again: that is the client's own decision.
///
/// ```
/// send(.get("a"), id: 41)                        ->  write({"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}})
/// {"t":"d","d":{"r":1,"b":{"s":"ok","d":7}}}     ->  deliver(.reply(41, …))
/// ```
struct RemoteConnectionMachine: Sendable {
  /// The next action.
  enum Action: Sendable, Equatable {
    /// Opens a WebSocket, at another host where one is given; an earlier one is left.
    case open(host: String?)
    /// Sends the frames of one message.
    case write([[UInt8]])
    /// Hands a message to the client.
    case deliver(DatabaseServerMessage)
    /// Keeps the host for the next connections; `nil` for the one that was configured.
    case remember(host: String?)
    /// Calls ``timeIs(_:)`` at a time.
    case wait(until: Int64)
    /// Closes the WebSocket, after what was sent.
    case disconnect
  }

  private enum Phase: Equatable {
    /// The WebSocket is not open.
    case opening
    /// The first message has not arrived.
    case greeting
    /// The first message waits until the connection's own credential is accepted.
    case signingIn(DatabaseHello)
    case open
    case ended
  }

  private struct Pending {
    /// The number of the client; `nil` for the sign-in with the connection's own credential.
    let id: Int?
    let kind: DatabaseReplyKind
  }

  private let tuning: DatabaseRemoteTuning
  private let followsHosts: Bool
  private var phase = Phase.opening
  private var host: String?
  private var hasMoved = false
  private var keepsTokensSecret = false
  private var credential: DatabaseCredential?
  private var pieces: DatabasePieceMachine

  // Requests.
  private var early: [(request: DatabaseRequest, id: Int)] = []
  private var pending: [Int: Pending] = [:]
  private var number = 0

  // Signs of life.
  private var lastSent: Int64 = 0
  private var lastReceived: Int64 = 0
  /// When the service was asked for a sign of life, which has not arrived.
  private var askedAt: Int64?

  /// - Parameters:
  ///   - host: The host to which the last connection was redirected; `nil` for the one that was configured.
  ///   - followsHosts: Whether the service names the host that serves a database.
  init(host: String?, followsHosts: Bool, tuning: DatabaseRemoteTuning) {
    (self.host, self.followsHosts, self.tuning) = (host, followsHosts, tuning)
    pieces = DatabasePieceMachine(tuning: tuning.wire)
  }

  // MARK: Opening and ending

  /// Begins.
  func start() -> [Action] { [.open(host: host)] }

  /// The WebSocket is open.
  ///
  /// - Parameters:
  ///   - credential: The connection's own credential; `nil` for a caller who is not signed in.
  ///   - keepsTokensSecret: Whether tokens may be sent on it.
  ///   - now: The time.
  mutating func opened(_ credential: DatabaseCredential?, keepsTokensSecret: Bool, at now: Int64) -> [Action] {
    guard phase == .opening else { return [] }
    phase = .greeting
    (self.credential, self.keepsTokensSecret) = (credential, keepsTokensSecret)
    (lastSent, lastReceived, askedAt) = (now, now, nil)
    return [.wait(until: now + interval)]
  }

  /// The WebSocket has ended, or could not be opened.
  mutating func lost(_ reason: String) -> [Action] {
    // The host that was named before may be switched off; the configured one names another.
    let isUnreached = (phase == .opening || phase == .greeting) && host != nil
    return (isUnreached ? [.remember(host: nil)] : []) + end(reason)
  }

  /// The client hangs up.
  mutating func close() -> [Action] { end("The connection was closed.") }

  private mutating func end(_ reason: String) -> [Action] {
    guard phase != .ended else { return [] }
    phase = .ended
    (early, pending) = ([], [:])
    return [.deliver(.closed(reason: reason)), .disconnect]
  }

  /// Ends the connection in a way that connecting again does not mend.
  private mutating func fail(_ reason: String) -> [Action] {
    guard phase != .ended else { return [] }
    return [.deliver(.failed(reason: reason))] + end(reason)
  }

  // MARK: Requests

  /// The client sends a request.
  mutating func send(_ request: DatabaseRequest, id: Int, at now: Int64) -> [Action] {
    switch phase {
    case .ended: return []
    case .open: return write(request, id: id, at: now)
    case .opening, .greeting, .signingIn:
      early.append((request, id))
      return []
    }
  }

  private mutating func write(_ request: DatabaseRequest, id: Int?, at now: Int64) -> [Action] {
    guard keepsTokensSecret || !request.hasSecret else { return fail(Self.inClear) }
    do throws(BytesError) {
      let text = try DatabaseClientWire.bytes(of: .request(number + 1, request))
      guard text.count <= tuning.requestBytes else {
        throw BytesError(.limitExceeded, "the request has more than \(tuning.requestBytes) bytes")
      }
      let frames = try DatabasePieces.frames(of: text, tuning: tuning.wire)
      number += 1
      pending[number] = Pending(id: id, kind: DatabaseReplyKind(answering: request))
      lastSent = now
      return [.write(frames)]
    } catch {
      let status = error.code == .limitExceeded ? DatabaseStatus.tooBig : .invalid
      guard let id else { return end(error.message) }
      return [.deliver(.reply(id, DatabaseReply(status, message: error.message)))]
    }
  }

  private static let inClear = """
    A token would be sent to the database in clear text. Use https, or allow tokens in clear text for a network that \
    you trust.
    """

  // MARK: Frames

  /// A text has arrived.
  mutating func received(_ frame: [UInt8], at now: Int64) -> [Action] {
    guard phase != .ended, phase != .opening else { return [] }
    (lastReceived, askedAt) = (now, nil)
    do {
      guard let json = try pieces.received(frame),
        let message = try DatabaseServerWire.frame(json: json, tuning: tuning.wire)
      else { return [] }
      return received(message, at: now)
    } catch {
      return lost("The service has sent what cannot be read: \(error)")
    }
  }

  private mutating func received(_ frame: DatabaseServerFrame, at now: Int64) -> [Action] {
    switch frame {
    case .handshake(let hello, let host): return greeted(hello, by: host, at: now)
    case .redirect(let host): return redirected(to: host)
    case .shutdown(let reason): return [.deliver(.shutdown(reason: reason))] + end(reason)
    case .reply(let number, let body): return replied(number, body, at: now)
    case .log(let text): return phase == .open ? [.deliver(.debug(text))] : []
    case .push, .listensRevoked: return phase == .open ? frame.messages.map { .deliver($0) } : []
    case .pong, .upgradeReady, .endOfTransmission: return []
    }
  }

  private mutating func greeted(_ hello: DatabaseHello, by host: String, at now: Int64) -> [Action] {
    guard phase == .greeting else { return [] }
    let memory: [Action] = followsHosts && !host.isEmpty ? [.remember(host: host)] : []
    guard let credential else { return memory + begin(hello, at: now) }
    phase = .signingIn(hello)
    return memory + write(.authenticate(credential), id: nil, at: now)
  }

  private mutating func begin(_ hello: DatabaseHello, at now: Int64) -> [Action] {
    phase = .open
    var actions: [Action] = [.deliver(.hello(hello))]
    let requests = early
    early = []
    for (request, id) in requests { actions += send(request, id: id, at: now) }
    return actions
  }

  /// Another host serves the database.
  ///
  /// Before the first message nothing is lost by a move; afterwards the client connects again, and asks again for all
  /// that it wants.
  private mutating func redirected(to host: String) -> [Action] {
    guard followsHosts, !host.isEmpty else { return end("The service names another host, which is not followed.") }
    guard phase == .greeting, !hasMoved else {
      return [.remember(host: host)] + end("The database has moved to \(host).")
    }
    hasMoved = true
    self.host = host
    phase = .opening
    pieces = DatabasePieceMachine(tuning: tuning.wire)
    return [.remember(host: host), .open(host: host)]
  }

  private mutating func replied(_ number: Int, _ body: DatabaseReplyBody, at now: Int64) -> [Action] {
    guard let request = pending.removeValue(forKey: number) else { return [] }
    let reply: DatabaseReply
    do throws(BytesError) {
      reply = try body.reply(to: request.kind)
    } catch {
      reply = DatabaseReply(.invalid, message: "The reply of the service cannot be read: \(error.message)")
    }
    if let id = request.id { return [.deliver(.reply(id, reply))] }
    guard case .signingIn(let hello) = phase else { return [] }
    guard reply.status == .ok else { return end("\(reply.status): \(reply.message)") }
    return begin(hello, at: now)
  }

  // MARK: Signs of life

  private var interval: Int64 { tuning.keepAlive.microseconds }

  /// The time that was waited for.
  ///
  /// A connection that has been silent asks for a sign of life, which an available service always sends.
  mutating func timeIs(_ now: Int64) -> [Action] {
    guard phase != .ended, phase != .opening else { return [] }
    if let askedAt, now >= askedAt + tuning.answerTime.microseconds { return lost("The service is silent.") }
    var actions: [Action] = []
    if askedAt == nil, now >= lastReceived + interval {
      askedAt = now
      lastSent = now
      actions = [.write((try? [DatabaseClientWire.bytes(of: .ping)]) ?? [])]
    } else if now >= lastSent + interval {
      lastSent = now
      actions = [.write([DatabasePieces.keepAlive])]
    }
    let answer = askedAt.map { $0 + tuning.answerTime.microseconds } ?? lastReceived + interval
    return actions + [.wait(until: max(now + 1, min(lastSent + interval, answer)))]
  }
}

extension DatabaseRequest {
  /// Whether the request has a token that only its receiver may see; the word by which emulators know the owner is
  /// none.
  fileprivate var hasSecret: Bool {
    switch self {
    case .authenticate(let credential): credential.token != "owner"
    case .appCheck: true
    default: false
    }
  }
}
