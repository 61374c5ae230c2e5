/// Elements in an order, in pieces of bounded size: inserting and removing cost the size of a piece, not of the whole.
///
/// A piece is split when it is full and removed when it is empty. The caller compares, as it has the order.
package struct SortedChunks<Element> {
  /// The position of an element, or the one that it would have.
  package struct Position: Sendable {
    var chunk: Int
    var index: Int
    package var isFound: Bool

    fileprivate static func isBefore(_ left: Position, _ right: Position) -> Bool {
      (left.chunk, left.index) < (right.chunk, right.index)
    }
  }

  /// Neighbouring elements, known by their ends: nothing before them was counted to find them.
  package struct Run: Sendable {
    package let start: Position
    package let end: Position

    /// The elements from one position up to another one; none when the second one is not after the first.
    package init(from start: Position, to end: Position) {
      self.start = start
      self.end = Position.isBefore(start, end) ? end : start
    }

    /// The elements that two runs of one collection share.
    package func clamped(to other: Run) -> Run {
      Run(
        from: Position.isBefore(start, other.start) ? other.start : start,
        to: Position.isBefore(other.end, end) ? other.end : end)
    }
  }

  private var chunks: [[Element]] = []
  package private(set) var count = 0
  private let capacity: Int

  package init(capacity: Int = 256) { self.capacity = Swift.max(2, capacity) }

  /// Elements that are in order already.
  package init(sorted elements: [Element], capacity: Int = 256) {
    self.init(capacity: capacity)
    let size = self.capacity / 2
    chunks = stride(from: 0, to: elements.count, by: size).map {
      Array(elements[$0..<Swift.min($0 + size, elements.count)])
    }
    count = elements.count
  }

  package var first: Element? { chunks.first?.first }
  package var last: Element? { chunks.last?.last }

  /// Returns the position of an element.
  ///
  /// - Parameter compare: How an element of the collection compares with the one that is looked for.
  package func position(_ compare: (Element) -> Int) -> Position {
    let chunk = SortedChunks.lowerBound(chunks.count) { compare(chunks[$0][chunks[$0].count - 1]) < 0 }
    guard chunk < chunks.count else {
      return Position(chunk: Swift.max(0, chunks.count - 1), index: chunks.last?.count ?? 0, isFound: false)
    }
    let index = SortedChunks.lowerBound(chunks[chunk].count) { compare(chunks[chunk][$0]) < 0 }
    return Position(chunk: chunk, index: index, isFound: compare(chunks[chunk][index]) == 0)
  }

  /// Returns the number of elements before a position.
  package func offset(of position: Position) -> Int {
    chunks[..<position.chunk].reduce(position.index) { $0 + $1.count }
  }

  /// All elements.
  package var wholeRun: Run {
    Run(
      from: Position(chunk: 0, index: 0, isFound: false),
      to: Position(chunk: chunks.count, index: 0, isFound: false))
  }

  /// The number of elements of a run; takes a step for each piece, not for each element.
  package func count(of run: Run) -> Int {
    if run.start.chunk == run.end.chunk { return run.end.index - run.start.index }
    return chunks[run.start.chunk..<run.end.chunk].reduce(run.end.index - run.start.index) { $0 + $1.count }
  }

  /// Calls an action with the elements of a run, until it returns `false`.
  package func forEach(in run: Run, isReversed: Bool, _ action: (Element) -> Bool) {
    let last = Swift.min(run.end.chunk, chunks.count - 1)
    guard run.start.chunk <= last else { return }
    let pieces = run.start.chunk...last
    for offset in 0..<pieces.count {
      let piece = isReversed ? last - offset : run.start.chunk + offset
      let start = piece == run.start.chunk ? run.start.index : 0
      let end = piece == run.end.chunk ? run.end.index : chunks[piece].count
      for step in 0..<Swift.max(0, end - start) {
        guard action(chunks[piece][isReversed ? end - 1 - step : start + step]) else { return }
      }
    }
  }

  package subscript(position: Position) -> Element { chunks[position.chunk][position.index] }

  /// The element after a number of others.
  package subscript(offset: Int) -> Element {
    var rest = offset
    var chunk = 0
    while rest >= chunks[chunk].count {
      rest -= chunks[chunk].count
      chunk += 1
    }
    return chunks[chunk][rest]
  }

  /// Puts an element where `position(_:)` said it is missing, or in place of the one that is there.
  package mutating func put(_ element: Element, at position: Position) {
    if position.isFound {
      chunks[position.chunk][position.index] = element
      return
    }
    count += 1
    if chunks.isEmpty {
      chunks.append([element])
      return
    }
    chunks[position.chunk].insert(element, at: position.index)
    if chunks[position.chunk].count > capacity { split(position.chunk) }
  }

  package mutating func remove(at position: Position) {
    chunks[position.chunk].remove(at: position.index)
    count -= 1
    if chunks[position.chunk].isEmpty { chunks.remove(at: position.chunk) }
  }

  private mutating func split(_ chunk: Int) {
    let half = chunks[chunk].count / 2
    let tail = Array(chunks[chunk][half...])
    chunks[chunk].removeSubrange(half...)
    chunks.insert(tail, at: chunk + 1)
  }

  private static func lowerBound(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension SortedChunks: Sequence {
  /// Visits the elements in order.
  package struct Iterator: IteratorProtocol {
    fileprivate let chunks: [[Element]]
    private var chunk = 0
    private var index = 0

    fileprivate init(_ chunks: [[Element]]) { self.chunks = chunks }

    package mutating func next() -> Element? {
      while chunk < chunks.count {
        if index < chunks[chunk].count {
          defer { index += 1 }
          return chunks[chunk][index]
        }
        chunk += 1
        index = 0
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(chunks) }

  package var underestimatedCount: Int { count }
}

extension SortedChunks: Sendable where Element: Sendable {}
