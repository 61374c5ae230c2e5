import CVestaHTTP2
import VestaTransportInterop

/// A connection of HTTP/2 as a machine: bytes of the peer in, events out; heads and bodies in, bytes out.
///
/// Frames, HPACK, windows and states are nghttp2's; no pointer of it leaves this type and its callbacks.
///
/// It belongs to one owner, on one loop. Nothing is called back: events wait until they are taken.
final class HTTP2Session {
  enum Role {
    case server
    case client
  }

  enum Event {
    /// The head of a request or a response; a response may have interim ones before.
    case head(Int32, HTTP2Head, isLast: Bool)
    case trailers(Int32, HTTPFields)
    /// A part of a body; its bytes are consumed by ``HTTP2Session/consume(_:of:)``.
    case body(Int32, [UInt8])
    /// The peer sends nothing more on the stream.
    case end(Int32)
    /// The stream is over, both ways.
    case closed(Int32, HTTP2Code)
    /// The peer serves no stream after this one.
    case goAway(last: Int32, HTTP2Code)
    case pong
  }

  let role: Role
  let tuning: TransportTuning
  // Sound as unchecked, here and below: one loop has the session, and no callback of the library is called while one of
  // these is being changed.
  /// The time that the owner has set, in nanoseconds.
  @exclusivity(unchecked) var now: Int64
  @exclusivity(unchecked) var events: [Event] = []
  /// The streams that the owner has, until it has taken their last event.
  @exclusivity(unchecked) var streams = HTTP2StreamTable()
  /// The head that is being received.
  @exclusivity(unchecked) var reader: HTTP2HeadReader
  /// Whether a head has begun and not ended.
  @exclusivity(unchecked) var isInHead = false
  /// Whether the peer has sent its settings.
  var hasSettings = false
  @exclusivity(unchecked) var control: FloodMachine
  var resets: FloodMachine
  @exclusivity(unchecked) var skipped: SkippedStreams
  /// Why this side ends the connection, if it does.
  var violation: String?
  @exclusivity(unchecked) private var block = HTTP2FieldBlock()
  /// The streams whose bodies continue when bytes are produced next.
  private var resumable: [HTTP2Stream] = []
  private var session: OpaquePointer?

  init(_ role: Role, _ tuning: TransportTuning, now: Int64) {
    self.role = role
    self.tuning = tuning
    self.now = now
    reader = HTTP2HeadReader(sizeLimit: tuning.headBytes, countLimit: tuning.fieldCount)
    control = FloodMachine(
      burst: tuning.http2ControlFrames, perSecond: tuning.http2ControlFramesPerSecond, now: now)
    skipped = SkippedStreams(limit: tuning.http2Streams)
    resets = FloodMachine(burst: tuning.http2Resets, perSecond: tuning.http2ResetsPerSecond, now: now)
    open()
  }

  deinit { nghttp2_session_del(session) }

