import VestaBytes
import VestaConcurrency
import VestaTransportInterop

/// An open socket of a server or a client: reads, buffers what cannot be used yet, writes, and ends.
///
/// Each entry from outside (bytes, the end of a task, room in a stream) is one `turn`, at whose end everything that was
/// written leaves in one call. Subclasses say what bytes mean.
// Sound as @unchecked Sendable: it is touched on the thread of its loop alone; tasks and hooks return to it first.
class SocketConnection: Channel, @unchecked Sendable {
  let loop: EventLoop
  /// The TLS of the connection; `nil` for one in clear.
  let security: TLSSession?
  var output: OutputQueue
  /// The time on the loop's clock after which `timedOut` is called; `.max` for none.
  var deadline = Int64.max
  /// Whether the connection ends when everything has been written.
  var closesWhenWritten = false
  private var lingersWhenWritten = false
  private(set) var isClosed = false
  private(set) var isLingering = false
  private var isAborted = false
  private(set) var hasPeerFinished = false
  /// Received and not used yet.
  private(set) var kept: [UInt8] = []
  private var interest: PlatformPoll.Interest
  /// Whether what is kept is the beginning of something incomplete.
  private var isKeptIncomplete = false
  private var isInTurn = false
  /// Whether the peer has finished and the subclass does not know yet, because a reader lags.
  private var owesFinish = false
  /// The rest of a file that is sent after the output.
  private(set) var file: FileSection?
  /// Whether the rest of what TLS has received is read in a later turn.
  private var isReadingOn = false
  /// The last time at which the peer took something while more was waiting; `.max` while nothing waits.
  private var blockedSince = Int64.max

  init(
    _ descriptor: Int32, _ loop: EventLoop, security: TLSSession? = nil,
    _ interest: PlatformPoll.Interest = [.readable, .finished]
  ) {
    self.loop = loop
    self.security = security
    self.interest = interest
    output = OutputQueue(sharedBytes: loop.tuning.sharedBytes)
    super.init(descriptor)
    security?.limitMessages(loop.tuning, now: loop.now)
  }

  var tuning: TransportTuning { loop.tuning }

  // MARK: For subclasses

  /// Whether bytes can be used now.
  var takesInput: Bool { true }

  /// Uses bytes from the front, as many as it can.
  func consume(_ bytes: UnsafeBufferPointer<UInt8>) -> Int { bytes.count }

  /// Adds what is to be written, up to the backlog.
  func pump() {}

  /// Whether what was received waits for a reader who lags, and is still for that reader after the peer's end.
  var keepsForReader: Bool { false }

  /// The peer sends nothing more, and its bytes were used, or are of no use.
  func peerFinished() { end() }

  /// The deadline has passed.
  func timedOut() { abort() }

  /// The turn is over.
  func turnEnded() {}

  /// The connection is closed.
  func ended() {}

  // MARK: Entries

  override func ready(_ events: PlatformPoll.Interest) {
    if events.contains(.broken), !events.contains(.readable) { return abort() }
    turn {
      if events.contains(.readable) || events.contains(.finished) { receive() }
    }
  }

  override func sweep(_ now: Int64) {
    guard !isClosed else { return }
    if blockedSince != .max, now - blockedSince >= loop.times.write { return abort() }
    if now >= deadline { isLingering ? end() : timedOut() }
  }

  /// Runs a closure that may write, continues with the received bytes, and writes everything at once.
  func turn(_ body: () -> Void) {
    guard !isInTurn else { return body() }
    guard !isClosed else { return }
    isInTurn = true
    let isLent = output.isEmpty
    if isLent { swap(&output.tail, &loop.spareOutput) }
    body()
    if !kept.isEmpty { consumeKept() }
    if owesFinish { sayFinish() }
    flush()
    if isLent, output.isEmpty { swap(&output.tail, &loop.spareOutput) }
    isInTurn = false
    guard !isClosed else { return }
    turnEnded()
    if !isClosed { updateInterest() }
  }

  /// Runs a closure in a later turn, from any thread.
  func perform(_ work: @escaping @Sendable () -> Void) {
    loop.perform { [self] in turn(work) }
  }

  /// Writes soon what its streams have, from any thread.
  func writeSoon() {
    if loop.isCurrent { loop.callSoon(self) } else { perform {} }
  }

  override func calledSoon() { turn {} }

  // MARK: Reading

  /// Whether the connection has ended before the peer said that it would: a body that lasts until the end is not whole.
  var isCutOff: Bool { security?.isCutOff ?? false }

  /// Begins with the bytes received with the end of the handshake.
  func readOn() { turn { receive() } }

  private func read() -> SocketOutcome {
    guard let security, !isLingering else { return PlatformSocket.read(descriptor, loop.readBuffer) }
    return security.read(loop.readBuffer)
  }

