public import VestaConcurrency

/// A stream with one writer and one reader, in which the writer is no faster than the reader.
///
/// Written elements that are not read yet have a weight, such as its number of bytes. From a limit on the writer
/// pauses: ``write(_:)`` suspends its task, and ``offer(_:)``, which never waits, returns `false`. At half the limit it
/// continues on. So the memory of a pipe is bounded by its limit and one more element.
///
/// Both ends have two forms, so that neither code on an event loop nor a task pays for the other's form:
///
/// | | in a task | in place, without waiting |
/// | --- | --- | --- |
/// | writer | ``write(_:)`` | ``offer(_:)``, and `onDemand` when it may continue |
/// | reader | ``next()``, `for try await` | ``take()``, and `onReadable` when there is something |
///
/// The end of the stream follows everything that was written. A reader that wants no more calls ``cancel()``; what
/// it has not read is dropped, and the writer fails with ``TransportError/Code/closed``.
public final class DemandPipe<Element: Sendable>: AsyncSequence, Sendable {
  /// The result of one take from the pipe.
  public enum Taken: Sendable {
    /// An element.
    case element(Element)
    /// There is nothing yet; `onReadable` is called when there is.
    case nothingYet
    /// The stream has ended, with an error if it failed.
    case ended((any Error)?)
  }

  /// The hooks in a structure, as ``Locked`` asks for.
  @usableFromInline
  struct Hooks: Sendable {
    @usableFromInline
    var onReadable: (@Sendable () -> Void)?
    @usableFromInline
    var onDemand: (@Sendable () -> Void)?
    @usableFromInline
    var onCancel: (@Sendable () -> Void)?

    @inlinable
    init() {}
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline
    var machine: DemandMachine<Element>
    @usableFromInline
    var hooks = Hooks()

    @inlinable
    init(_ machine: DemandMachine<Element>) { self.machine = machine }
  }

  @usableFromInline
  let state: Locked<State>
  @usableFromInline
  let weigh: @Sendable (Element) -> Int

  /// A pipe.
  ///
  /// - Parameters:
  ///   - limit: The weight from which on the writer pauses; at least 1.
  ///   - weigh: The weight of an element, not negative.
  @inlinable
  public init(limit: Int, weigh: @escaping @Sendable (Element) -> Int) {
    state = Locked(State(DemandMachine(limit: limit)))
    self.weigh = weigh
  }

  /// The weight of what waits to be read.
  @inlinable
  public var backlog: Int { state.withLock { $0.machine.weight } }

  /// Whether the writer should continue.
  @inlinable
  public var hasRoom: Bool { state.withLock { $0.machine.hasRoom } }

  /// Whether the reader has left.
  @inlinable
  public var isCancelled: Bool { state.withLock { $0.machine.isCancelled } }

  /// Whether the writer has said that nothing follows.
  @inlinable
  public var isFinished: Bool { state.withLock { $0.machine.end != nil } }

  // MARK: The writer

  /// Writes an element, and waits while the reader lags.
  ///
  /// The element is taken at once; the wait is for room for the next one.
  ///
  /// - Throws: ``TransportError`` with `.closed` when the reader has left or the stream was ended; `CancellationError`,
  ///   and then the element is in the stream nevertheless.
  @inlinable
  public func write(_ element: Element) async throws {
    let added = weigh(element)
    let (effects, isOpen, hasRoom) = state.withLock { state in
      let isOpen = state.machine.isOpen
      return (state.machine.write(element, weight: added), isOpen, state.machine.hasRoom)
    }
    guard isOpen else { throw Self.closed }
    perform(effects)
    if hasRoom { return }
    try await Turn<Void>().wait { turn in
      let (waits, isCancelled) = state.withLock { ($0.machine.waitForRoom(turn), $0.machine.isCancelled) }
      if waits { return }
      if isCancelled { turn.begin()?.resume(throwing: Self.closed) } else { turn.begin()?.resume() }
    }
  }

  /// Writes an element without waiting.
  ///
  /// - Returns: Whether the writer should continue; after `false` it waits for `onDemand`. An element that is offered
  ///   nevertheless is taken too, so that a frame need not be cut. After the end or a cancellation the element is
  ///   dropped.
  @inlinable
  @discardableResult
  public func offer(_ element: Element) -> Bool {
    let added = weigh(element)
    let (effects, goesOn) = state.withLock { state in
      let effects = state.machine.write(element, weight: added)
      return (effects, state.machine.hasRoom && !state.machine.isCancelled)
    }
    perform(effects)
    return goesOn
  }

