import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// A session of long polling as a connection of a backend.
final class PollSession: Sendable {
  private struct State {
    var machine: PollMachine
    var serving: ServingMachine
    var segments: DatabaseSegmentMachine
    var polls: [Int: Turn<[UInt8]>] = [:]
    var lastPoll = 0
    var idle: ListenerRegistration?
    /// Tasks that wait until a client has fetched what is there.
    var waiting = Waiters()
    var isOver = false
  }

  let id: String
  let password: String
  private let link: MessageLink
  private let clock: ServiceClock
  private let tuning: DatabaseEndpointsTuning
  private let onEnd: @Sendable (PollSession) -> Void
  private let state: Locked<State>

  init(
    _ backend: any DatabaseBackend, _ request: DatabaseConnectRequest, host: String, _ clock: ServiceClock,
    _ tuning: DatabaseEndpointsTuning, onEnd: @escaping @Sendable (PollSession) -> Void
  ) {
    (id, password) = (SystemRandom.alphanumeric(32), SystemRandom.alphanumeric(32))
    (self.clock, self.tuning, self.onEnd) = (clock, tuning, onEnd)
    state = Locked(
      State(
        machine: PollMachine(), serving: ServingMachine(host: host, tuning: tuning),
        segments: DatabaseSegmentMachine(tuning: tuning.wire)))
    link = MessageLink(to: backend, request, limit: tuning.backlog)
  }

  /// Waits for the greeting, which the answer to the start has.
  func start(callback: String) async throws -> [UInt8] {
    do {
      while let message = try await link.nextMessage() {
        guard case .send(let text)? = state.withLock({ $0.serving.received(message) }) else { break }
        rest()
        Task { await self.pump() }
        return DatabasePollAnswer.start(callback: callback, id: id, password: password, messages: [text])
      }
    } catch {
      end()
      throw error
    }
    end()
    throw ServiceStatus(.unavailable, "The database cannot be opened now.")
  }

  /// Takes what a poll carries, and waits for something to send.
  func poll(_ segments: [DatabasePoll.Segment]) async throws -> [UInt8] {
    rest()
    take(segments)
    let number = state.withLock { state in
      state.lastPoll += 1
      return state.lastPoll
    }
    let hold = clock.schedule(after: tuning.pollLength) { [weak self] in self?.perform { $0.heldLong(number) } }
    defer { hold.cancel() }
    do {
      return try await Turn<[UInt8]>().wait { turn in
        state.withLock { $0.polls[number] = turn }
        perform { $0.arrived(number) }
      }
    } catch {
      state.withLock { state in
        state.machine.left(number)
        state.polls[number] = nil
      }
      throw error
    }
  }

  /// Ends the session; polls that wait learn it.
  func end() {
    let (isFirst, idle, waiting) = state.withLock { state in
      defer { state.isOver = true }
      return (!state.isOver, state.idle.take(), state.waiting.takeAll())
    }
    idle?.cancel()
    waiting.resume()
    guard isFirst else { return }
    link.close()
    perform { $0.end() }
    onEnd(self)
  }

  // MARK: The client's side

  private func take(_ segments: [DatabasePoll.Segment]) {
    do {
      for json in try state.withLock({ try $0.segments.received(segments) }) {
        // A count of pieces and a sign of life are of sockets.
        guard json != DatabasePieces.keepAlive else { continue }
        switch state.withLock({ $0.serving.received(json) }) {
        case .request(let request, let id)?: link.send(request, id: id)
        case .send(let text)?: link.insert(text)
        case .close?: return end()
        case nil: break
        }
        if state.withLock({ $0.serving.isFull }) { return end() }
      }
    } catch {
      end()
    }
  }

  /// Ends the session when its client does not poll for a while.
  private func rest() {
    let timer = clock.schedule(after: tuning.pollPause) { [weak self] in self?.end() }
    let old = state.withLock { state -> ListenerRegistration? in
      if state.isOver { return timer }
      defer { state.idle = timer }
      return state.idle
    }
    old?.cancel()
  }

  // MARK: The service's side

  private func pump() async {
    do {
      while let item = try await link.items.next() {
        switch item {
        case .text(let text): perform { $0.send(text) }
        case .message(let message):
          guard case .send(let text)? = state.withLock({ $0.serving.received(message) }) else { return end() }
          perform { $0.send(text) }
        }
        // The rest waits in the link, whose limit ends a session that is not polled.
        await state.wait(in: \.waiting) { $0.machine.backlog < 65_536 || $0.isOver }
      }
    } catch {
      // The link has been ended.
    }
    end()
  }

  private func perform(_ event: (inout PollMachine) -> [PollMachine.Answer]) {
    let (answers, waiting) = state.withLock { state in
      let answers = event(&state.machine).map { (state.polls.removeValue(forKey: $0.poll), $0.script) }
      return (answers, state.machine.backlog < 65_536 ? state.waiting.takeAll() : Waiters())
    }
    waiting.resume()
    for (turn, script) in answers { turn?.begin()?.resume(returning: script) }
  }
}
