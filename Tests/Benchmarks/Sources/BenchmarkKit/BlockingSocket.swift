import Glibc

/// A connection whose thread waits.
public final class BlockingSocket {
  private let descriptor: Int32

  /// Connects to a port of this machine.
  public init?(port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let status = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, status == 0 else { return nil }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sends all bytes.
  public func send(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count
  }

  /// Receives a number of bytes, which are dropped.
  public func receive(_ count: Int) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) {
      recv(descriptor, $0.baseAddress, count, Int32(MSG_WAITALL)) == count
    }
  }

  /// Receives a number of bytes.
  public func bytes(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
  }

  /// Receives until the bytes end so.
  public func receive(until end: [UInt8]) -> Bool {
    var all: [UInt8] = []
    while !all.suffix(end.count).elementsEqual(end) {
      var byte: UInt8 = 0
      guard recv(descriptor, &byte, 1, 0) == 1 else { return false }
      all.append(byte)
    }
    return true
  }

  /// Receives the available bytes, at most `limit`; nothing at the end of the connection.
  public func some(upTo limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, limit, 0))
    }
  }
}
