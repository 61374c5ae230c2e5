import VestaConcurrency
public import VestaTesting

/// A connection without a socket, whose faults a test chooses: it delays, splits, loses and cuts.
///
/// Everything happens on a manual clock, so a run is the same each time: nothing is delivered before the clock is
/// advanced, and with a latency of zero all that follows from it in the same `advance(by: .zero)`.
///
/// ```swift
/// let clock = ManualClock()
/// let pipe = ScriptedPipe(clock: clock, seed: 7)
/// pipe.setConditions(.init(latency: .milliseconds(20), largestPiece: 3))
/// pipe.server.setReceiver { event in machine.feed(event) }
/// pipe.client.send(Array("GET / HTTP/1.1\r\n".utf8))
/// clock.advance(by: .milliseconds(20))
/// ```
public final class ScriptedPipe: Sendable {
  /// How a direction behaves.
  public struct Conditions: Sendable {
    /// How long bytes travel.
    public var latency: Duration
    /// The largest piece in which bytes arrive, cut at random; `nil` for as they were sent.
    public var largestPiece: Int?
    /// After a number of bytes of a direction nothing arrives, not even its end: a network that is down.
    public var silentAfter: Int?
    /// After a number of bytes of a direction the connection is cut for both ends.
    public var cutAfter: Int?

    /// Conditions; nothing is wrong unless it is said.
    public init(
      latency: Duration = .zero, largestPiece: Int? = nil, silentAfter: Int? = nil, cutAfter: Int? = nil
    ) {
      self.latency = latency
      self.largestPiece = largestPiece
      self.silentAfter = silentAfter
      self.cutAfter = cutAfter
    }
  }

  /// An event that an end receives.
  public enum Event: Sendable, Equatable {
    /// Bytes of the other end.
    case bytes([UInt8])
    /// The other end sends nothing more.
    case finished
    /// The connection is cut; nothing follows.
    case lost
  }

  /// One end of the connection.
  public struct End: Sendable {
    let pipe: ScriptedPipe
    let side: Int

    /// Sets what receives; earlier bytes are delivered at once.
    public func setReceiver(_ receive: @escaping @Sendable (Event) -> Void) { pipe.setReceiver(receive, of: side) }

    /// Sends bytes; after the end they are lost.
    public func send(_ bytes: [UInt8]) { pipe.send(bytes, from: side) }

    /// Says that nothing follows.
    public func finish() { pipe.finish(side) }

    /// Cuts the connection for both ends.
    public func cut() { pipe.cut() }
  }

  fileprivate struct Direction {
    var conditions = Conditions()
    var random: SplitMix
    var sent = 0
    var lastArrival: Int64 = 0
    var isFinished = false
    var receive: (@Sendable (Event) -> Void)?
    var early: [Event] = []
  }

  private struct State {
    var directions: [Direction]
    var isCut = false
  }

  private let state: Locked<State>
  private let clock: ManualClock

  /// An open connection.
  ///
  /// - Parameters:
  ///   - clock: The clock on which bytes travel.
  ///   - seed: The seed of the cuts.
  public init(clock: ManualClock, seed: UInt64 = 1) {
    self.clock = clock
    state = Locked(
      State(directions: [Direction(random: SplitMix(seed: seed)), Direction(random: SplitMix(seed: seed &+ 1))]))
  }

  /// The end of the client.
  public var client: End { End(pipe: self, side: 0) }

  /// The end of the server.
  public var server: End { End(pipe: self, side: 1) }

  /// Whether the connection was cut.
  public var isCut: Bool { state.withLock { $0.isCut } }

  /// Sets how both directions behave from now on.
  public func setConditions(_ conditions: Conditions) {
    setConditions(fromClient: conditions, fromServer: conditions)
  }

  /// Sets how each direction behaves from now on; `nil` leaves one as it is.
  public func setConditions(fromClient: Conditions? = nil, fromServer: Conditions? = nil) {
    state.withLock { state in
      if let fromClient { state.directions[0].conditions = fromClient }
      if let fromServer { state.directions[1].conditions = fromServer }
    }
  }

  private func setReceiver(_ receive: @escaping @Sendable (Event) -> Void, of side: Int) {
    let early = state.withLock { state in
      state.directions[1 - side].receive = receive
      defer { state.directions[1 - side].early = [] }
      return state.directions[1 - side].early
    }
    for event in early { receive(event) }
  }

  private func send(_ bytes: [UInt8], from side: Int) {
    guard !bytes.isEmpty else { return }
    let (pieces, arrival, cuts) = state.withLock { state -> ([[UInt8]], Int64, Bool) in
      guard !state.isCut, !state.directions[side].isFinished else { return ([], 0, false) }
      return state.directions[side].take(bytes, now: clock.now)
    }
    if !pieces.isEmpty { arrive(pieces.map { .bytes($0) }, at: arrival, from: side) }
    if cuts { clock.schedule(at: arrival) { self.cut() } }
  }

  private func finish(_ side: Int) {
    let arrival = state.withLock { state -> Int64? in
      guard !state.isCut, !state.directions[side].isFinished else { return nil }
      state.directions[side].isFinished = true
      if let silent = state.directions[side].conditions.silentAfter, state.directions[side].sent >= silent {
        return nil
      }
      return state.directions[side].arrival(now: clock.now)
    }
    if let arrival { arrive([.finished], at: arrival, from: side) }
  }

  private func cut() {
    let isFirst = state.withLock { state in
      defer { state.isCut = true }
      return !state.isCut
    }
    guard isFirst else { return }
    for side in 0...1 { deliver(.lost, from: side) }
  }

  /// Delivers events at a time, by one timer: a long message has very many pieces.
  private func arrive(_ events: [Event], at time: Int64, from side: Int) {
    clock.schedule(at: time) {
      for event in events where !self.isCut { self.deliver(event, from: side) }
    }
  }

  private func deliver(_ event: Event, from side: Int) {
    let receive = state.withLock { state in
      if state.directions[side].receive == nil { state.directions[side].early.append(event) }
      return state.directions[side].receive
    }
    receive?(event)
  }
}

extension ScriptedPipe.Direction {
  /// When something that is sent now arrives: never before what was sent earlier.
  mutating func arrival(now: Int64) -> Int64 {
    let (seconds, attoseconds) = conditions.latency.components
    lastArrival = max(lastArrival, now + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    return lastArrival
  }

  /// The pieces in which bytes arrive, when they do, and whether the connection is cut after them.
  mutating func take(_ bytes: [UInt8], now: Int64) -> ([[UInt8]], Int64, Bool) {
    var arriving = bytes[...]
    if let silent = conditions.silentAfter { arriving = arriving.prefix(max(0, silent - sent)) }
    let untilCut = conditions.cutAfter.map { max(0, $0 - sent) }
    let cuts = untilCut.map { bytes.count >= $0 } ?? false
    if let untilCut { arriving = arriving.prefix(untilCut) }
    sent += bytes.count
    var pieces: [[UInt8]] = []
    while !arriving.isEmpty {
      let count = conditions.largestPiece.map { 1 + random.below(max(1, $0)) } ?? arriving.count
      pieces.append(Array(arriving.prefix(count)))
      arriving = arriving.dropFirst(count)
    }
    return (pieces, arrival(now: now), cuts)
  }
}
