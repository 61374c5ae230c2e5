/// The values of one thread: an array indexed by a small number per key.
///
/// The system keeps one pointer to it for each thread. It is made when the thread stores its first value and is
/// freed, with all values, when the thread ends.
@usableFromInline
struct ThreadSlots {
  @usableFromInline
  var base: UnsafeMutablePointer<AnyObject?>  // owned; `count` initialised elements

  @usableFromInline
  var count: Int

  @usableFromInline
  static let slot = PlatformThreadSlot(atThreadExit: { pointer in
    // The system has taken the pointer off the thread already: a value that stores something from its deinit gets new
    // slots, and those are freed by another call.
    let slots = pointer.assumingMemoryBound(to: ThreadSlots.self)
    slots.pointee.free()
    slots.deallocate()
  })

  /// The calling thread's slots, if it has ever stored something.
  @inlinable
  static var current: UnsafeMutablePointer<ThreadSlots>? {
    slot.pointer?.assumingMemoryBound(to: ThreadSlots.self)
  }

  /// The calling thread's value at `index`.
  @inlinable
  static func value(at index: Int) -> AnyObject? {
    guard let slots = current, index < slots.pointee.count else { return nil }
    return slots.pointee.base[index]
  }

  /// Puts `value` at `index` for the calling thread.
  ///
  /// - Returns: The previous value. It is the caller's to let go of, as its deinit may call this again.
  @usableFromInline
  static func exchange(_ value: AnyObject?, at index: Int) -> AnyObject? {
    if value == nil, current.map({ index >= $0.pointee.count }) ?? true { return nil }
    let slots = current ?? makeCurrent()
    if index >= slots.pointee.count { slots.pointee.grow(toHold: index) }
    let old = slots.pointee.base[index]
    slots.pointee.base[index] = value
    return old
  }

  private static func makeCurrent() -> UnsafeMutablePointer<ThreadSlots> {
    let slots = UnsafeMutablePointer<ThreadSlots>.allocate(capacity: 1)
    slots.initialize(to: ThreadSlots(base: .allocate(capacity: 8), count: 8))
    slots.pointee.base.initialize(repeating: nil, count: 8)
    slot.pointer = UnsafeMutableRawPointer(slots)
    return slots
  }

  private mutating func grow(toHold index: Int) {
    let newCount = max(index + 1, count * 2)
    let newBase = UnsafeMutablePointer<AnyObject?>.allocate(capacity: newCount)
    newBase.moveInitialize(from: base, count: count)
    (newBase + count).initialize(repeating: nil, count: newCount - count)
    base.deallocate()
    (base, count) = (newBase, newCount)
  }

  private func free() {
    base.deinitialize(count: count)
    base.deallocate()
  }
}

/// Which slot belongs to which full key.
///
/// Slots are numbered for the life of the process.
@usableFromInline
enum ThreadSlotNumbers {
  private static let numbers = Locked<[String: Int]>([:])

  @usableFromInline
  static func number(for fullKey: String) -> Int {
    numbers.withLock { numbers in
      if let number = numbers[fullKey] { return number }
      let number = numbers.count
      numbers[fullKey] = number
      return number
    }
  }
}
