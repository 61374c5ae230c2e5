import CVestaTLS
import Glibc
import VestaTransportInterop

@testable import VestaTransport

/// A client of TLS on a blocking socket, which a test drives step by step.
final class TLSRawPeer {
  let descriptor: Int32
  let session: TLSSession
  private var isOpen = true

  init(
    _ address: TransportAddress, _ context: TLSClientContext, host: String, resuming kept: TLSResumption? = nil
  ) throws {
    guard case .internet(let number, let port) = address, let place = SocketAddress(host: number, port: port) else {
      throw TransportError(.invalidArgument, "no address")
    }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    PlatformSocket.sendAtOnce(descriptor)
    guard place.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
      throw TransportError(.cannotConnect, "cannot connect")
    }
    session = try context.session(descriptor, host: host, resuming: kept)
  }

  deinit { close() }

  /// Makes the handshake; the error when it fails.
  func handshake() throws -> TransportError? {
    switch session.handshake() {
    case .done: nil
    case .failed(let error): error
    case .waits: TransportError(.timedOut, "the server does not answer")
    }
  }

  func send(_ text: String) {
    var text = text
    text.withUTF8 { _ = session.write(UnsafeRawBufferPointer($0)) }
  }

  /// The next bytes; empty at the end, `nil` when nothing arrives.
  func receive() -> String? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
    defer { buffer.deallocate() }
    guard case .moved(let count) = session.read(buffer) else { return nil }
    return String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
  }

  func receive(until text: String) -> String {
    var all = ""
    while all.components(text) == 0, let more = receive(), !more.isEmpty { all += more }
    return all
  }

  func close() {
    if isOpen { _ = Glibc.close(descriptor) }
    isOpen = false
  }
}
