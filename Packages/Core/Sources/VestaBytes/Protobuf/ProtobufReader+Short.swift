/// The messages that ``ProtobufWriter`` writes at once, such as timestamps, read without a look for each field.
extension ProtobufReader {
  /// Reads a length and a message of two numbers, the fields 1 and 2; zero for one that is not there.
  public mutating func messageOfNumbers() throws(BytesError) -> (first: Int64, second: Int64) {
    let outer = try enter()
    var (first, second): (UInt64, UInt64) = (0, 0)
    // As nearly every writer has them: in order, each once.
    if take(tag: 1, .varint) { first = try varint() }
    if take(tag: 2, .varint) { second = try varint() }
    while try nextField() {
      switch (number, wireType) {
      case (1, .varint): first = try varint()
      case (2, .varint): second = try varint()
      default: try skip()
      }
    }
    try leave(outer)
    return (Int64(bitPattern: first), Int64(bitPattern: second))
  }
}
