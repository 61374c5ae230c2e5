// The one file of this module that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A stream socket on the loopback address, closed with its last reference.
final class ProxySocket: Sendable {
  let descriptor: Int32

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { _ = close(descriptor) }

  private static var stream: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      SOCK_STREAM
    #endif
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Unsafe pointers, used inside the closure only.
  private static func withAddress(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  /// A socket that takes connections, on a free port; `nil` when there is none.
  static func listening() -> ProxySocket? {
    let socket = ProxySocket(socket(AF_INET, stream, 0))
    var address = address(port: 0)
    guard socket.descriptor >= 0, withAddress(&address, { bind(socket.descriptor, $0, $1) }) == 0,
      listen(socket.descriptor, 64) == 0
    else { return nil }
    return socket
  }

  /// A connection to a port; the loopback address answers at once.
  static func connected(port: UInt16) -> ProxySocket? {
    let descriptor = socket(AF_INET, stream, 0)
    var address = address(port: port)
    guard descriptor >= 0 else { return nil }
    let status = withAddress(&address) { connect(descriptor, $0, $1) }
    let socket = ProxySocket(descriptor)
    return status == 0 ? socket : nil
  }

  /// The port of a listening socket.
  var port: UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = ProxySocket.withAddress(&address) { pointer, _ in getsockname(descriptor, pointer, &length) }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The next connection that waits.
  func accepted() -> ProxySocket? {
    let client = accept(descriptor, nil, nil)
    return client < 0 ? nil : ProxySocket(client)
  }

  /// The received bytes: `nil` for nothing yet, empty when the other side has ended.
  func received() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    if count < 0 { return errno == EAGAIN || errno == EINTR ? nil : [] }
    return Array(bytes[..<count])
  }

  /// How many bytes were taken; `nil` when the other side has ended.
  func send(_ bytes: ArraySlice<UInt8>) -> Int? {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      // A write to a closed connection fails and raises no signal.
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    // Unsafe pointer, used inside the closure only.
    let count = bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
    return count
  }
}

/// The system's call, which a method with the same name hides.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  send(descriptor, bytes, count, flags)
}

/// Waiting for descriptors, more finely than by milliseconds.
enum ProxyWaiting {
  static func wait(reading: [Int32], writing: [Int32], atMost time: Duration) {
    var all = reading.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    all += writing.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
    // The system's call knows no less than a millisecond: shorter waits sleep.
    let isSoon = time < .milliseconds(1)
    poll(&all, nfds_t(all.count), isSoon ? 0 : Int32(time / .milliseconds(1)))
    guard isSoon, time > .zero, all.allSatisfy({ $0.revents == 0 }) else { return }
    let nanoseconds = min(50_000, time.components.attoseconds / 1_000_000_000)
    var pause = timespec(tv_sec: 0, tv_nsec: Int(nanoseconds))
    nanosleep(&pause, nil)
  }
}