  private func receive() {
    switch read() {
    case .moved(0):
      hasPeerFinished = true
      // A subclass that can still use what was received does so first.
      if !kept.isEmpty, takesInput { consumeKept() }
      owesFinish = true
      sayFinish()
    case .moved(let count):
      if isLingering { return }
      let bytes = UnsafeBufferPointer(
        start: loop.readBuffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count: count)
      guard kept.isEmpty else { return kept.append(contentsOf: bytes) }
      let used = takesInput ? consume(bytes) : 0
      isKeptIncomplete = takesInput
      if used < count, !isClosed, !isLingering { kept.append(contentsOf: bytes[used...]) }
    case .wouldBlock: break
    case .broken: abort()
    }
  }

  private func sayFinish() {
    guard isLingering || kept.isEmpty || !keepsForReader else { return }
    owesFinish = false
    if isLingering { end() } else if !isClosed { peerFinished() }
  }

  private func consumeKept() {
    guard takesInput, !isClosed else { return }
    // Moved out: a handler may return to this connection while its bytes are read.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    let used = bytes.withUnsafeBufferPointer { consume($0) }
    isKeptIncomplete = takesInput
    guard used < bytes.count, !isClosed, !isLingering else { return }
    if used > 0 { bytes.removeFirst(used) }
    kept = bytes
  }

  // MARK: Writing

  /// Writes what waits, as much as the socket takes.
  func write() -> SocketOutcome {
    if let security { return output.write { security.write($0) } }
    return output.write(to: descriptor)
  }

  /// Sends a part of a file after what waits to be written; `fileSent` says when it is over.
  func send(_ section: FileSection) { file = section }

  /// All of a file was sent.
  func fileSent() {}

  /// - Returns: Whether there is no rest of a file to wait for.
  private func writeFile() -> Bool {
    guard let section = file else { return true }
    let count = min(section.count, max(1, tuning.fileBytesPerTurn))
    switch PlatformSocket.sendFile(descriptor, section.file.descriptor, section.offset, count) {
    case .moved(let moved) where moved > 0:
      blockedSince = .max
      let rest = FileSection(section.file, offset: section.offset + Int64(moved), count: section.count - moved)
      file = rest.count > 0 ? rest : nil
      if rest.count == 0 { fileSent() }
      return rest.count == 0
    case .wouldBlock:
      if blockedSince == .max { blockedSince = loop.now }
      return false
    // The file has become shorter than it was said to be, or the peer has left.
    case .moved, .broken:
      abort()
      return false
    }
  }

  private func flush() {
    while !isClosed {
      pump()
      guard !isClosed else { return }
      if output.isEmpty {
        guard file != nil else { break }
        guard writeFile() else { return }
        continue
      }
      let count = output.count
      switch write() {
      case .moved: continue
      case .wouldBlock:
        if blockedSince == .max || output.count < count { blockedSince = loop.now }
        return
      case .broken: return abort()
      }
    }
    blockedSince = .max
    guard closesWhenWritten else { return }
    closesWhenWritten = false
    close(lingers: lingersWhenWritten)
  }

  private func updateInterest() {
    var wanted: PlatformPoll.Interest = []
    if !hasPeerFinished {
      wanted.insert(.finished)
      // Incomplete input needs more bytes, however many are kept: the machines have limits for it.
      let hasRoom = kept.isEmpty || (takesInput && (isKeptIncomplete || kept.count < tuning.backlogBytes))
      if isLingering || hasRoom { wanted.insert(.readable) }
    }
    if !output.isEmpty || file != nil { wanted.insert(.writable) }
    if wanted.contains(.readable), !isLingering { readRestOfTLS() }
    guard wanted != interest else { return }
    interest = wanted
    loop.change(self, wanted)
  }

  /// Reads on if TLS has read more from the socket than it was asked for: the socket does not say so again.
  private func readRestOfTLS() {
    guard let security, security.hasMore, !isReadingOn else { return }
    isReadingOn = true
    perform { [self] in
      isReadingOn = false
      receive()
    }
  }

  // MARK: The end

  /// Ends the connection after what is to be written.
  ///
  /// - Parameter lingers: Whether the peer may still be sending: closing at once would reset the connection, and the
  ///   peer
  ///   might not read what was written last.
  func close(lingers: Bool) {
    guard !isClosed, !isLingering else { return }
    kept = []
    if !output.isEmpty { flush() }
    guard !isClosed else { return }
    guard output.isEmpty else {
      closesWhenWritten = true
      lingersWhenWritten = lingers
      return
    }
    guard lingers, !hasPeerFinished else { return end() }
    security?.finish()
    PlatformSocket.finish(descriptor)
    isLingering = true
    deadline = loop.now + loop.times.linger
  }

  /// Ends the connection at once: the peer sees a reset where something is missing.
  func abort() {
    guard !isClosed else { return }
    PlatformSocket.resetOnClose(descriptor)
    isAborted = true
    end()
  }

  /// Closes the socket.
  func end() {
    guard !isClosed else { return }
    isClosed = true
    if !isAborted, !isLingering { security?.finish() }
    loop.remove(self)
    PlatformSocket.close(descriptor)
    kept = []
    output = OutputQueue(sharedBytes: 1)
    file = nil
    ended()
  }
}
