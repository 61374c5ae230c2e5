import CVestaHTTP2
import VestaTransportInterop

/// The functions that the library calls while a session is fed or asked for bytes.
///
/// Each finds its session by the pointer that the session has given, and notes what has happened.
enum HTTP2Callbacks {
  /// One table for all sessions.
  // Sound as nonisolated(unsafe): made once, and only read afterwards.
  nonisolated(unsafe) static let shared: OpaquePointer? = {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, owner in
      guard let header else { return 0 }
      switch UInt32(header.pointee.type) {
      case NGHTTP2_HEADERS.rawValue:
        return with(owner) { session in
          session.beginsHead(header.pointee.stream_id)
          return 0
        }
      // The library ignores priorities, and this rule with them (RFC 9113, section 6.3).
      case NGHTTP2_PRIORITY.rawValue where header.pointee.stream_id == 0:
        return with(owner) { session in
          session.terminate(.protocolError, "a priority of no stream")
          return 0
        }
      default: return 0
      }
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, owner in
      with(owner) { session in
        session.isInHead = true
        session.reader.begin()
        return 0
      }
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, owner in
      with(owner) { session in
        let isBearable = session.reader.add(
          UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount))
        if !isBearable { session.terminate(.enhanceYourCalm, "a head beyond all measure") }
        return 0
      }
    }
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, owner in
      with(owner) { session in
        session.reader.isMalformed()
        return 0
      }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
      with(owner) { session in
        session.events.append(.body(stream, Array(UnsafeBufferPointer(start: bytes, count: count))))
        return 0
      }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
      guard let frame else { return 0 }
      return with(owner) { $0.received(frame.pointee) }
    }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, owner in
      guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
      return with(owner) { session in
        session.streams[frame.pointee.hd.stream_id]?.isHeadSent = true
        return 0
      }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
      guard let frame else { return 0 }
      return with(owner) { $0.sent(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, owner in
      guard let frame else { return 0 }
      return with(owner) { $0.notSent(frame.pointee, error) }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
      with(owner) { session in
        session.events.append(.closed(stream, HTTP2Code(code)))
        return 0
      }
    }
    return callbacks
  }()

  @inline(__always)
  private static func with(_ owner: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Int32) -> Int32 {
    guard let owner else { return Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    return Unmanaged<HTTP2Session>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
  }

  /// Takes the next bytes of a body.
  static let read: nghttp2_data_source_read_callback = { _, id, buffer, length, flags, _, owner in
    guard let owner, let flags, let buffer else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    return Unmanaged<HTTP2Session>.fromOpaque(owner)._withUnsafeGuaranteedRef { session in
      guard let stream = session.streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
      switch stream.produce(UnsafeMutableBufferPointer(start: buffer, count: length)) {
      case .some(let count):
        stream.progressedAt = session.now
        return count
      case .waits:
        stream.isDeferred = true
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      case .failed: return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
      case .last(let count, let trailers):
        stream.progressedAt = session.now
        flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
        if !trailers.isEmpty {
          flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
          session.submitTrailers(trailers, on: id)
        }
        return count
      }
    }
  }
}

extension HTTP2Session {
  /// Notes a frame that was received as a whole.
  func received(_ frame: nghttp2_frame) -> Int32 {
    let isLast = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    let isAnswer = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch UInt32(frame.hd.type) {
    case NGHTTP2_DATA.rawValue:
      if isLast {
        ended(frame.hd.stream_id)
      } else if frame.hd.length > frame.data.padlen {
        // Peers measure the line by pings while they send.
        control.earn(1)
      } else {
        countControl()
      }
    case NGHTTP2_HEADERS.rawValue:
      isInHead = false
      let head = reader.finish()
      let isTrailers = frame.headers.cat == NGHTTP2_HCAT_HEADERS && head.status == 0
      if isTrailers, head.problem == nil {
        events.append(.trailers(frame.hd.stream_id, head.fields))
      } else {
        events.append(.head(frame.hd.stream_id, head, isLast: isLast))
      }
      if isLast, isTrailers || role == .client { ended(frame.hd.stream_id) }
    case NGHTTP2_RST_STREAM.rawValue: countReset()
    case NGHTTP2_GOAWAY.rawValue:
      events.append(.goAway(last: frame.goaway.last_stream_id, HTTP2Code(frame.goaway.error_code)))
    case NGHTTP2_PING.rawValue:
      if isAnswer { events.append(.pong) } else { countControl() }
    case NGHTTP2_SETTINGS.rawValue:
      hasSettings = true
      if !isAnswer { countControl() }
    default: countControl()
    }
    return 0
  }

  /// Notes the beginning of a head, whatever becomes of it.
  func beginsHead(_ stream: Int32) {
    guard role == .server, stream & 1 == 1, !skipped.begins(stream) else { return }
    terminate(.protocolError, "a stream with a smaller number than one before")
  }

  private func ended(_ stream: Int32) {
    streams[stream]?.isRemoteEnded = true
    events.append(.end(stream))
  }

  /// Notes a frame that was sent.
  func sent(_ frame: nghttp2_frame) -> Int32 {
    switch UInt32(frame.hd.type) {
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
      control.earn(4)
      guard frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let stream = streams[frame.hd.stream_id]
      else { return 0 }
      stream.isLocalEnded = true
      // The rest of the request is not wanted (RFC 9113, section 8.1).
      if stream.resetsWhenAnswered, !stream.isRemoteEnded { reset(stream.id, .noError) }
    case NGHTTP2_RST_STREAM.rawValue:
      // A peer that makes this side reset its streams costs as much as one that resets them itself.
      let code = HTTP2Code(frame.rst_stream.error_code)
      if role == .server, code != .noError, code != .cancel { countReset() }
    case NGHTTP2_GOAWAY.rawValue:
      // Streams that the peer opened before it saw the announcement are here when the ping is answered.
      if frame.goaway.last_stream_id == .max { ping() }
    default: break
    }
    return 0
  }

  /// Notes a frame that the library could not make.
  func notSent(_ frame: nghttp2_frame, _ error: Int32) -> Int32 {
    // A head beyond the library's limit: the peer would wait for it for ever. Streams of requests are ended already.
    if UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue, frame.headers.cat != NGHTTP2_HCAT_REQUEST,
      error == NGHTTP2_ERR_FRAME_SIZE_ERROR.rawValue
    {
      reset(frame.hd.stream_id, .internalError)
    }
    return 0
  }

  private func countControl() {
    if !control.spend(now: now) { terminate(.enhanceYourCalm, "too many frames that carry nothing") }
  }

  private func countReset() {
    if role == .server, !resets.spend(now: now) { terminate(.enhanceYourCalm, "too many streams that were reset") }
  }
}
