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

/// The events that a descriptor is watched for, and the events that have occurred.
struct Watched {
  var descriptor: Int32
  var wantsToWrite: Bool
  var isReady = false
}

/// Waiting for descriptors.
///
/// It is no wait for a time: the bound is the interval at which the loop looks at the clock of the tuning.
enum PlatformPoll {
  /// Waits until something has happened to one of them, or the time is over.
  static func wait(for watched: inout [Watched], milliseconds: Int32) {
    var descriptors = watched.map { one in
      pollfd(fd: one.descriptor, events: Int16(POLLIN) | (one.wantsToWrite ? Int16(POLLOUT) : 0), revents: 0)
    }
    poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    for index in watched.indices { watched[index].isReady = descriptors[index].revents != 0 }
  }
}

/// A pipe that wakes the thread that waits for its end.
///
/// Both ends stay open as long as it has references: a late wake-up reaches neither a closed pipe, which would end the
/// process, nor another file that has the number by then.
package final class PlatformPipe: Sendable {
  /// The reading end, which a thread waits for.
  package let reading: Int32
  private let writing: Int32

  /// - Returns: `nil` when the process has no descriptors left.
  package init?() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  /// Makes the reading end ready.
  package func wake() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  /// Makes the reading end wait again.
  package func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(reading, &bytes, 256) > 0 {}
  }

  deinit {
    _ = close(reading)
    _ = close(writing)
  }
}

/// A dedicated thread.
enum PlatformThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// - Returns: Whether the system had a thread to give.
  static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
    // The reference is taken up by the thread, or given back here.
    let body = Unmanaged.passRetained(Body(run))
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = pthread_create(
        &thread, nil,
        {
          Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run(); return nil
        }, body.toOpaque())
      if status == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let status = pthread_create(
        &thread, nil,
        { argument in
          if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, body.toOpaque())
      if status == 0 { pthread_detach(thread) }
    #endif
    if status != 0 { body.release() }
    return status == 0
  }
}

/// Looking names of hosts up.
enum PlatformNames {
  /// The addresses of a name as numbers, best first; empty when there are none.
  ///
  /// Blocks until the system knows.
  @Sendable static func addresses(of name: String) -> [String] {
    var hints = addrinfo()
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [String] = []
    // Unsafe pointers of the system, followed to the end of its list.
    var next = list
    while let entry = next {
      var text = [CChar](repeating: 0, count: 128)
      let status = getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if status == 0, !found.contains(address) { found.append(address) }
      next = entry.pointee.ai_next
    }
    return found
  }
}

/// The value of a variable of the environment.
func environmentValue(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
