/// A look at the messages for transports, which takes several transactions where there are many for other engines.
struct PushLook {
  /// When to look next; now while the look is not at its end.
  private(set) var next: Int64?
  /// The last message that was looked at; `nil` at the beginning of a look.
  private(set) var last: [UInt8]?
  private var first: Int64?

  init(next: Int64? = nil) { self.next = next }

  /// Notes a transaction.
  ///
  /// - Parameters:
  ///   - time: The time of the first message that it has left.
  ///   - last: The message after which to look on; `nil` at the end.
  mutating func note(_ time: Int64?, _ last: [UInt8]?, now: Int64) {
    first = time.map { min($0, first ?? .max) } ?? first
    self.last = last
    next = last == nil ? first : now
    if last == nil { first = nil }
  }
}
