/// Finds the slot of a protocol: a hash table that never changes, read without locks and without reference counting.
///
/// Why not a `Dictionary`: it hands out a strong reference, and the count of one slot, changed by every core at every
/// look-up, is what many threads would then wait for.
// Sound as @unchecked Sendable: written in `init` only; the owner keeps the slots alive and calls `deallocate` last.
@usableFromInline
struct SlotTable: @unchecked Sendable {
  @usableFromInline
  struct Entry {
    @usableFromInline
    let key: UInt
    // Unmanaged: the container holds the slots in a separate array for as long as the table lives.
    @usableFromInline
    let slot: Unmanaged<AnySlot>?
  }

  /// A power of two, at least twice the number of slots; an entry without a slot ends a search.
  private let capacity: Int

  @usableFromInline
  let mask: UInt

  // Allocated in init, freed by deallocate().
  @usableFromInline
  let entries: UnsafeMutablePointer<Entry>

  init(_ slots: [ObjectIdentifier: AnySlot]) {
    var capacity = 4
    while capacity < 2 * slots.count { capacity *= 2 }
    self.capacity = capacity
    mask = UInt(capacity - 1)
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Entry(key: 0, slot: nil), count: capacity)
    for (key, slot) in slots {
      var index = Self.start(of: UInt(bitPattern: key)) & mask
      while entries[Int(index)].slot != nil { index = (index + 1) & mask }
      entries[Int(index)] = Entry(key: UInt(bitPattern: key), slot: .passUnretained(slot))
    }
  }

  func deallocate() {
    entries.deinitialize(count: capacity)
    entries.deallocate()
  }

  /// The slot under a key; valid for as long as the owner of the table lives.
  @inlinable
  func slot(for identifier: ObjectIdentifier) -> Unmanaged<AnySlot>? {
    let key = UInt(bitPattern: identifier)
    var index = Self.start(of: key) & mask
    while let slot = entries[Int(index)].slot {
      if entries[Int(index)].key == key { return slot }
      index = (index + 1) & mask
    }
    return nil
  }

  /// Types are known by addresses: the lowest bits are always alike, and neighbours differ in the next ones.
  @inlinable
  static func start(of key: UInt) -> UInt { (key >> 4) ^ (key >> 12) }
}
