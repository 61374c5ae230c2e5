/// First in, first out, on one array; both ends cost constant time on average.
@usableFromInline
struct Fifo<Element> {
  @usableFromInline
  var slots: [Element?] = []

  @usableFromInline
  var head = 0

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { head == slots.count }

  @inlinable
  var count: Int { slots.count - head }

  @inlinable
  var first: Element? { isEmpty ? nil : slots[head] }

  @inlinable
  mutating func append(_ element: Element) { slots.append(element) }

  @inlinable
  mutating func popFirst() -> Element? {
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
  mutating func takeAll() -> [Element] {
    var all: [Element] = []
    while let element = popFirst() { all.append(element) }
    return all
  }
}
