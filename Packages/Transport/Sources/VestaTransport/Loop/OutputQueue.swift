/// Bytes on their way to a socket: small ones are gathered in one buffer, large arrays are passed on as they are, so
/// that many connections can share one.
struct OutputQueue {
  /// The size from which on an array is not copied.
  private let sharedBytes: Int
  private var segments: [[UInt8]] = []
  private var firstSegment = 0
  /// The number of bytes of the first segment that were written.
  private var written = 0
  /// The buffer that is being filled; it follows the segments.
  var tail: [UInt8] = []

  /// The number of bytes that wait.
  private(set) var segmentBytes = 0

  /// - Parameter sharedBytes: The size from which on an array is not copied.
  init(sharedBytes: Int = TransportTuning().sharedBytes) { self.sharedBytes = max(1, sharedBytes) }

  var count: Int { segmentBytes + tail.count - (segmentBytes == 0 ? written : 0) }
  var isEmpty: Bool { count == 0 }

  /// Adds bytes after all others.
  mutating func append(_ bytes: [UInt8]) {
    guard bytes.count >= sharedBytes else { return tail.append(contentsOf: bytes) }
    if !tail.isEmpty {
      sealTail()
      tail = []
    }
    segments.append(bytes)
    segmentBytes += bytes.count
  }

  private mutating func sealTail() {
    segments.append(tail)
    segmentBytes += tail.count - (segmentBytes == 0 ? written : 0)
  }

  /// Writes as much as the socket takes.
  ///
  /// - Returns: `moved` with the number of bytes when all were written, `wouldBlock` when some are left.
  mutating func write(to descriptor: Int32) -> SocketOutcome { write { PlatformSocket.write(descriptor, $0) } }

  /// Writes as much as a closure takes, which says how many bytes it has moved.
  @inline(__always)
  mutating func write(by move: (UnsafeRawBufferPointer) -> SocketOutcome) -> SocketOutcome {
    var total = 0
    while firstSegment < segments.count {
      let segment = segments[firstSegment]
      let outcome = segment.withUnsafeBytes { move(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      guard case .moved(let count) = outcome else { return outcome }
      total += count
      written += count
      segmentBytes -= count
      guard written == segment.count else { continue }
      segments[firstSegment] = []
      firstSegment += 1
      written = 0
    }
    segments.removeAll(keepingCapacity: false)
    firstSegment = 0
    while written < tail.count {
      let outcome = tail.withUnsafeBytes { move(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      guard case .moved(let count) = outcome else { return outcome }
      total += count
      written += count
    }
    tail.removeAll(keepingCapacity: true)
    written = 0
    return .moved(total)
  }
}
