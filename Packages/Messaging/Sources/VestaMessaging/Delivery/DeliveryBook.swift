/// The messages that have arrived and are not acknowledged, and the loops that have them.
///
/// A message is *held* by every loop that was there when it arrived, until that loop has taken it and asked for the
/// next one, or was left. It is acknowledged when no loop holds it and one of them has taken it. One that no loop has
/// taken is passed on to the loops that stay; without any it is given back: it is forgotten here, and the service
/// delivers it again at the next connection.
///
/// Worked example: the loops A and B are there when the messages 1 and 2 arrive. A takes 1, asks again, and takes 2: 1
/// waits for B. B is left: 1 was taken by A and is acknowledged. A is left in the middle of 2: it was taken, and is
/// acknowledged. Message 3, which arrived in between and was taken by none, is given back.
struct DeliveryBook {
  /// The number of a loop.
  typealias Reader = Int

  private struct Entry {
    var message: MessagingRemoteMessage
    var number: Int
    var holders: Set<Reader>
    var isTaken = false
  }

  private struct Place {
    /// The messages that the loop has not taken, in order.
    var waiting: [String] = []
    /// The message that the loop has taken, and is working on.
    var current: String?
  }

  private var entries: [String: Entry] = [:]
  private var places: [Reader: Place] = [:]
  private var lastReader = 0
  private var lastNumber = 0
  /// The acknowledged messages, as a ring whose oldest one is at `oldest` once it is full.
  private var remembered: Set<String> = []
  private var ring: [String] = []
  private var oldest = 0
  private let rememberedMessages: Int

  init(rememberedMessages: Int) { self.rememberedMessages = max(1, rememberedMessages) }

  /// The number of loops.
  var readerCount: Int { places.count }

  /// The number of messages that no loop has taken yet.
  var waitingCount: Int { Set(places.values.flatMap(\.waiting)).count }

  /// The loops that have a message to take.
  var ready: [Reader] { places.filter { !$0.value.waiting.isEmpty }.keys.sorted() }

  /// Whether a loop was not left.
  func has(_ reader: Reader) -> Bool { places[reader] != nil }

  mutating func addReader() -> Reader {
    lastReader += 1
    places[lastReader] = Place()
    return lastReader
  }

  /// A message has arrived.
  ///
  /// - Returns: Whether it is to be acknowledged at once, because it was acknowledged before.
  mutating func arrived(_ message: MessagingRemoteMessage) -> Bool {
    if remembered.contains(message.messageID) { return true }
    guard entries[message.messageID] == nil, !places.isEmpty else { return false }
    lastNumber += 1
    let holders = Set(places.keys)
    entries[message.messageID] = Entry(message: message, number: lastNumber, holders: holders)
    for reader in holders { places[reader]?.waiting.append(message.messageID) }
    return false
  }

  /// The loop asked for the next message: it is done with the message that it took last.
  ///
  /// - Returns: The messages to acknowledge.
  mutating func finishedCurrent(_ reader: Reader) -> [String] {
    guard let id = places[reader]?.current else { return [] }
    places[reader]?.current = nil
    return released(id, by: reader, isTaken: true) ? [id] : []
  }

  /// The next message for a loop, which takes it.
  mutating func take(_ reader: Reader) -> MessagingRemoteMessage? {
    guard var place = places[reader], place.current == nil, !place.waiting.isEmpty else { return nil }
    let id = place.waiting.removeFirst()
    place.current = id
    places[reader] = place
    return entries[id]?.message
  }

  /// The loop was left.
  ///
  /// - Returns: The messages to acknowledge.
  mutating func left(_ reader: Reader) -> [String] {
    guard let place = places.removeValue(forKey: reader) else { return [] }
    var acknowledged: [String] = []
    if let current = place.current, released(current, by: reader, isTaken: true) { acknowledged.append(current) }
    var passedOn = false
    for id in place.waiting {
      if released(id, by: reader, isTaken: false) { acknowledged.append(id) }
      guard entries[id]?.holders.isEmpty == true else { continue }
      entries[id]?.holders = Set(places.keys)
      for other in places.keys { places[other]?.waiting.append(id) }
      passedOn = true
      if places.isEmpty { entries[id] = nil }
    }
    if passedOn { for other in places.keys { sort(other) } }
    return acknowledged
  }

  /// Forgets the messages that were not taken: their registration has been deleted.
  mutating func giveBackAll() {
    for reader in places.keys { places[reader]?.waiting = [] }
    let current = Set(places.values.compactMap(\.current))
    entries = entries.filter { current.contains($0.key) }
    for (id, entry) in entries {
      entries[id]?.holders = entry.holders.filter { places[$0]?.current == id }
    }
  }

  private mutating func sort(_ reader: Reader) {
    places[reader]?.waiting.sort { (entries[$0]?.number ?? 0) < (entries[$1]?.number ?? 0) }
  }

  /// Answers whether the message is to be acknowledged, which is noted down.
  private mutating func released(_ id: String, by reader: Reader, isTaken: Bool) -> Bool {
    guard var entry = entries[id] else { return false }
    entry.holders.remove(reader)
    entry.isTaken = entry.isTaken || isTaken
    entries[id] = entry
    guard entry.holders.isEmpty, entry.isTaken else { return false }
    entries[id] = nil
    remember(id)
    return true
  }

  private mutating func remember(_ id: String) {
    guard remembered.insert(id).inserted else { return }
    guard ring.count >= rememberedMessages else { return ring.append(id) }
    remembered.remove(ring[oldest])
    ring[oldest] = id
    oldest = (oldest + 1) % ring.count
  }
}
