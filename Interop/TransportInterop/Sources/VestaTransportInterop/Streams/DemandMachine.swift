public import VestaConcurrency

/// The state of a ``DemandPipe``: the waiting elements, the waiting callers, and whether the writer should pause.
///
/// Pure: every input returns what has to be resumed or called, and the pipe does it with its lock open.
///
/// Inlinable as a whole: where the compiler does not know the elements, each of them costs look-ups of types while the
/// program runs, more than all of the rest.
@usableFromInline
struct DemandMachine<Element: Sendable>: Sendable {
  /// The end of the pipe, once the writer has said it.
  @usableFromInline
  enum End: Sendable {
    case finished
    case failed(any Error)
  }

  /// The work of the pipe after an input, outside of its lock.
  @usableFromInline
  struct Effects: Sendable {
    /// The reader that waited; it looks again.
    @usableFromInline
    var reader: Turn<Void>?
    @usableFromInline
    var writers: [Turn<Void>] = []
    @usableFromInline
    var failsWriters = false
    @usableFromInline
    var callsReader = false
    @usableFromInline
    var callsWriter = false
    @usableFromInline
    var callsCancelled = false

    @inlinable
    init() {}
  }

  @usableFromInline
  let limit: Int
  @usableFromInline
  var waiting = Fifo<(element: Element, weight: Int)>()
  @usableFromInline
  var weight = 0
  @usableFromInline
  var end: End?
  @usableFromInline
  var isCancelled = false
  @usableFromInline
  var reader: Turn<Void>?
  @usableFromInline
  var writers: [Turn<Void>] = []
  @usableFromInline
  var isReaderCalled = false
  @usableFromInline
  var isWriterPaused = false

  @inlinable
  init(limit: Int) { self.limit = max(1, limit) }

  /// Whether a writer may continue.
  @inlinable
  var hasRoom: Bool { weight < limit }

  /// Whether something can still be written.
  @inlinable
  var isOpen: Bool { end == nil && !isCancelled }

  // MARK: The writer

  /// Takes an element.
  ///
  /// After the end or a cancellation it is dropped.
  @inlinable
  mutating func write(_ element: Element, weight added: Int) -> Effects {
    var effects = Effects()
    guard isOpen else { return effects }
    waiting.append((element, added))
    weight += added
    if !hasRoom { isWriterPaused = true }
    effects.reader = reader.take()
    effects.callsReader = !isReaderCalled
    isReaderCalled = true
    return effects
  }

  /// Keeps a writer that waits for room; `false` when it need not wait.
  @inlinable
  mutating func waitForRoom(_ turn: Turn<Void>) -> Bool {
    guard !hasRoom, isOpen else { return false }
    writers.append(turn)
    return true
  }

  @inlinable
  mutating func finish(_ how: End) -> Effects {
    var effects = Effects()
    guard isOpen else { return effects }
    end = how
    effects.reader = reader.take()
    effects.callsReader = !isReaderCalled
    isReaderCalled = true
    effects.writers = writers
    writers = []
    return effects
  }

  // MARK: The reader

  @usableFromInline
  enum Reading {
    case element(Element, Effects)
    case ended((any Error)?)
    case nothingYet
  }

  /// Takes the next element, if there is one or the stream has ended.
  @inlinable
  mutating func read() -> Reading {
    if let (element, taken) = waiting.popFirst() {
      weight -= taken
      var effects = Effects()
      resumeWriters(&effects)
      return .element(element, effects)
    }
    if isCancelled { return .ended(CancellationError()) }
    switch end {
    case .finished: return .ended(nil)
    case .failed(let error): return .ended(error)
    case nil: break
    }
    isReaderCalled = false
    return .nothingYet
  }

  @usableFromInline
  enum Wait {
    case waits
    /// Something was written in between, or the stream has ended.
    case looksAgain
    /// Another reader waits: two at a time would tear a stream apart.
    case isTaken
  }

  @inlinable
  mutating func waitForElement(_ turn: Turn<Void>) -> Wait {
    guard waiting.isEmpty, isOpen else { return .looksAgain }
    // A turn's lock is a leaf: its holder takes no other.
    if let other = reader, !other.isOver { return .isTaken }
    reader = turn
    return .waits
  }

  @inlinable
  mutating func cancel() -> (Effects, dropped: [Element]) {
    var effects = Effects()
    let wasOpen = !isCancelled && (end == nil || !waiting.isEmpty)
    isCancelled = true
    weight = 0
    let dropped = waiting.takeAll().map(\.element)
    effects.reader = reader.take()
    effects.writers = writers
    effects.failsWriters = true
    effects.callsCancelled = wasOpen
    writers = []
    return (effects, dropped)
  }

  @inlinable
  mutating func resumeWriters(_ effects: inout Effects) {
    // Half empty, so that a writer is not woken for each element.
    guard weight * 2 <= limit else { return }
    effects.writers = writers
    writers = []
    effects.callsWriter = isWriterPaused
    isWriterPaused = false
  }
}
