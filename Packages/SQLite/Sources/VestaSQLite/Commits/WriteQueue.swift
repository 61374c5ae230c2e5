import Synchronization
import VestaStoreInterop

/// A requested transaction.
final class WriteRequest: Sendable {
  typealias Body = @Sendable (any StoreTransaction) async throws -> Void

  typealias Maintenance = @Sendable (WriterSession) async throws -> Void

  let body: Body

  /// Something else than a transaction, which needs the turn for itself; never served by another leader.
  let maintenance: Maintenance?
  private let isCancelled = Atomic(false)
  private let makesRoom = Atomic(false)

  convenience init(_ body: @escaping Body) { self.init(body: body, maintenance: nil) }

  static func maintaining(_ work: @escaping Maintenance) -> WriteRequest {
    WriteRequest(body: { _ in }, maintenance: work)
  }

  private init(body: @escaping Body, maintenance: Maintenance?) {
    self.body = body
    self.maintenance = maintenance
  }

  var hasBeenCancelled: Bool { isCancelled.load(ordering: .acquiring) }

  func cancel() { isCancelled.store(true, ordering: .releasing) }

  /// Whether the transaction, as it ran last, makes room: it may use the reserve.
  var freesRoom: Bool { makesRoom.load(ordering: .acquiring) }

  func note(freesRoom: Bool) { makesRoom.store(freesRoom, ordering: .releasing) }

  func checkCancellation() throws {
    if hasBeenCancelled { throw CancellationError() }
  }
}

/// The outcome of a transaction, without the value that its body returned.
typealias WriteOutcome = Result<StoreVersion, any Error>

/// The writer that has the turn, and the queue of waiting ones; pure: the caller holds the lock and resumes tasks.
///
/// The turn is with one task at a time, the leader. A waiting request is either taken by the leader, who runs its body
/// within the same commit, or becomes the leader when the turn is passed on. A `FairQueue` has no
/// leader: it hands its slot to one caller after the other.
struct WriteQueue {
  /// The answer to a waiting task.
  enum Call: Sendable {
    case lead
    case done(WriteOutcome)
  }

  struct Waiter: Sendable {
    let request: WriteRequest
    let resume: @Sendable (Call) -> Void
  }

  enum Entry { case lead, wait, cancelled, closed }

  private(set) var isTaken = false
  private(set) var isClosed = false
  private var waiting: [Waiter] = []
  private var first = 0

  /// Whether the turn is free and no writer waits for it.
  var isIdle: Bool { !isTaken && first == waiting.count }

  /// The number of remembered requests: the waiting ones, and a bounded number that were served.
  var storedCount: Int { waiting.count }

  /// How many wait.
  var waitingCount: Int { waiting.count - first }

  /// Takes the turn if it is free.
  mutating func tryToLead() -> Entry {
    if isClosed { return .closed }
    if isTaken { return .wait }
    isTaken = true
    return .lead
  }

  /// Takes the turn, or a place in the queue.
  mutating func enter(_ waiter: Waiter) -> Entry {
    if waiter.request.hasBeenCancelled { return .cancelled }
    let entry = tryToLead()
    if entry == .wait { waiting.append(waiter) }
    return entry
  }

  /// The next one whose body the leader may run.
  mutating func takeNextBody() -> Waiter? {
    guard first < waiting.count, waiting[first].request.maintenance == nil else { return nil }
    return takeNext()
  }

  /// The next one, whatever it wants.
  private mutating func takeNext() -> Waiter? {
    guard first < waiting.count else { return nil }
    let next = waiting[first]
    first += 1
    if first == waiting.count {
      waiting.removeAll(keepingCapacity: first <= 64)
      first = 0
    } else if first >= 64, first * 2 >= waiting.count {
      // Served requests are forgotten, also while the queue never runs empty.
      waiting.removeFirst(first)
      first = 0
    }
    return next
  }

  /// Puts one back in front that the leader could not serve.
  ///
  /// - Returns: Whether it waits again; a queue that was closed in between takes no request.
  mutating func putBack(_ waiter: Waiter) -> Bool {
    if isClosed { return false }
    waiting.insert(waiter, at: first)
    return true
  }

  /// Removes a cancelled request from the queue; `nil` when it was removed before.
  mutating func remove(_ request: WriteRequest) -> Waiter? {
    guard let index = waiting[first...].firstIndex(where: { $0.request === request }) else { return nil }
    return waiting.remove(at: index)
  }

  /// Gives the turn to the next in the queue, who is returned to be resumed; free when there is none.
  mutating func passOn() -> Waiter? {
    let next = takeNext()
    isTaken = next != nil
    return next
  }

  /// Closes the queue; returns the waiting requests, to be refused.
  mutating func close() -> [Waiter] {
    isClosed = true
    defer { (waiting, first) = ([], 0) }
    return Array(waiting[first...])
  }
}
