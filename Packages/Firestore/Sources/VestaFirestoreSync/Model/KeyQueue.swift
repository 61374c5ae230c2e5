import VestaFirestoreModel

/// Documents that wait their turn, each once, in order of arrival.
///
/// Any of them can leave; that costs the same however many wait.
struct KeyQueue: Sendable {
  /// The keys in the order of their numbers; including the ones that have left since.
  private var order: [(key: DocumentKey, number: Int)] = []
  private var first = 0
  private var numbers: [DocumentKey: Int] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { numbers.isEmpty }

  /// The documents that wait, the next one first.
  var keys: [DocumentKey] { order[first...].filter { numbers[$0.key] == $0.number }.map(\.key) }

  /// Puts a document at the end, unless it waits already.
  mutating func append(_ key: DocumentKey) {
    guard numbers[key] == nil else { return }
    lastNumber += 1
    numbers[key] = lastNumber
    order.append((key, lastNumber))
  }

  /// Takes a document out of its place.
  mutating func remove(_ key: DocumentKey) {
    numbers[key] = nil
    if numbers.isEmpty { (order, first) = ([], 0) }
  }

  /// Takes the document that has waited longest.
  mutating func popFirst() -> DocumentKey? {
    while first < order.count {
      let (key, number) = order[first]
      first += 1
      guard numbers[key] == number else { continue }
      remove(key)
      return key
    }
    return nil
  }
}
