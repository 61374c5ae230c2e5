import VestaConcurrency

/// The one thread that serves all connections of a pool: it waits for their sockets, and for what is handed to it.
///
/// Callers never block: they hand over a request, suspend, and are resumed with its answer.
final class PostgresLoop: Sendable {
  private enum Command: Sendable {
    case open(Int, Opening, PostgresLink.Completion)
    /// Statements, and later ones whose answers are not awaited.
    case run(Int, [Statement], [Statement], PostgresLink.Completion)
    case drop(Int)
  }

  private struct Opening: Sendable {
    let info: ConnectionInfo
    let target: ConnectionTarget
    let allowance: Duration
    let notify: PostgresLink.Notify?
  }

  private struct State: Sendable {
    var commands: [Command] = []
    var lastLink = 0
    var roundTrips = 0
    var isStopped = false
  }

  private let state = Locked(State())
  private let pipe: PlatformPipe
  /// How long a connection may take to open or to answer before it counts as lost.
  let patience: Duration

  /// - Parameters:
  ///   - patience: How long a connection may take to open or to answer.
  ///   - now: The clock by which that time is over.
  /// - Throws: When the system has no descriptors or threads left.
  init(
    patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) throws(PostgresFailure) {
    guard let pipe = PlatformPipe() else { throw .lost("The process has no file descriptors left.") }
    self.pipe = pipe
    self.patience = patience
    guard PlatformThread.start({ [weak self] in PostgresLoop.serve(pipe, patience, now) { self } }) else {
      throw .lost("The system has no threads left.")
    }
  }

  deinit { pipe.wake() }

  /// Ends all connections, and the thread.
  func stop() {
    state.withLock { $0.isStopped = true }
    pipe.wake()
  }

  // MARK: Requests of callers

  /// How many answers have been waited for, those to the opening of connections left out.
  var roundTrips: Int { state.withLock { $0.roundTrips } }

  /// Opens a connection, to the first place that takes one.
  ///
  /// - Parameter notify: Called on the thread of the loop for each notification, and at the end.
  func open(_ connector: Connector, notify: PostgresLink.Notify? = nil) async throws -> PostgresConnection {
    let allowance = connector.allowance(within: patience)
    return try await connector.connect(within: patience) { target in
      let id = state.withLock { state in
        state.lastLink += 1
        return state.lastLink
      }
      let opening = Opening(info: connector.info, target: target, allowance: allowance, notify: notify)
      _ = try await answer { .open(id, opening, $0) }.get()
      return PostgresConnection(id: id, loop: self)
    }
  }

  /// Runs statements in one round trip; all but those after a failure are done.
  ///
  /// - Parameter others: The statements that are sent after them, and not waited for.
  func run(_ statements: [Statement], then others: [Statement], on link: Int) async -> Answer {
    state.withLock { $0.roundTrips += 1 }
    return await answer { .run(link, statements, others, $0) }
  }

  /// Sends statements without waiting for their answers.
  func send(_ statements: [Statement], on link: Int) { submit(.run(link, statements, [], { _ in })) }

  func drop(_ link: Int) { submit(.drop(link)) }

  private func answer(_ command: (@escaping PostgresLink.Completion) -> Command) async -> Answer {
    await withCheckedContinuation { continuation in
      let isOpen = submit(command { continuation.resume(returning: $0) })
      if !isOpen { continuation.resume(returning: Answer(failure: .closed)) }
    }
  }

  @discardableResult
  private func submit(_ command: Command) -> Bool {
    let isOpen = state.withLock { state in
      if !state.isStopped { state.commands.append(command) }
      return !state.isStopped
    }
    if isOpen { pipe.wake() }
    return isOpen
  }

  // MARK: The thread

  private struct Entry {
    let link: PostgresLink
    /// The time since which an answer is missing, and the number of answers at that time.
    var busySince: ContinuousClock.Instant?
    var answered = 0
  }

