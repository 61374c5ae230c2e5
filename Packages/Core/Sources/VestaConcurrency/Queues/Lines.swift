/// Several lines that wait for one counter and take turns there: a line with a thousand in it holds up the others by one.
///
/// Within a line the first to come is the first to be served.
struct Lines<Element> {
  private var lines: [String: Fifo<Element>] = [:]
  /// The owners of the lines in which somebody waits, each once; the next one first.
  private var order = Fifo<String>()
  private(set) var count = 0

  mutating func append(_ element: Element, inLineOf owner: String) {
    if lines[owner] == nil { order.append(owner) }
    lines[owner, default: Fifo()].append(element)
    count += 1
  }

  /// The first of the line whose turn it is; the next turn is that of the next line.
  mutating func popFirst() -> Element? {
    guard let owner = order.popFirst(), let element = lines[owner]?.popFirst() else { return nil }
    if lines[owner]?.isEmpty ?? true { lines[owner] = nil } else { order.append(owner) }
    count -= 1
    return element
  }

  /// All who wait, line by line.
  var elements: [Element] { order.elements.flatMap { lines[$0]?.elements ?? [] } }

  /// Empties the lines and hands out who was in them.
  mutating func takeAll() -> [Element] {
    defer { self = Lines() }
    return elements
  }

  /// Takes some out; the others keep their places.
  mutating func removeAll(where isMeant: (Element) -> Bool) {
    let old = self
    self = Lines()
    for owner in old.order.elements {
      for element in old.lines[owner]?.elements ?? [] where !isMeant(element) { append(element, inLineOf: owner) }
    }
  }
}
