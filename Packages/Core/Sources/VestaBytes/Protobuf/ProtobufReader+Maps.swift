/// Maps, of which each entry is a message of a key and a value.
extension ProtobufReader {
  /// Reads an entry of a map, and the entries that follow it.
  @inlinable
  public mutating func map<Kind: ProtobufKind, Map: ProtobufMap>(
    _ number: UInt32, _ name: StaticString, _ entries: inout Map, _ kind: Kind.Type
  ) throws(BytesError) where Map.Value == Kind.Value {
    guard number == self.number, wireType == .delimited else { return }
    // Entries follow one another, as nearly every writer has them.
    if entries.isEmpty {
      let count = entriesAhead()
      var names: [String] = []
      var values: [Kind.Value] = []
      names.reserveCapacity(count)
      values.reserveCapacity(count)
      repeat {
        let (key, value) = try mapEntry(kind)
        names.append(key)
        values.append(value)
      } while number < 16 && take(tag: number, .delimited)
      entries = Map(names: names, values: values)
    } else {
      repeat {
        let (key, value) = try mapEntry(kind)
        // A map that is kept in order is moved for each entry that comes by itself.
        moves -= entries.count
        guard moves >= 0 else { throw isScattered() }
        entries.set(value, for: key)
      } while number < 16 && take(tag: number, .delimited)
    }
    isTaken = true
  }

  /// How many entries of a map follow one another from the current field on: what to make room for, up to a number that
  /// costs little where there are none.
  ///
  /// Messages that occur more than once are counted like entries. Only what has short tags and lengths is.
  public func entriesAhead() -> Int {
    var (count, place) = (1, index)
    guard number < 16, wireType == .delimited else { return count }
    let tag = UInt8(truncatingIfNeeded: number << 3) | ProtobufWireType.delimited.rawValue
    // Unchecked within the end of the message, which is never after the bytes.
    while count < 64, place + 1 < end {
      let low = Int(bytes.span[unchecked: place])
      let high = low < 0x80 ? 0 : Int(bytes.span[unchecked: place + 1])
      guard high < 0x80 else { break }
      place += (low < 0x80 ? 1 : 2) + (low & 0x7F | high << 7)
      guard place < end, bytes.span[unchecked: place] == tag else { break }
      place += 1
      count += 1
    }
    return count
  }

  /// Reads the entry of a map at the current field.
  @inlinable
  public mutating func mapEntry<Kind: ProtobufKind>(
    _ kind: Kind.Type
  ) throws(BytesError) -> (key: String, value: Kind.Value) {
    let outer = try enter()
    var key = ""
    var value: Kind.Value?
    // As nearly every writer has them: the key, the value, and nothing else.
    if take(tag: 1, .delimited) {
      key = try string()
      if take(tag: 2, Kind.wireType) {
        let read = try Kind.read(&self)
        if index == end {
          try leave(outer)
          return (key, read)
        }
        value = read
      }
    }
    while try nextField() {
      switch (number, wireType) {
      case (1, .delimited): key = try string()
      case (2, Kind.wireType): value = try Kind.read(&self)
      default: try skip()
      }
    }
    try leave(outer)
    guard let value = value ?? Kind.absentEntry else { throw hasNoValue() }
    return (key, value)
  }
}
