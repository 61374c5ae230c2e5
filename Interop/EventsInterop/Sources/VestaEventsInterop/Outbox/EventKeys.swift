import VestaBytes
import VestaStoreInterop

/// Every key of an outbox, below the prefix that its engine gives it.
///
/// | key | value |
/// |---|---|
/// | `(1, function, version, number)` | an event that is to be delivered: an `EventRecord` |
/// | `(2, function, version, number)` | its failed attempts: an `EventState` |
/// | `(3, function, version, number)` | a dead letter: a `DeadRecord` |
/// | `(4, function)` | the right to deliver: a `LeaseRecord` |
///
/// The queue is in descending order: its newest event is first. An engine whose newest rows are last among those
/// before the outbox, such as the rows of a log, writes both to one page of the store, and its commits become little
/// larger by the event. So the oldest event of a queue is the last row of its range.
struct EventKeys: Sendable {
  enum Table: Int64 {
    case queue = 1
    case states = 2
    case dead = 3
    case lease = 4
  }

  let prefix: [UInt8]

  func lease(_ function: String) -> [UInt8] { table(.lease, function).bytes }

  func all(_ table: Table, of function: String) -> KeyRange { self.table(table, function).range }

  func key(_ table: Table, _ function: String, _ position: EventPosition) -> [UInt8] {
    var key = self.table(table, function)
    let direction: KeyDirection = table == .queue ? .descending : .ascending
    key.append(int: position.version, direction)
    key.append(int: position.number, direction)
    return key.bytes
  }

  /// The events of one commit.
  func commit(_ function: String, _ version: Int64) -> KeyRange {
    var key = table(.queue, function)
    key.append(int: version, .descending)
    return key.range
  }

  /// The rows from one position to another, both of them too.
  func range(_ table: Table, _ function: String, _ first: EventPosition, _ last: EventPosition) -> KeyRange {
    let (lower, upper) = table == .queue ? (last, first) : (first, last)
    return KeyRange(from: key(table, function, lower), to: key(table, function, upper) + [0])
  }

  /// A part of a queue, to be scanned in descending order: after one position, up to and with another.
  func queue(_ function: String, after: EventPosition?, through: EventPosition?) -> KeyRange {
    let all = all(.queue, of: function)
    let lower = through.map { key(.queue, function, $0) } ?? all.lower
    let upper = after.map { key(.queue, function, $0) } ?? all.upper
    return KeyRange(from: lower, to: upper)
  }

  func position(_ key: [UInt8], _ table: Table, _ function: String) throws -> EventPosition {
    var decoder = KeyDecoder(key, from: self.table(table, function).bytes.count)
    return EventPosition(version: try decoder.int(), number: try decoder.int())
  }

  private func table(_ table: Table) -> KeyEncoder {
    var key = KeyEncoder(continuing: prefix)
    key.append(int: table.rawValue)
    return key
  }

  private func table(_ table: Table, _ function: String) -> KeyEncoder {
    var key = self.table(table)
    key.append(string: function)
    return key
  }
}
