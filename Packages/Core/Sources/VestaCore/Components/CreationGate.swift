import Dispatch
import VestaConcurrency

/// Lets one thread at a time create an item, and detects that waiting would never end.
///
/// All gates of the process share one ledger, so a cycle is found also when it runs through several containers and
/// instance tables. The lock is held for a few table operations, never during a creation. Each waiting thread sleeps on
/// a separate semaphore.
final class CreationGate<Item: Hashable & Sendable>: Sendable {
  enum Entry: Equatable {
    /// Create it, then call `leave`.
    case create
    /// Another thread has been creating it and is done: look again.
    case lookAgain
    /// Creating it would need itself: the labels of the items, each of which needs the next one.
    case cycle(path: [String])
    /// The gate is closed for good.
    case closed
  }

  /// The numbers of the items that are being created or waited for, and by how many callers; of no others.
  private struct Numbers {
    var known: [Item: (number: Int, callers: Int)] = [:]
    var last = 0
  }

  private let number: Int
  private let numbers = Locked(Numbers())
  private let place: String
  private let label: @Sendable (Item) -> String

  /// A gate.
  ///
  /// - Parameters:
  ///   - place: Which container or table it belongs to, for the path of a cycle through several.
  ///   - label: The name of an item.
  init(place: String, label: @escaping @Sendable (Item) -> String = { "\($0)" }) {
    self.place = place
    self.label = label
    number = CreationBoard.shared.withLock { $0.addGate() }
  }

  deinit { CreationBoard.shared.withLock { $0.gates[number] = nil } }

  /// Asks to create an item; waits for another thread that is creating it.
  func enter(_ item: Item) -> Entry {
    let thread = PlatformThreadID.current
    let known = boardItem(item, callers: 1)
    let (entry, semaphore): (Entry, DispatchSemaphore?) = CreationBoard.shared.withLock { board in
      if board.gates[number]?.isClosed == true { return (.closed, nil) }
      switch board.ledger.request(known, by: thread) {
      case .create:
        board.gates[number]?.running += 1
        return (.create, nil)
      case .cycle(let path): return (.cycle(path: Self.labels(path)), nil)
      case .wait:
        let semaphore = DispatchSemaphore(value: 0)
        board.sleepers[known, default: []].append(semaphore)
        return (.lookAgain, semaphore)
      }
    }
    semaphore?.wait()
    if entry != .create { release(item) }
    return entry
  }

  /// Says that the item has been created, or that it could not be.
  func leave(_ item: Item) {
    let thread = PlatformThreadID.current
    let known = boardItem(item, callers: 0)
    let (sleepers, drained) = CreationBoard.shared.withLock { board in
      board.ledger.finish(known, by: thread)
      board.gates[number]?.running -= 1
      return (board.sleepers.removeValue(forKey: known) ?? [], board.takeDrained(number))
    }
    release(item)
    for semaphore in sleepers { semaphore.signal() }
    for continuation in drained { continuation.resume() }
  }

  /// Refuses entry from now on, and returns when all have left.
  func close() async {
    await withCheckedContinuation { continuation in
      let drained = CreationBoard.shared.withLock { board in
        board.gates[number]?.isClosed = true
        board.gates[number]?.drained.append(continuation)
        return board.takeDrained(number)
      }
      for continuation in drained { continuation.resume() }
    }
  }

  /// The number of calls of `close` that wait, for tests.
  var waitingCloses: Int { CreationBoard.shared.withLock { $0.gates[number]?.drained.count ?? 0 } }

  /// The number of items whose numbers are kept, for tests.
  var knownItems: Int { numbers.withLock { $0.known.count } }

  private func boardItem(_ item: Item, callers: Int) -> CreationBoard.Item {
    let index = numbers.withLock { numbers in
      if let known = numbers.known[item] {
        numbers.known[item]?.callers += callers
        return known.number
      }
      numbers.last += 1
      numbers.known[item] = (numbers.last, callers)
      return numbers.last
    }
    return CreationBoard.Item(gate: number, index: index, label: label(item), place: place)
  }

  /// Forgets the number of an item when its last caller is done with it.
  private func release(_ item: Item) {
    numbers.withLock { numbers in
      guard let known = numbers.known[item] else { return }
      numbers.known[item] = known.callers > 1 ? (known.number, known.callers - 1) : nil
    }
  }

  private static func labels(_ path: [CreationBoard.Item]) -> [String] {
    let isOneGate = Set(path.map(\.gate)).count == 1
    return path.map { isOneGate ? $0.label : "\($0.label) (\($0.place))" }
  }
}

/// The state that all gates of the process share.
struct CreationBoard {
  static let shared = Locked(CreationBoard())

  /// An item of one gate.
  struct Item: Hashable, Sendable {
    let gate: Int
    let index: Int
    let label: String
    let place: String

    static func == (left: Item, right: Item) -> Bool { left.gate == right.gate && left.index == right.index }

    func hash(into hasher: inout Hasher) {
      hasher.combine(gate)
      hasher.combine(index)
    }
  }

  struct Gate {
    var isClosed = false
    var running = 0
    var drained: [CheckedContinuation<Void, Never>] = []
  }

  var ledger = CreationLedger<Item, PlatformThreadID>()
  var sleepers: [Item: [DispatchSemaphore]] = [:]
  var gates: [Int: Gate] = [:]
  private var lastGate = 0

  mutating func addGate() -> Int {
    lastGate += 1
    gates[lastGate] = Gate()
    return lastGate
  }

  /// The callers that wait for a gate to be closed and empty, if it is.
  mutating func takeDrained(_ number: Int) -> [CheckedContinuation<Void, Never>] {
    guard let gate = gates[number], gate.isClosed, gate.running == 0 else { return [] }
    gates[number]?.drained = []
    return gate.drained
  }
}
