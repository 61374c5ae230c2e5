import VestaConcurrency
import VestaTransportInterop

/// HTTP/2 on a connection of a server: frames become requests, responses become frames.
///
/// Confined to the loop of its connection.
// Sound as @unchecked Sendable: hooks of streams, on any thread, only hand work to the connection's loop.
final class HTTP2ServerSession: @unchecked Sendable {
  private(set) weak var owner: ServerConnection?
  let session: HTTP2Session
  let listener: ServerListener
  let loop: EventLoop
  private let peer: TransportPeer
  /// The number of tasks of handlers that run, also those whose stream is over.
  var runningTasks = 0
  /// The bytes of all bodies that are gathered.
  var collectedBytes = 0
  private var receivedAt: Int64
  private var pingedAt = Int64.max
  private var headBeganAt = Int64.max
  private var emptySince: Int64
  /// The time of the announcement that the end is near.
  private var announcedAt = Int64.max
  private var isLeaving = false
  /// The streams whose bodies have something to send, noted by other threads until a turn takes them all at once.
  private let resumed = Locked<[HTTP2ServerStream]>([])

  init(_ connection: ServerConnection) {
    owner = connection
    listener = connection.listener
    loop = connection.loop
    let unknown = TransportAddress.internet(host: "unknown", port: 0)
    peer = TransportPeer(
      address: PlatformSocket.peerAddress(connection.descriptor) ?? unknown, localAddress: listener.address,
      version: .http2, isSecure: connection.security != nil, executor: loop)
    session = HTTP2Session(.server, loop.tuning, now: loop.now)
    receivedAt = loop.now
    emptySince = loop.now
  }

  var tuning: TransportTuning { loop.tuning }

  // MARK: Bytes

  /// Whether more can be read: the peer takes the answers to what costs it nothing.
  var takesInput: Bool {
    guard let owner else { return false }
    return owner.output.count < tuning.backlogBytes || session.queuedFrames < tuning.http2QueuedFrames
  }

