/// First in, first out, on one array; both ends cost constant time on average.
///
/// It is a value for a state under a lock, and no queue for tasks to wait in.
public struct Fifo<Element> {
  @usableFromInline
  var slots: [Element?] = []

  @usableFromInline
  var head = 0

  /// An empty queue.
  @inlinable
  public init() {}

  /// Whether nothing is in it.
  @inlinable
  public var isEmpty: Bool { head == slots.count }

  /// The number of elements.
  @inlinable
  public var count: Int { slots.count - head }

  /// The oldest element.
  @inlinable
  public var first: Element? { isEmpty ? nil : slots[head] }

  /// Adds an element at the end.
  @inlinable
  public mutating func append(_ element: Element) { slots.append(element) }

  /// Removes and returns the oldest element.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard head < slots.count else { return nil }
    let element = slots[head].take()
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  /// The elements, in order.
  var elements: [Element] { slots[head...].compactMap { $0 } }

  /// Empties the queue and hands out what was in it, in order.
  @inlinable
  public mutating func takeAll() -> [Element] {
    var all: [Element] = []
    while let element = popFirst() { all.append(element) }
    return all
  }
}

extension Fifo: Sendable where Element: Sendable {}
