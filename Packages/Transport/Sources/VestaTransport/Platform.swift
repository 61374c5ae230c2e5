import CVestaTransport
import VestaTransportInterop

// The one file of this module that knows the platform.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

/// The outcome of reading from or writing to a socket that never blocks.
enum SocketOutcome: Equatable {
  /// This number of bytes was moved; 0 of a read is the end of the stream.
  case moved(Int)
  case wouldBlock
  case broken
}

/// Sockets of the system.
enum PlatformSocket {
  static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> SocketOutcome {
    outcome { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> SocketOutcome {
    outcome { send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
  }

  /// The first byte that was received, which stays there; `nil` when there is none.
  static func peek(_ descriptor: Int32) -> UInt8? {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) == 1 ? byte : nil
  }

  /// Writes a part of a file, without bringing it here.
  static func sendFile(_ descriptor: Int32, _ file: Int32, _ offset: Int64, _ count: Int) -> SocketOutcome {
    outcome { Int(vesta_send_file(descriptor, file, offset, UInt64(count))) }
  }

  private static func outcome(_ move: () -> Int) -> SocketOutcome {
    while true {
      let count = move()
      if count >= 0 { return .moved(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN, EWOULDBLOCK: return .wouldBlock
      default: return .broken
      }
    }
  }

  /// Accepts a connection that never blocks; the negative of the error's number on failure.
  static func accept(_ descriptor: Int32) -> Int32 { vesta_accept(descriptor) }

  static func close(_ descriptor: Int32) { _ = systemClose(descriptor) }

  /// Says that nothing more is sent; the peer reads what was sent, and then the end.
  static func finish(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the close a reset: the peer does not take what it got for the whole.
  static func resetOnClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Small writes leave at once.
  static func sendAtOnce(_ descriptor: Int32) { set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  /// A socket that listens.
  ///
  /// - Parameter shares: Whether other sockets of the process may listen at the same address.
  static func listen(
    at address: SocketAddress, shares: Bool, backlog: Int
  ) throws(TransportError) -> Int32 {
    let descriptor = socket(
      address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw failure("There is no socket") }
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if shares { set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
    if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    let isBound = address.withPointer { bind(descriptor, $0, $1) } == 0
    // Without a backlog it is a probe of whether the address is free.
    guard isBound, backlog == 0 || systemListen(descriptor, Int32(backlog)) == 0 else {
      let error = failure("Cannot listen at \(address.transportAddress)")
      _ = systemClose(descriptor)
      throw error
    }
    return descriptor
  }

  /// An error of the system in words.
  struct SystemError: Error {
    let text: String
    /// Whether the process or the system has no descriptors or memory left.
    let isExhausted: Bool

    /// The last error of the calling thread.
    static var last: SystemError {
      let number = errno
      return SystemError(text: String(cString: strerror(number)), isExhausted: PlatformSocket.isExhausted(number))
    }
  }

  /// Begins to connect; the socket becomes writable when it has succeeded or failed.
  static func connect(to address: SocketAddress) -> Result<Int32, SystemError> {
    let descriptor = socket(
      address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .failure(.last) }
    let status = address.withPointer { systemConnect(descriptor, $0, $1) }
    if status == 0 || errno == EINPROGRESS { return .success(descriptor) }
    let error = SystemError.last
    _ = systemClose(descriptor)
    return .failure(error)
  }

  /// The error with which connecting has failed; `nil` when it has succeeded.
  static func connectError(_ descriptor: Int32) -> String? {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else {
      return String(cString: strerror(error))
    }
    return nil
  }

  private static func failure(_ what: String) -> TransportError {
    TransportError(.cannotListen, "\(what): \(String(cString: strerror(errno))).", mayHaveBeenProcessed: false)
  }

  /// The address of this end of a socket.
  static func localAddress(_ descriptor: Int32) -> TransportAddress? {
    SocketAddress { getsockname(descriptor, $0, $1) }?.transportAddress
  }

  /// The address of the other end of a socket.
  static func peerAddress(_ descriptor: Int32) -> TransportAddress? {
    SocketAddress { getpeername(descriptor, $0, $1) }?.transportAddress
  }

  /// A descriptor of nothing, kept for the time when there is none left.
  static func spare() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

  /// Whether no file can be opened at present, for want of descriptors: the look-up of a name then finds nothing.
  static var isOutOfDescriptors: Bool {
    let descriptor = spare()
    if descriptor < 0 { return isExhausted(errno) }
    close(descriptor)
    return false
  }

  /// Whether an error of accepting says that the process or the system has no descriptors or memory left.
  static func isExhausted(_ error: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) }

  static func isNothingToAccept(_ error: Int32) -> Bool { error == EAGAIN || error == EWOULDBLOCK }
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  connect(descriptor, address, length)
}

private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

/// An address as the system has it.
struct SocketAddress {
  private var storage: sockaddr_storage
  private var length: socklen_t

  var family: Int32 { Int32(storage.ss_family) }

  /// An address with a number of a host; `nil` for one that is a name or is not valid.
  init?(host: String, port: Int) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let first = list?.pointee else { return nil }
    defer { freeaddrinfo(list) }
    self.init(first)
  }

  private init(_ info: addrinfo) {
    storage = sockaddr_storage()
    length = min(info.ai_addrlen, socklen_t(MemoryLayout<sockaddr_storage>.size))
    let count = Int(length)
    withUnsafeMutableBytes(of: &storage) { storage in
      storage.copyMemory(from: UnsafeRawBufferPointer(start: info.ai_addr, count: count))
    }
  }

  /// The addresses of a name in the order in which to try them: families take turns, the system's favourite first.
  ///
  /// Blocks until the system knows.
  @Sendable static func lookUp(_ host: String, _ port: Int) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    // Unsafe pointers of the system, followed to the end of its list.
    var next = list
    while let entry = next {
      found.append(SocketAddress(entry.pointee))
      next = entry.pointee.ai_next
    }
    return AddressRace.order(found) { $0.family }
  }

  /// The bytes of the address, four or sixteen.
  var bytes: [UInt8] {
    withUnsafeBytes(of: storage) { raw in
      switch family {
      case AF_INET: Array(raw.dropFirst(4).prefix(4))
      case AF_INET6: Array(raw.dropFirst(8).prefix(16))
      default: []
      }
    }
  }

  /// An address that the system fills in.
  init?(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // Unsafe pointers, used inside the closures only: a storage is made to be seen as any address.
    let status = withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { fill($0, &length) }
    }
    guard status == 0 else { return nil }
    self.storage = storage
    self.length = length
  }

  func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    withUnsafePointer(to: storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  var transportAddress: TransportAddress {
    var host = [CChar](repeating: 0, count: 64)
    var port = [CChar](repeating: 0, count: 8)
    let status = withPointer { address, length in
      getnameinfo(
        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
    }
    guard status == 0 else { return .internet(host: "unknown", port: 0) }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return .internet(host: text(host), port: Int(text(port)) ?? 0)
  }
}

/// Files of the system.
enum PlatformFile {
  /// The values that change when a file is written or replaced.
  struct Stamp: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let seconds: Int64
    let nanoseconds: Int64
    let isRegular: Bool
  }

  static func stamp(_ path: String) -> Stamp? {
    var facts = stat()
    return stat(path, &facts) == 0 ? Stamp(facts) : nil
  }

  static func stamp(_ descriptor: Int32) -> Stamp? {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 ? Stamp(facts) : nil
  }

  static func open(_ path: String) -> Int32 { systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

  /// The whole file; `nil` when it cannot be read, or is longer than the limit.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    let descriptor = open(path)
    guard descriptor >= 0 else { return nil }
    defer { PlatformSocket.close(descriptor) }
    guard let size = stamp(descriptor)?.size, size <= limit else { return nil }
    return read(descriptor, at: 0, count: limit)
  }

  /// Bytes of a file; fewer at its end, `nil` after a failure.
  static func read(_ descriptor: Int32, at offset: Int64, count: Int) -> [UInt8]? {
    var got = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while initialized < count {
        got = pread(
          descriptor, buffer.baseAddress?.advanced(by: initialized), count - initialized,
          off_t(offset) + off_t(initialized))
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { break }
        initialized += got
      }
    }
    return got < 0 ? nil : bytes
  }
}

extension PlatformFile.Stamp {
  fileprivate init(_ facts: stat) {
    device = UInt64(truncatingIfNeeded: facts.st_dev)
    inode = UInt64(truncatingIfNeeded: facts.st_ino)
    size = Int64(facts.st_size)
    #if canImport(Darwin)
      (seconds, nanoseconds) = (Int64(facts.st_mtimespec.tv_sec), Int64(facts.st_mtimespec.tv_nsec))
    #else
      (seconds, nanoseconds) = (Int64(facts.st_mtim.tv_sec), Int64(facts.st_mtim.tv_nsec))
    #endif
    isRegular = facts.st_mode & S_IFMT == S_IFREG
  }
}

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

/// Readiness of many descriptors, a wake-up among them.
struct PlatformPoll: Sendable {
  private let poll: Int32
  private let wakeDescriptor: Int32

  /// The watched events, and the events that have happened.
  struct Interest: OptionSet {
    let rawValue: UInt32
    static let readable = Interest(rawValue: 1)
    static let writable = Interest(rawValue: 2)
    /// The peer sends nothing more.
    static let finished = Interest(rawValue: 4)
    /// The connection is over, both ways; it is reported without being asked for.
    static let broken = Interest(rawValue: 8)
  }

  /// The token of the wake-up.
  static let wakeToken = UInt64.max

  /// - Returns: `nil` when the process has no descriptors left.
  init?() {
    poll = vesta_poll_create()
    wakeDescriptor = vesta_wake_create()
    guard poll >= 0, wakeDescriptor >= 0 else {
      close()
      return nil
    }
    _ = vesta_poll_add(poll, wakeDescriptor, Interest.readable.rawValue, Self.wakeToken)
  }

  func close() {
    for descriptor in [poll, wakeDescriptor] where descriptor >= 0 { PlatformSocket.close(descriptor) }
  }

  func wake() { vesta_wake(wakeDescriptor) }

  func add(_ descriptor: Int32, _ interest: Interest, token: UInt64) -> Bool {
    vesta_poll_add(poll, descriptor, interest.rawValue, token) == 0
  }

  func change(_ descriptor: Int32, _ interest: Interest, token: UInt64) {
    _ = vesta_poll_change(poll, descriptor, interest.rawValue, token)
  }

  func remove(_ descriptor: Int32) { _ = vesta_poll_remove(poll, descriptor) }

  /// Waits for events, and calls with each but the wake-up.
  @inline(__always)
  func wait(
    _ events: UnsafeMutableBufferPointer<vesta_event>, milliseconds: Int32, _ body: (UInt64, Interest) -> Void
  ) {
    let count = vesta_poll_wait(poll, events.baseAddress, Int32(events.count), milliseconds)
    var index = 0
    while index < Int(count) {
      let event = events[index]
      if event.token == Self.wakeToken {
        vesta_wake_clear(wakeDescriptor)
      } else {
        body(event.token, Interest(rawValue: event.events))
      }
      index += 1
    }
  }
}

/// The buffer in which the system writes events.
typealias PlatformEvent = vesta_event

enum PlatformClock {
  /// Nanoseconds of a clock that does not jump.
  @inline(__always)
  static var nanoseconds: Int64 { vesta_nanoseconds() }

  /// Seconds since 1970.
  static var secondsSince1970: Int { time(nil) }
}

/// The network of the machine.
enum PlatformNetwork {
  /// A socket on which the system reports changes; `nil` where there is none.
  static func changes() -> Int32? {
    let descriptor = vesta_network_changes()
    return descriptor < 0 ? nil : descriptor
  }
}

/// The process.
enum PlatformProcess {
  /// The variables of the environment that are about proxies.
  static var proxyVariables: [String: String] {
    var found: [String: String] = [:]
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
      if let value = getenv(name) { found[name] = String(cString: value) }
    }
    return found
  }
}

/// Threads of the process's own.
enum PlatformThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// A number of the calling thread, which no other thread that runs has.
  @inline(__always)
  static var current: UInt { UInt(pthread_self()) }

  /// The number of cores.
  static var coreCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// - Returns: Whether the system had a thread to give.
  static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
    // The reference is taken up by the thread, or given back here.
    let body = Unmanaged.passRetained(Body(run))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    if status == 0 { pthread_detach(thread) } else { body.release() }
    return status == 0
  }
}
