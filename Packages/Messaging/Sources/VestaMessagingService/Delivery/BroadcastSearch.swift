import VestaMessagingBackend
import VestaStoreInterop

/// Searches the messages to topics and conditions that wait for one registration, from the newest to the oldest.
///
/// It ends when as many as may wait have been found, and one more: everything below the oldest of them is dropped, and
/// counted. A message with the collapse key of a later one is replaced, also if the later one was acknowledged.
///
/// The rows of all topics are read in pages. Messages beyond a page of one topic are not known yet, so a round looks
/// only at the numbers above the lowest one of every full page, and the next round continues below them.
struct BroadcastSearch {
  let reader: MessagingReader
  let key: RegistrationKey
  let cursor: Int64
  let subscriptions: [String: SubscriptionRecord]
  /// The messages that are under way or acknowledged.
  let known: Set<Int64>
  let maximumWaiting: Int
  let tuning: MessagingServiceTuning
  /// The messages below the cursor that are not acknowledged.
  var owed: Set<Int64> = []

  /// The messages that wait, the newest first.
  private(set) var waiting: [DispatchedMessage] = []
  private(set) var replaced: [Int64] = []
  private(set) var stale: [Int64] = []
  /// Up to which message everything that waits is dropped.
  private(set) var cut: Int64?
  private(set) var dropped: Int64 = 0
  private var collapseKeys: Set<String> = []

  private typealias Test = (DispatchedMessage) -> Bool

  init(
    reader: MessagingReader, key: RegistrationKey, cursor: Int64, subscriptions: [String: SubscriptionRecord],
    known: Set<Int64>, maximumWaiting: Int, tuning: MessagingServiceTuning
  ) {
    (self.reader, self.key, self.cursor) = (reader, key, cursor)
    (self.subscriptions, self.known) = (subscriptions, known)
    (self.maximumWaiting, self.tuning) = (maximumWaiting, tuning)
  }

  /// Searches.
  ///
  /// - Parameters:
  ///   - isWanted: Whether a message is for the registration, and its time is not over.
  ///   - collapseKey: The collapse key of a message.
  mutating func run(
    isWanted: (DispatchedMessage) -> Bool, collapseKey: (DispatchedMessage) -> String?
  ) async throws {
    var before = Int64.max
    while before > 0, cut == nil {
      let (numbers, horizon) = try await round(before: before)
      try await look(at: numbers, isWanted, collapseKey)
      before = horizon
    }
    if let cut { try await countDropped(upTo: cut, isWanted) }
  }

  // MARK: Reading

  /// The ranges of the rows after the cursor, below a number.
  private func ranges(before end: Int64) -> (topics: [KeyRange], conditions: KeyRange) {
    var ranges: [KeyRange] = []
    for (topic, subscription) in subscriptions {
      for span in subscription.past where span.last > cursor && span.after + 1 < end {
        ranges.append(Keys.topic(topic, after: max(span.after, cursor), upTo: min(span.last, end - 1)))
      }
      if subscription.isCurrent {
        ranges.append(Keys.topic(topic, after: max(subscription.since, cursor), upTo: end - 1))
      }
    }
    return (ranges, Keys.conditions(after: cursor, upTo: end - 1))
  }

  /// The next numbers below one, in descending order, and the number below which the next round continues; 0 at the
  /// end.
  private func round(before end: Int64) async throws -> ([Int64], horizon: Int64) {
    let page = maximumWaiting + known.count + 1
    var (numbers, horizon) = (owed, Int64(0))
    let (topics, conditions) = ranges(before: end)
    for range in topics + [conditions] where !range.isEmpty {
      let found = try await reader.numbers(in: range, order: .descending, limit: page)
      if found.count == page, let lowest = found.last { horizon = max(horizon, lowest) }
      numbers.formUnion(found)
    }
    return (numbers.filter { $0 >= horizon && $0 < end }.sorted(by: >), horizon)
  }

  private mutating func look(
    at numbers: [Int64], _ isWanted: Test, _ collapseKey: (DispatchedMessage) -> String?
  ) async throws {
    var rest = numbers[...]
    while !rest.isEmpty, cut == nil {
      let batch = Array(rest.prefix(max(1, tuning.readBatch)))
      rest = rest.dropFirst(batch.count)
      let records = try await reader.messages(batch)
      for number in batch where cut == nil {
        let message = records[number].flatMap { DispatchedMessage(number: number, record: $0) }
        guard let message, isWanted(message) else {
          if owed.contains(number), !known.contains(number) { stale.append(number) }
          continue
        }
        add(message, collapseKey(message))
      }
    }
  }

  private mutating func add(_ message: DispatchedMessage, _ collapseKey: String?) {
    if let collapseKey, !collapseKeys.insert(collapseKey).inserted {
      if !known.contains(message.number) { replaced.append(message.number) }
      return
    }
    guard !known.contains(message.number) else { return }
    if waiting.count >= maximumWaiting, let oldest = waiting.last {
      cut = oldest.number - 1
    } else {
      waiting.append(message)
    }
  }

  // MARK: Dropped messages

  /// Counts what waits up to a number, without a look at the times to live of messages to topics.
  private mutating func countDropped(upTo cut: Int64, _ isWanted: Test) async throws {
    let (topics, conditions) = ranges(before: cut + 1)
    var numbers = owed.filter { $0 <= cut }
    stale += numbers.subtracting(known).subtracting(stale).sorted()
    for range in topics where !range.isEmpty && numbers.count < tuning.longestCount {
      numbers.formUnion(
        try await reader.numbers(in: range, order: .descending, limit: tuning.longestCount - numbers.count))
    }
    numbers.subtract(known)
    dropped = Int64(numbers.subtracting(replaced).count)
    guard !conditions.isEmpty else { return }
    var rest = try await reader.numbers(in: conditions, order: .descending, limit: tuning.longestCount)[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(max(1, tuning.readBatch)))
      rest = rest.dropFirst(batch.count)
      for (number, record) in try await reader.messages(batch) where !known.contains(number) {
        if DispatchedMessage(number: number, record: record).map(isWanted) == true { dropped += 1 }
      }
    }
  }
}