  private static func serve(
    _ pipe: PlatformPipe, _ patience: Duration, _ now: () -> ContinuousClock.Instant, _ loop: () -> PostgresLoop?
  ) {
    var links: [Int: Entry] = [:]
    // The interval at which unanswered requests are looked at.
    let milliseconds = Double(patience.components.seconds) * 1_000 + Double(patience.components.attoseconds) / 1e15
    let step = Int32(min(1_000, max(10, milliseconds / 8)))
    while true {
      let taken = loop()?.state.withLock { state in
        defer { state.commands = [] }
        return (state.commands, state.isStopped)
      }
      guard let (commands, isStopped) = taken else { break }
      for command in commands { perform(command, &links) }
      if isStopped { break }
      wait(&links, pipe, step)
      endSilent(&links, patience, now())
    }
    for entry in links.values { entry.link.die("The store has been closed.") }
  }

  /// Ends connections that have not answered for too long, and removes ended ones.
  private static func endSilent(
    _ links: inout [Int: Entry], _ patience: Duration, _ now: ContinuousClock.Instant
  ) {
    for (id, entry) in links {
      if !entry.link.hasWork {
        links[id]?.busySince = nil
      } else if let since = entry.busySince, entry.answered == entry.link.answered {
        let allowance = entry.link.allowance(answering: patience)
        if now - since > allowance { entry.link.die("The server has not answered for \(allowance).") }
      } else {
        links[id]?.busySince = now
        links[id]?.answered = entry.link.answered
      }
      if entry.link.isDead { links[id] = nil }
    }
  }

  private static func perform(_ command: Command, _ links: inout [Int: Entry]) {
    switch command {
    case .open(let id, let opening, let opened):
      let link = PostgresLink(
        opening.info, at: opening.target, within: opening.allowance, notify: opening.notify, opened: opened)
      guard let link else { return opened(Answer(failure: .lost("There is no memory for a connection."))) }
      if !link.isDead { links[id] = Entry(link: link) }
    case .run(let id, let statements, let others, let completion):
      guard let entry = links[id], !entry.link.isDead else {
        return completion(Answer(failure: .unsent("The connection to the server is gone.")))
      }
      entry.link.run(statements, completion)
      if !others.isEmpty { entry.link.run(others) { _ in } }
    case .drop(let id): links.removeValue(forKey: id)?.link.die("The connection was given up.")
    }
  }

  private static func wait(_ links: inout [Int: Entry], _ pipe: PlatformPipe, _ step: Int32) {
    let ids = Array(links.keys)
    var watched = [Watched(descriptor: pipe.reading, wantsToWrite: false)]
    watched += ids.compactMap { links[$0]?.link.watched }
    let isBusy = links.values.contains { $0.link.hasWork }
    PlatformPoll.wait(for: &watched, milliseconds: isBusy ? step : -1)
    if watched[0].isReady { pipe.drain() }
    for (id, one) in zip(ids, watched.dropFirst()) where one.isReady { links[id]?.link.advance() }
  }
}

/// A connection to the server, used by one caller at a time.
struct PostgresConnection: Sendable {
  let id: Int
  private let loop: PostgresLoop

  init(id: Int, loop: PostgresLoop) {
    self.id = id
    self.loop = loop
  }

  /// Runs statements in one round trip.
  @discardableResult
  func run(_ statements: Statement...) async throws -> [Rows] { try await run(statements) }

  /// Runs statements in one round trip.
  @discardableResult
  func run(_ statements: [Statement]) async throws -> [Rows] { try await answer(to: statements).get() }

  /// Runs statements in one round trip.
  ///
  /// - Parameter others: The statements that are sent after them, and not waited for.
  /// - Returns: The results; statements before a failed one took effect.
  func answer(to statements: [Statement], then others: [Statement] = []) async -> Answer {
    await loop.run(statements, then: others, on: id)
  }

  /// Sends a statement and does not wait for it; later statements follow it.
  func send(_ statement: Statement) { loop.send([statement], on: id) }

  /// Ends the connection.
  func drop() { loop.drop(id) }
}
