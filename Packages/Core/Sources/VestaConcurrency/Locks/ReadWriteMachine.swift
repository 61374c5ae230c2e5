/// Admits readers and writes in order of arrival.
///
/// Invariants: no reader is active while a write is; something waits only if a write is active, or if readers are
/// active and the first in line is a write. So an arrival during a wait has a write ahead of it.
struct ReadWriteMachine<Reader, Write> {
  enum Action {
    case none
    /// These readers are active from now on; resume them.
    case admit([Reader])
    /// This write is active from now on; run it, then report `writeEnded()`.
    case run(Write)
  }

  private enum Waiter {
    case reader(Reader)
    case write(Write)
  }

  private(set) var activeReaders = 0
  private(set) var isWriting = false
  private var line = Fifo<Waiter>()

  var waitingCount: Int { line.count }

  /// A reader asks to go at once.
  ///
  /// If it may, it is active from now on.
  mutating func readerArrived() -> Bool {
    guard !isWriting, line.isEmpty else { return false }
    activeReaders += 1
    return true
  }

  /// A reader that could not go at once takes its place in the line.
  mutating func readerWaits(_ reader: Reader) { line.append(.reader(reader)) }

  mutating func readerEnded() -> Action {
    precondition(activeReaders > 0, "a reader ended that never began")
    activeReaders -= 1
    return advance()
  }

  mutating func writeArrived(_ write: Write) -> Action {
    line.append(.write(write))
    return advance()
  }

  mutating func writeEnded() -> Action {
    precondition(isWriting, "a write ended that never began")
    isWriting = false
    return advance()
  }

  private mutating func advance() -> Action {
    guard !isWriting, let first = line.first else { return .none }
    switch first {
    case .reader:
      return .admit(popReaders())
    case .write(let write):
      guard activeReaders == 0 else { return .none }
      _ = line.popFirst()
      isWriting = true
      return .run(write)
    }
  }

  private mutating func popReaders() -> [Reader] {
    var readers: [Reader] = []
    while case .reader(let reader)? = line.first {
      _ = line.popFirst()
      readers.append(reader)
    }
    activeReaders += readers.count
    return readers
  }
}