  private func open() {
    var option: OpaquePointer?
    guard nghttp2_option_new(&option) == 0 else { return }
    defer { nghttp2_option_del(option) }
    nghttp2_option_set_no_auto_window_update(option, 1)
    nghttp2_option_set_no_closed_streams(option, 1)
    nghttp2_option_set_max_outbound_ack(option, max(1, tuning.http2QueuedFrames))
    nghttp2_option_set_max_send_header_block_length(option, 1 << 20)
    vesta_http2_limit_resets(option, UInt64(max(1, tuning.http2Resets)), UInt64(max(1, tuning.http2ResetsPerSecond)))
    vesta_http2_limit_continuations(option, max(1, tuning.headBytes / 16_384 + 8))
    // The owner releases the session before itself: the library's pointer to it is never used afterwards.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    switch role {
    case .server: nghttp2_session_server_new2(&session, HTTP2Callbacks.shared, owner, option)
    case .client: nghttp2_session_client_new2(&session, HTTP2Callbacks.shared, owner, option)
    }
    submitSettings()
  }

  private func submitSettings() {
    var settings = [
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(clamping: streamWindow)),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(clamping: tuning.headBytes)),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
    ]
    switch role {
    case .server:
      settings.append(
        nghttp2_settings_entry(
          settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
          value: UInt32(clamping: max(1, tuning.http2Streams))))
    case .client:
      settings.append(
        nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
    }
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    // The window of a connection begins with 65,535 bytes and is only made larger, so that no peer has to wait at once.
    nghttp2_session_set_local_window_size(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: max(65_535, tuning.http2ConnectionWindow)))
  }

  private var streamWindow: Int { max(1, min(tuning.http2StreamWindow, Int(Int32.max))) }

  // MARK: Bytes

  /// Reads bytes of the peer, all of them.
  ///
  /// - Returns: `false` when the connection cannot continue.
  func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let session else { return false }
    return nghttp2_session_mem_recv(session, bytes.baseAddress, bytes.count) >= 0
  }

  /// Appends what is to be sent to a buffer, until it has a number of bytes.
  ///
  /// - Returns: `false` when the connection cannot continue.
  func produce(into out: inout [UInt8], limit: Int) -> Bool {
    guard let session else { return false }
    if !resumable.isEmpty {
      for stream in resumable { resume(stream) }
      resumable.removeAll(keepingCapacity: true)
    }
    while out.count < limit {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0 else { return count == 0 }
      out.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
    }
    return true
  }

  /// Whether the connection has nothing more to read or to write: it has ended by an error or by agreement.
  var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

  /// The number of frames that wait to be sent, bodies not counted.
  var queuedFrames: Int { nghttp2_session_get_outbound_queue_size(session) }

  /// Says that bytes of a body were taken, so that the peer may send as many more.
  func consume(_ count: Int, of stream: Int32) {
    nghttp2_session_consume_stream(session, stream, count)
  }

  /// Says that bytes of any body were taken, for the window of the connection.
  func consumeConnection(_ count: Int) { nghttp2_session_consume_connection(session, count) }

  // MARK: Streams

  /// Begins a response.
  func respond(_ stream: HTTP2Stream, _ response: HTTPResponse, hasBody: Bool, date: [UInt8]) {
    block.removeAll()
    if response.status.code == 200 {
      block.append(":status", "200")
    } else {
      block.append(":status", decimal: response.status.code)
    }
    block.append(response.fields)
    if !response.fields.contains(.date) { block.append("date", bytes: date.dropFirst(6).dropLast(2)) }
    if let length = response.body.length, !response.status.forbidsBody, response.trailers.isEmpty {
      block.append("content-length", decimal: length)
    }
    if hasBody { stream.send(response.body, trailers: response.trailers) }
    stream.progressedAt = now
    _ = withUnsafePointer(to: Self.provider) { provider in
      block.withPairs { pairs, count in
        nghttp2_submit_response(session, stream.id, pairs, count, hasBody ? provider : nil)
      }
    }
  }

  /// Sends an interim response.
  func respondInterim(_ status: Int, to stream: Int32) {
    block.removeAll()
    block.append(":status", decimal: status)
    _ = block.withPairs { pairs, count in
      nghttp2_submit_headers(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, pairs, count, nil)
    }
  }

  /// Begins a request.
  ///
  /// - Returns: The number of its stream; `nil` when the connection has none left.
  func request(_ request: HTTPRequest) -> Int32? {
    block.removeAll()
    block.append(":method", request.method.name)
    block.append(":scheme", request.scheme)
    block.append(":authority", request.authority)
    block.append(":path", request.target)
    block.append(request.fields)
    let length = request.body.length
    if let length, length > 0 || ["POST", "PUT", "PATCH"].contains(request.method.name) {
      block.append("content-length", decimal: length)
    }
    let id = withUnsafePointer(to: Self.provider) { provider in
      block.withPairs { pairs, count in
        nghttp2_submit_request(session, nil, pairs, count, length == 0 ? nil : provider, nil)
      }
    }
    return id > 0 ? id : nil
  }

  /// Continues a body of which nothing was there.
  func resume(_ stream: HTTP2Stream) {
    guard stream.isDeferred else { return }
    stream.isDeferred = false
    stream.progressedAt = now
    nghttp2_session_resume_data(session, stream.id)
  }

  /// Continues a body when bytes are produced next; also from within a callback of the library.
  func resumeLater(_ stream: HTTP2Stream) { resumable.append(stream) }

  /// Ends a stream at once.
  func reset(_ stream: Int32, _ code: HTTP2Code) {
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
  }

  /// Asks for a sign of life.
  func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

  /// Says that the end is near, and asks for a sign of life: before it the peer has learned to open no more streams.
  func announceEnd() { nghttp2_submit_shutdown_notice(session) }

  /// Says after which stream nothing is served.
  func goAway(_ code: HTTP2Code = .noError) {
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(session), code.rawValue, nil,
      0)
  }

  /// Ends the connection when what is to be said has been sent.
  func terminate(_ code: HTTP2Code, _ why: String) {
    if violation == nil { violation = why }
    nghttp2_session_terminate_session(session, code.rawValue)
  }

  /// How many streams the peer accepts at a time.
  var peerStreamLimit: Int {
    Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// Whether the connection can have another stream of this side.
  var canRequest: Bool { nghttp2_session_check_request_allowed(session) != 0 }

  /// Sends trailers after the body that has just ended, from within the callback that ends it.
  func submitTrailers(_ trailers: HTTPFields, on stream: Int32) {
    block.removeAll()
    block.append(trailers)
    _ = block.withPairs { pairs, count in nghttp2_submit_trailer(session, stream, pairs, count) }
  }

  private static var provider: nghttp2_data_provider {
    nghttp2_data_provider(source: nghttp2_data_source(), read_callback: HTTP2Callbacks.read)
  }
}
