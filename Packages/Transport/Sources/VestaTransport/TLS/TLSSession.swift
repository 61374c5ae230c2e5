import CVestaTLS
import VestaTransportInterop

/// TLS on one socket: bytes in clear to and from the encrypted ones of the socket, without waiting.
///
/// Confined to the loop of its socket. The socket stays its owner's.
final class TLSSession {
  enum Progress {
    case done
    case waits(for: PlatformPoll.Interest)
    case failed(TransportError)
  }

  /// The event in place of further bytes.
  private enum End {
    /// The peer has announced that it sends nothing more.
    case said
    /// The connection ended without a word: something may be missing.
    case cutOff
    case broken
  }

  let pointer: OpaquePointer
  /// What OpenSSL's callbacks refer to.
  private let context: AnyObject
  private var end: End?
  /// Whether OpenSSL forbids further calls.
  private var isBroken = false
  /// Whether more could be read without a word from the socket.
  private(set) var hasMore = false
  /// Counts what a peer sends that is no data, such as new keys, which cost this side much and the peer little.
  private var control: FloodMachine?
  /// Called with what can resume this session later.
  var onResumption: ((TLSResumption) -> Void)?

  init(_ context: OpaquePointer, keeping owner: AnyObject, _ descriptor: Int32) throws(TransportError) {
    guard let pointer = SSL_new(context) else { throw TransportError(.exhausted, "There is no memory for TLS.") }
    guard vesta_tls_set_socket(pointer, TLSContext.socketMethod, descriptor) == 1 else {
      SSL_free(pointer)
      throw TransportError(.exhausted, "There is no memory for TLS.")
    }
    self.pointer = pointer
    self.context = owner
    SSL_set_ex_data(pointer, 0, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    // An end without the peer's word would make OpenSSL distrust a session that can be resumed.
    if !isBroken { SSL_set_shutdown(pointer, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
    SSL_free(pointer)
  }

  /// The protocol that was agreed on by ALPN; `nil` for none.
  var negotiatedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(pointer, &name, &count)
    guard let name, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// Whether an earlier session was resumed.
  var isResumed: Bool { SSL_session_reused(pointer) == 1 }

  /// The version that is spoken, such as `TLSv1.3`.
  var version: String { String(cString: SSL_get_version(pointer)) }

  /// Whether the connection ended without the peer's word that nothing is missing.
  var isCutOff: Bool { if case .cutOff = end { true } else { false } }

  func keep(_ resumption: OpaquePointer) -> Bool {
    guard let onResumption else { return false }
    onResumption(TLSResumption(resumption))
    return true
  }

  /// Sets how much a peer may send that is no data; without a call there is no limit.
  func limitMessages(_ tuning: TransportTuning, now: Int64) {
    control = FloodMachine(
      burst: tuning.tlsControlMessages, perSecond: tuning.tlsControlMessagesPerSecond, now: now)
  }

  /// - Returns: Whether the peer has sent more messages without data than it may.
  private func isFlooded() -> Bool {
    let count = vesta_tls_take_messages(pointer)
    guard count > 0, control != nil else { return false }
    let now = PlatformClock.nanoseconds
    for _ in 0..<count where !(control?.spend(now: now) ?? true) { return true }
    return false
  }

  // MARK: Moving

  /// Continues the handshake.
  ///
  /// - Parameter bytes: How many it reads before others have their turn.
  func handshake(bytes: Int = TransportTuning().handshakeBytes) -> Progress {
    ERR_clear_error()
    vesta_tls_allow(pointer, max(1, bytes))
    let status = SSL_do_handshake(pointer)
    if status == 1 {
      _ = vesta_tls_take_messages(pointer)
      hasMore = true
      return .done
    }
    switch SSL_get_error(pointer, status) {
    case SSL_ERROR_WANT_READ: return .waits(for: .readable)
    case SSL_ERROR_WANT_WRITE: return .waits(for: .writable)
    default:
      isBroken = true
      return .failed(TLSFailure.ofHandshake(pointer))
    }
  }

  /// Reads as much as is there and fits; `moved(0)` is the end.
  ///
  /// From the socket it takes hardly more than fits, whatever that turns out to be.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
    let outcome = readAll(buffer)
    guard isFlooded() else { return outcome }
    isBroken = true
    end = .broken
    hasMore = false
    return .broken
  }

  private func readAll(_ buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
    var count = 0
    hasMore = true
    vesta_tls_allow(pointer, buffer.count)
    while count < buffer.count, end == nil {
      ERR_clear_error()
      var got = 0
      if SSL_read_ex(pointer, buffer.baseAddress?.advanced(by: count), buffer.count - count, &got) == 1 {
        count += got
        // The rest is in the socket, which will say so.
        guard SSL_has_pending(pointer) == 1 else {
          hasMore = false
          return .moved(count)
        }
        continue
      }
      switch SSL_get_error(pointer, 0) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
        hasMore = false
        return count > 0 ? .moved(count) : .wouldBlock
      case SSL_ERROR_ZERO_RETURN: end = .said
      default:
        isBroken = true
        end = TLSFailure.isCutOff ? .cutOff : .broken
      }
    }
    if count > 0 { return .moved(count) }
    hasMore = false
    if case .broken = end { return .broken }
    return .moved(0)
  }

  /// Writes a part of the bytes; after `wouldBlock` it is called with the same bytes, and perhaps more, again.
  func write(_ bytes: UnsafeRawBufferPointer) -> SocketOutcome {
    guard !isBroken else { return .broken }
    guard !bytes.isEmpty else { return .moved(0) }
    ERR_clear_error()
    var put = 0
    if SSL_write_ex(pointer, bytes.baseAddress, bytes.count, &put) == 1 { return .moved(put) }
    switch SSL_get_error(pointer, 0) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    default:
      isBroken = true
      return .broken
    }
  }

  /// Says that nothing follows, as far as the socket takes it.
  func finish() {
    guard !isBroken else { return }
    ERR_clear_error()
    if SSL_shutdown(pointer) < 0 { ERR_clear_error() }
  }
}
