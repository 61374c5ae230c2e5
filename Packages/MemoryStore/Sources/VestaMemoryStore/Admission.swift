/// Who may go in: readers at any time, one writer at a time, the others in the order in which they came.
///
/// A pure table; the store calls it under its lock, and resumes what it hands out after that.
struct Admission {
  typealias Writer = CheckedContinuation<Void, any Error>
  typealias Closer = CheckedContinuation<Void, Never>

  /// What became of a writer at the door.
  enum Answer {
    case admitted
    case mustWait
    case closed
  }

  /// Who goes on after a writer has left.
  enum Next {
    case writer(Writer)
    case nobody([Closer])
  }

  private(set) var isClosed = false
  private var isWriting = false
  private var readers = 0
  private var closers: [Closer] = []
  private var lastTicket: UInt64 = 0
  // Tickets in order; those that have given up stay until their turn comes. `waiting` has the writers behind them.
  private var line: [UInt64] = []
  private var lineStart = 0
  private var waiting: [UInt64: Writer] = [:]

  /// How many writers wait.
  var writersInLine: Int { waiting.count }

  private var isIdle: Bool { readers == 0 && !isWriting }

  /// Lets a reader in; `false` when the store is closed.
  mutating func beginRead() -> Bool {
    if isClosed { return false }
    readers += 1
    return true
  }

  /// Lets a reader out; gives those who waited for the last one to go.
  mutating func endRead() -> [Closer] {
    readers -= 1
    return takeClosersIfIdle()
  }

  /// Lets a writer in if there is no other; it has to queue otherwise.
  mutating func beginWrite() -> Answer {
    if isClosed { return .closed }
    if isWriting { return .mustWait }
    isWriting = true
    return .admitted
  }

  /// A place in the line that is not taken yet.
  mutating func makeTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  /// Puts a writer at the end of the line, unless it can go in right now after all.
  mutating func queue(_ writer: Writer, as ticket: UInt64) -> Answer {
    let answer = beginWrite()
    guard answer == .mustWait else { return answer }
    line.append(ticket)
    waiting[ticket] = writer
    return answer
  }

  /// Takes a writer out of the line; `nil` when it has gone in, or has not come to the line.
  mutating func giveUp(_ ticket: UInt64) -> Writer? { waiting.removeValue(forKey: ticket) }

  /// Lets a writer out and the next one in.
  mutating func endWrite() -> Next {
    while lineStart < line.count {
      let ticket = line[lineStart]
      lineStart += 1
      if let writer = waiting.removeValue(forKey: ticket) {
        shortenLine()
        return .writer(writer)
      }
    }
    shortenLine()
    isWriting = false
    return .nobody(takeClosersIfIdle())
  }

  /// Closes the door; gives the writers who waited in vain.
  mutating func close() -> (isFirst: Bool, refused: [Writer]) {
    defer {
      isClosed = true
      waiting = [:]
    }
    return (!isClosed, Array(waiting.values))
  }

  /// Whether everybody has left; if not, the closer is handed out with the last one who leaves.
  mutating func waitUntilIdle(_ closer: Closer) -> Bool {
    if !isIdle { closers.append(closer) }
    return isIdle
  }

  private mutating func takeClosersIfIdle() -> [Closer] {
    guard isIdle, !closers.isEmpty else { return [] }
    defer { closers = [] }
    return closers
  }

  /// Forgets the front of the line now and then, so that each ticket is moved once on average.
  private mutating func shortenLine() {
    guard lineStart == line.count || lineStart > 1024 && lineStart > line.count / 2 else { return }
    line.removeFirst(lineStart)
    lineStart = 0
  }
}
