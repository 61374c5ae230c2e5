import VestaBytes

/// Every key of the store of Functions.
///
/// | key | value |
/// |---|---|
/// | `(1, function)` | a schedule: a `ScheduleRecord` |
/// | `(2, …)` | the outbox of scheduled runs; see `EventOutbox` |
enum Keys {
  static let outbox = KeyEncoder(.int(2)).bytes

  static func schedule(_ function: String) -> [UInt8] { KeyEncoder(.int(1), .string(function)).bytes }
}

/// The time up to which the runs of a schedule have been started.
struct ScheduleRecord: FieldRecord, Hashable {
  /// The schedule and its time zone; another one begins with its registration, and never before ``last``.
  var schedule = ""
  var timeZone = ""
  /// Seconds since 1970.
  var last: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &schedule)
    try visitor.field(2, &timeZone)
    try visitor.field(3, &last)
  }
}

/// A run, as its event keeps it.
struct RunRecord: FieldRecord, Hashable {
  /// The time at which it was due, in seconds since 1970.
  var time: Int64 = 0
  var schedule = ""

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &time)
    try visitor.field(2, &schedule)
  }

  var data: JSONObject { ["scheduleTime": .integer(time), "schedule": .string(schedule)] }
}
