/// Timers in the order of their times: a binary heap.
struct TimerHeap {
  private struct Timer {
    let time: Int64
    let number: Int
    let work: () -> Void

    func precedes(_ other: Timer) -> Bool { (time, number) < (other.time, other.number) }
  }

  private var heap: [Timer] = []
  private var lastNumber = 0

  /// The time of the next timer.
  var first: Int64? { heap.first?.time }

  mutating func add(at time: Int64, _ work: @escaping () -> Void) {
    lastNumber += 1
    heap.append(Timer(time: time, number: lastNumber, work: work))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the next timer if its time has come; those of the same time come in the order of adding.
  mutating func popDue(_ now: Int64) -> (() -> Void)? {
    guard let first = heap.first, first.time <= now else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.work }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      guard least != parent else { return first.work }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