  func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
    session.now = loop.now
    receivedAt = loop.now
    pingedAt = .max
    guard session.receive(bytes) else { return endAtOnce() }
    if session.isInHead { if headBeganAt == .max { headBeganAt = loop.now } } else { headBeganAt = .max }
    takeEvents()
  }

  func pump() {
    guard let owner else { return }
    session.now = loop.now
    if !session.produce(into: &owner.output.tail, limit: tuning.backlogBytes) { return endAtOnce() }
    if !session.events.isEmpty { takeEvents() }
  }

  /// The error is sent to the peer as far as the socket takes it.
  private func endAtOnce() {
    guard let owner else { return }
    _ = session.produce(into: &owner.output.tail, limit: tuning.backlogBytes)
    owner.close(lingers: true)
  }

  /// Closes the connection when both sides are through with it.
  func turnEnded() {
    guard let owner, owner.output.isEmpty, session.isOver else { return }
    owner.close(lingers: true)
  }

  private func takeEvents() {
    var batch: [HTTP2Session.Event] = []
    swap(&batch, &session.events)
    guard let owner else { return }
    for event in batch where !owner.isClosed { take(event) }
    batch.removeAll(keepingCapacity: batch.count <= 256)
    if session.events.isEmpty { swap(&batch, &session.events) }
  }

  func stream(_ id: Int32) -> HTTP2ServerStream? {
    // Every stream of a server's session is one of these.
    session.streams[id].map { unsafeDowncast($0, to: HTTP2ServerStream.self) }
  }

  private func take(_ event: HTTP2Session.Event) {
    switch event {
    case .head(let id, let head, let isLast): began(id, head, isLast: isLast)
    case .body(let id, let bytes):
      if let stream = stream(id) { received(bytes, on: stream) } else { session.consumeConnection(bytes.count) }
    case .trailers(let id, let fields): stream(id)?.incoming?.finish(trailers: fields)
    case .end(let id): if let stream = stream(id) { bodyEnded(stream) }
    case .closed(let id, let code): if let stream = stream(id) { closed(stream, code) }
    case .pong: if announcedAt != .max { leave() }
    case .goAway: break
    }
  }

  private func closed(_ stream: HTTP2ServerStream, _ code: HTTP2Code) {
    session.streams[stream.id] = nil
    stream.isClosed = true
    letGo(of: stream)
    if let incoming = stream.incoming {
      incoming.fail(TransportError(.connectionLost, "The peer has ended the stream: \(code)."))
      stream.incoming = nil
    }
    if !stream.isLocalEnded { stream.stopSending() }
    stream.task?.cancel()
    stream.task = nil
    if session.streams.isEmpty { emptySince = loop.now }
  }

  /// Gives back what a body that was not taken holds.
  func letGo(of stream: HTTP2ServerStream) {
    if stream.unconsumed > 0 { session.consumeConnection(stream.unconsumed) }
    stream.unconsumed = 0
    collectedBytes -= stream.body.count
    stream.body = []
  }

  /// The request of a stream.
  func request(_ stream: HTTP2ServerStream, _ body: HTTPBody) -> HTTPRequest {
    let head = stream.head
    return HTTPRequest(
      head.method, head.target, scheme: peer.isSecure ? "https" : head.scheme, authority: head.authority,
      fields: head.fields, body: body, peer: peer)
  }

  /// Runs a closure in a later turn, from any thread.
  func perform(_ work: @escaping @Sendable () -> Void) {
    loop.perform { [weak self] in self?.owner?.turn(work) }
  }

  /// Sends soon what the body of a stream has, from any thread.
  func resumeSoon(_ stream: HTTP2ServerStream) {
    guard loop.isCurrent else {
      let isFirst = resumed.withLock { resumed in
        resumed.append(stream)
        return resumed.count == 1
      }
      if isFirst { loop.perform { [weak self] in self?.resumeLater() } }
      return
    }
    session.resumeLater(stream)
    owner?.writeSoon()
  }

  /// Takes over the streams that other threads have noted.
  private func resumeLater() {
    let streams = resumed.withLock { resumed in
      defer { resumed = [] }
      return resumed
    }
    for stream in streams { session.resumeLater(stream) }
    owner?.writeSoon()
  }

  // MARK: Time

  /// Whether something may have taken too long.
  ///
  /// A connection that waits, for requests or with streams that wait, costs this look and no turn: there may be
  /// thousands of them.
  func isDue(_ now: Int64) -> Bool {
    if !session.hasSettings || announcedAt != .max || headBeganAt != .max { return true }
    if pingedAt != .max, now - pingedAt >= loop.times.pingTimeout { return true }
    if session.streams.isEmpty { return now - emptySince >= loop.times.idle }
    if pingedAt == .max, now - receivedAt >= loop.times.pingInterval { return true }
    return session.streams.contains { stream in
      // Unsafe, and sound: the session of a server makes streams of this class alone.
      now >= unsafeDowncast(stream, to: HTTP2ServerStream.self).deadline || isStalled(stream, now)
    }
  }

  /// Whether the peer has taken nothing for too long of what is sent.
  private func isStalled(_ stream: HTTP2Stream, _ now: Int64) -> Bool {
    stream.isSending && !stream.isDeferred && !stream.isLocalEnded && now - stream.progressedAt >= loop.times.write
  }

  /// Looks at what has taken too long.
  func sweep(_ now: Int64) {
    session.now = now
    if !session.hasSettings, now - receivedAt >= loop.times.head || now - emptySince >= loop.times.head {
      session.terminate(.protocolError, "no settings in time")
    }
    if headBeganAt != .max, now - headBeganAt >= loop.times.head {
      session.terminate(.enhanceYourCalm, "a head that is late")
    }
    if session.streams.isEmpty {
      if now - emptySince >= loop.times.idle { leave() }
    } else if pingedAt == .max, now - receivedAt >= loop.times.pingInterval {
      pingedAt = now
      session.ping()
    }
    if pingedAt != .max, now - pingedAt >= loop.times.pingTimeout {
      owner?.abort()
      return
    }
    if announcedAt != .max, now - announcedAt >= loop.times.linger { leave() }
    for case let stream as HTTP2ServerStream in session.streams.values { look(at: stream, now) }
  }

  private func look(at stream: HTTP2ServerStream, _ now: Int64) {
    if now >= stream.deadline { return refuse(stream, HTTPResponse(.requestTimeout)) }
    if isStalled(stream, now) { session.reset(stream.id, .cancel) }
  }

  // MARK: The end

  /// Announces the end, so that the peer opens no more streams, and lets running ones end.
  func shutDown() {
    guard announcedAt == .max, !isLeaving else { return }
    announcedAt = loop.now
    session.announceEnd()
  }

  private func leave() {
    announcedAt = .max
    guard !isLeaving else { return }
    isLeaving = true
    session.goAway()
  }

  /// The connection has ended.
  func connectionEnded() {
    let lost = TransportError(.connectionLost, "The connection ended.")
    for case let stream as HTTP2ServerStream in session.streams.values {
      stream.isClosed = true
      stream.incoming?.fail(lost)
      stream.incoming = nil
      if !stream.isLocalEnded { stream.stopSending() }
      stream.task?.cancel()
      stream.task = nil
    }
    session.streams = HTTP2StreamTable()
  }
}