  /// Ends the stream after what was written; a later end is ignored.
  @inlinable
  public func finish() { perform(state.withLock { $0.machine.finish(.finished) }) }

  /// Ends the stream with an error after what was written; a later end is ignored.
  @inlinable
  public func fail(_ error: any Error) { perform(state.withLock { $0.machine.finish(.failed(error)) }) }

  // MARK: The reader

  /// The next element, as soon as there is one.
  ///
  /// - Returns: `nil` at the end.
  /// - Throws: The error that ended the stream; `CancellationError` when the task is cancelled while nothing is there,
  ///   the stream is then
  ///   still
  ///   there, or after ``cancel()``; ``TransportError`` with `.invalidArgument` for a second reader at the same time.
  @inlinable
  public func next() async throws -> Element? {
    var cancellation: CancellationError?
    while true {
      switch state.withLock({ $0.machine.read() }) {
      case .element(let element, let effects):
        perform(effects)
        return element
      case .ended(let error?): throw error
      case .ended(nil): return nil
      case .nothingYet:
        if let cancellation { throw cancellation }
        do {
          try await waitForElement()
        } catch let error as CancellationError {
          // The writer may have been faster than the cancellation: its earlier end counts.
          cancellation = error
        }
      }
    }
  }

  @inlinable
  func waitForElement() async throws {
    try await Turn<Void>().wait { turn in
      switch state.withLock({ $0.machine.waitForElement(turn) }) {
      case .waits: break
      case .looksAgain: turn.begin()?.resume()
      case .isTaken:
        turn.begin()?.resume(throwing: TransportError(.invalidArgument, "Another task waits for this stream."))
      }
    }
  }

  /// Takes the next element without waiting.
  @inlinable
  public func take() -> Taken {
    switch state.withLock({ $0.machine.read() }) {
    case .element(let element, let effects):
      perform(effects)
      return .element(element)
    case .ended(let error): return .ended(error)
    case .nothingYet: return .nothingYet
    }
  }

  /// Leaves the stream: unread elements are dropped, and the writer is notified.
  @inlinable
  public func cancel() {
    let (effects, _) = state.withLock { $0.machine.cancel() }
    perform(effects)
  }

  // MARK: Hooks

  /// Sets what is called when ``take()`` would return something after it has returned `nothingYet`, or when it never
  /// was called; on the writer's thread, with no lock held.
  ///
  /// Called at once when there is something.
  @inlinable
  public func setReadable(_ onReadable: (@Sendable () -> Void)?) {
    let isReadable = state.withLock { state in
      state.hooks.onReadable = onReadable
      return !state.machine.waiting.isEmpty || state.machine.end != nil
    }
    if isReadable { onReadable?() }
  }

  /// Sets the function to call when the writer may continue after ``offer(_:)`` has returned `false`, and when the
  /// reader leaves; on the reader's thread, with no lock held.
  @inlinable
  public func setDemand(_ onDemand: (@Sendable () -> Void)?, onCancel: (@Sendable () -> Void)? = nil) {
    let isCancelled = state.withLock { state in
      state.hooks.onDemand = onDemand
      state.hooks.onCancel = onCancel
      return state.machine.isCancelled
    }
    if isCancelled { onCancel?() }
  }

  /// Reads the stream; there is one reader.
  @inlinable
  public func makeAsyncIterator() -> Iterator { Iterator(pipe: self) }

  /// Reads a pipe; leaving the loop before the end does not cancel the stream.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline
    let pipe: DemandPipe

    @inlinable
    init(pipe: DemandPipe) { self.pipe = pipe }

    /// The next element.
    @inlinable
    public mutating func next() async throws -> Element? { try await pipe.next() }
  }

  @inlinable
  static var closed: TransportError { TransportError(.closed, "The reader of the stream has left.") }

  @inlinable
  func perform(_ effects: DemandMachine<Element>.Effects) {
    effects.reader?.begin()?.resume()
    for writer in effects.writers {
      if effects.failsWriters { writer.begin()?.resume(throwing: Self.closed) } else { writer.begin()?.resume() }
    }
    guard effects.callsReader || effects.callsWriter || effects.callsCancelled else { return }
    let hooks = state.withLock { $0.hooks }
    if effects.callsReader { hooks.onReadable?() }
    if effects.callsWriter { hooks.onDemand?() }
    if effects.callsCancelled { hooks.onCancel?() }
  }
}
