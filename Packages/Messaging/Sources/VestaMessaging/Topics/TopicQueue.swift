/// The changes of topics that wait for the service: ordered batches of one action each.
///
/// Calls with the action of the last batch join it, the same topic once; another action opens a new batch. Nothing
/// cancels out, so the service sees the changes of a topic in the order of the calls. Only the first batch is worked
/// on.
struct TopicQueue: Codable, Sendable, Equatable {
  enum Action: String, Codable, Sendable { case subscribe, unsubscribe }

  struct Batch: Codable, Sendable, Equatable {
    var action: Action
    var topics: [String]
  }

  private(set) var batches: [Batch] = []

  var isEmpty: Bool { batches.isEmpty }

  /// How many changes wait.
  var count: Int { batches.reduce(0) { $0 + $1.topics.count } }

  /// Adds a change.
  ///
  /// - Returns: The index of its batch.
  mutating func add(_ action: Action, _ topic: String) -> Int {
    if let last = batches.indices.last, batches[last].action == action {
      if !batches[last].topics.contains(topic) { batches[last].topics.append(topic) }
    } else {
      batches.append(Batch(action: action, topics: [topic]))
    }
    return batches.count - 1
  }

  /// The next change to work on.
  var next: (action: Action, topic: String)? {
    batches.first.flatMap { batch in batch.topics.first.map { (batch.action, $0) } }
  }

  /// Removes a change of the first batch that the service has answered.
  ///
  /// - Returns: Whether it was the last one of the batch, which is removed then.
  mutating func finish(_ action: Action, _ topic: String) -> Bool {
    guard batches.first?.action == action else { return false }
    batches[0].topics.removeAll { $0 == topic }
    guard batches[0].topics.isEmpty else { return false }
    batches.removeFirst()
    return true
  }
}
