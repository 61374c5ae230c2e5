/// The resources that the current thread holds: which coordinators it reads or writes, which queues it runs on.
///
/// The entries are a linked list through the stack frames that hold them, so keeping it costs no allocation and no
/// lock, and looking something up walks as many entries as there are calls inside each other: one or two.
@usableFromInline
enum ThreadHoldings {
  /// One thing held, by a stack frame that has not returned yet.
  @frozen
  @usableFromInline
  struct Entry {
    @usableFromInline
    let resource: ObjectIdentifier

    @usableFromInline
    let outer: UnsafeMutablePointer<Entry>?  // points into a caller's frame, which outlives this one

    @inlinable
    init(resource: ObjectIdentifier, outer: UnsafeMutablePointer<Entry>?) {
      self.resource = resource
      self.outer = outer
    }
  }

  @usableFromInline
  static let slot = PlatformThreadSlot()

  /// The innermost thing that the current thread holds.
  @inlinable
  static var top: UnsafeMutablePointer<Entry>? {
    get { slot.pointer?.assumingMemoryBound(to: Entry.self) }
    set { slot.pointer = UnsafeMutableRawPointer(newValue) }
  }

  /// Whether the current thread holds `resource`.
  @inlinable
  static func contains(_ resource: ObjectIdentifier) -> Bool {
    var next = top
    while let entry = next {
      if entry.pointee.resource == resource { return true }
      next = entry.pointee.outer
    }
    return false
  }

  /// Runs `body` as the holder of `resource`.
  @inlinable
  static func hold<Result, Failure: Error>(
    _ resource: ObjectIdentifier, while body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = top
    var entry = Entry(resource: resource, outer: outer)
    // The pointer is taken off the list before the frame ends.
    return try withUnsafeMutablePointer(to: &entry) { (own) throws(Failure) in
      top = own
      defer { top = outer }
      return try body()
    }
  }
}
