/// The streams of a connection by their numbers.
///
/// Numbers of streams grow by two, so a number is its own hash: the hash of a dictionary, which no peer can foresee, is
/// not worth its time where a connection has a hundred streams at most.
struct HTTP2StreamTable {
  private var slots: [HTTP2Stream?] = []
  private(set) var count = 0

  /// A table without streams.
  init() {}

  var isEmpty: Bool { count == 0 }

  /// All streams, in no order.
  var values: [HTTP2Stream] { slots.compactMap { $0 } }

  /// Whether a stream satisfies a condition.
  func contains(where condition: (HTTP2Stream) -> Bool) -> Bool {
    slots.contains { slot in slot.map(condition) ?? false }
  }

  subscript(id: Int32) -> HTTP2Stream? {
    get {
      guard count > 0 else { return nil }
      return slots[place(of: id)]
    }
    set {
      if let newValue { insert(newValue, id) } else { remove(id) }
    }
  }

  /// The place of a stream, or the empty one where it would be put.
  private func place(of id: Int32) -> Int {
    var place = home(of: id)
    while let stream = slots[place], stream.id != id { place = (place + 1) & (slots.count - 1) }
    return place
  }

  private func home(of id: Int32) -> Int { Int(id >> 1) & (slots.count - 1) }

  private mutating func insert(_ stream: HTTP2Stream, _ id: Int32) {
    // Half of the places stay empty, so that looking for a stream ends soon.
    if (count + 1) * 2 > slots.count { grow() }
    let place = place(of: id)
    if slots[place] == nil { count += 1 }
    slots[place] = stream
  }

  private mutating func grow() {
    let streams = values
    slots = Array(repeating: nil, count: max(8, slots.count * 2))
    for stream in streams { slots[place(of: stream.id)] = stream }
  }

  private mutating func remove(_ id: Int32) {
    guard count > 0 else { return }
    var hole = place(of: id)
    guard slots[hole] != nil else { return }
    slots[hole] = nil
    count -= 1
    // Streams that were put behind the hole because it was taken move up, or they would not be found.
    let mask = slots.count - 1
    var next = (hole + 1) & mask
    while let stream = slots[next] {
      let distance = (next - home(of: stream.id)) & mask
      if distance >= (next - hole) & mask {
        slots[hole] = stream
        slots[next] = nil
        hole = next
      }
      next = (next + 1) & mask
    }
  }
}
