/// A scan of the messages for transports, which takes several transactions where there are many for other engines.
struct PushScan {
  /// The time of the next transaction: now while the scan is not at its end.
  private(set) var next: Int64?
  /// The last scanned message; `nil` at the beginning of a scan.
  private(set) var last: [UInt8]?
  private var first: Int64?

  init(next: Int64? = nil) { self.next = next }

  /// Notes a transaction.
  ///
  /// - Parameters:
  ///   - time: The time of the first message that it has left.
  ///   - last: The message after which the scan continues; `nil` at the end.
  mutating func note(_ time: Int64?, _ last: [UInt8]?, now: Int64) {
    first = time.map { min($0, first ?? .max) } ?? first
    self.last = last
    next = last == nil ? first : now
    if last == nil { first = nil }
  }
}
