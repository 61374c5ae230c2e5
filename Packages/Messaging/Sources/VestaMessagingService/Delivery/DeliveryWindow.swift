/// The deliveries of one connection: which ones are under way, and how many more it takes; pure.
///
/// Worked example, with a window of 2 and a cursor that moves after 2 acknowledged messages for many:
///
/// | event | answer | under way |
/// |---|---|---|
/// | `announced(8)`: the dispatcher is about to deliver it | a load that begins now leaves 8 out | 8 |
/// | `deliver(8)` | delivered | 8 |
/// | `deliver(8)`, by the load | superfluous: it is under way | 8 |
/// | `deliver(9)` | delivered | 8, 9 |
/// | `deliver(10)` | the window is full: the connection reads 10 later | 8, 9 |
/// | `acknowledged(8)` | there is room again | 9 |
/// | `acknowledged(9)` | it is time to move the cursor | |
struct DeliveryWindow: Sendable {
  /// The outcome of a delivery.
  enum Outcome: Sendable, Equatable {
    /// It is to be delivered, and reports a number of messages that were dropped before.
    case delivered(droppedBefore: Int)
    case superfluous
    case windowIsFull
  }

  private let size: Int
  private let longestTrail: Int
  /// Deliveries without their acknowledgement, by the number of the message; whether it is one for many.
  private var inFlight: [Int64: Bool] = [:]
  /// The messages that the dispatcher is about to deliver.
  private var announced: [Int64: Bool] = [:]
  /// Up to which message everything for this registration was delivered.
  private(set) var position: Int64 = 0
  /// The number of messages for many that were acknowledged since the cursor was moved.
  private var acknowledgedBroadcasts = 0
  /// The number of dropped messages that the next delivery reports.
  private var dropped: Int64 = 0
  private var isReading = false
  private var readsAgain = false

  /// An empty window.
  ///
  /// - Parameters:
  ///   - size: The most deliveries that are under way.
  ///   - longestTrail: The number of acknowledged messages for many after which the cursor is moved.
  init(size: Int, longestTrail: Int) { (self.size, self.longestTrail) = (size, longestTrail) }

  /// The number of deliveries that have room.
  var free: Int { max(0, size - inFlight.count) }

  /// The messages that are under way, and the ones for many among them, in order.
  var underWay: (all: Set<Int64>, broadcasts: [Int64]) {
    let all = inFlight.merging(announced) { first, _ in first }
    return (Set(all.keys), all.filter(\.value).keys.sorted())
  }

  // MARK: Loads

  /// A load is wanted.
  ///
  /// - Returns: Whether the caller is the one that loads; another one that does so repeats its round.
  mutating func beginReading() -> Bool {
    guard !isReading else {
      readsAgain = true
      return false
    }
    isReading = true
    return true
  }

  /// The caller has loaded what it could.
  ///
  /// - Returns: Whether that was all; otherwise it loads again.
  mutating func endReading() -> Bool {
    (isReading, readsAgain) = (readsAgain, false)
    return !isReading
  }

  /// Messages were dropped; the next delivery reports them.
  mutating func noteDropped(_ count: Int64) { dropped += count }

  /// Everything up to a message was delivered.
  mutating func advance(to number: Int64) { position = max(position, number) }

  // MARK: Deliveries

  /// The dispatcher is about to deliver a message.
  mutating func announce(_ number: Int64, isBroadcast: Bool) { announced[number] = isBroadcast }

  /// The dispatcher does not deliver the message after all.
  mutating func withdraw(_ number: Int64) { announced[number] = nil }

  /// A message is to be delivered.
  mutating func deliver(_ number: Int64, isBroadcast: Bool, isLive: Bool) -> Outcome {
    announced[number] = nil
    guard isLive, inFlight[number] == nil else { return .superfluous }
    guard inFlight.count < size else { return .windowIsFull }
    inFlight[number] = isBroadcast
    defer { dropped = 0 }
    return .delivered(droppedBefore: Int(dropped))
  }

  /// Deliveries were acknowledged.
  ///
  /// - Returns: Whether there is room again after the window was full, and whether it is time to move the cursor.
  mutating func acknowledged(_ numbers: [Int64]) -> (hasRoom: Bool, isTrailLong: Bool) {
    let wasFull = inFlight.count >= size
    for number in numbers where inFlight.removeValue(forKey: number) == true { acknowledgedBroadcasts += 1 }
    let isTrailLong = acknowledgedBroadcasts >= longestTrail
    if isTrailLong { acknowledgedBroadcasts = 0 }
    return (wasFull && inFlight.count < size, isTrailLong)
  }
}
