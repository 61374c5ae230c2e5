/// A timer of a loop, by which it is cancelled.
final class LoopTimer {
  fileprivate var work: (() -> Void)?

  fileprivate init(_ work: @escaping () -> Void) { self.work = work }
}

/// Timers in the order of their times: a binary heap.
///
/// Cancelled timers stay until their time, or until they are more than the others, and are then removed
/// together.
struct TimerHeap {
  private struct Entry {
    let time: Int64
    let number: Int
    let timer: LoopTimer

    func precedes(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
  }

  private var heap: [Entry] = []
  private var lastNumber = 0
  private var cancelledCount = 0

  /// The time of the next timer.
  var first: Int64? { heap.first?.time }

  /// The number of timers, including cancelled ones that were not removed.
  var count: Int { heap.count }

  @discardableResult
  mutating func add(at time: Int64, _ work: @escaping () -> Void) -> LoopTimer {
    lastNumber += 1
    let timer = LoopTimer(work)
    heap.append(Entry(time: time, number: lastNumber, timer: timer))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return timer
  }

  /// Cancels a timer; one that has fired, or was cancelled, is left alone.
  mutating func cancel(_ timer: LoopTimer) {
    guard timer.work.take() != nil else { return }
    cancelledCount += 1
    guard cancelledCount > 32, cancelledCount * 2 > heap.count else { return }
    // An array in order is a heap.
    heap = heap.filter { $0.timer.work != nil }.sorted { $0.precedes($1) }
    cancelledCount = 0
  }

  /// Removes and returns the next timer if it is due; timers of the same time are returned in the order of adding.
  mutating func popDue(_ now: Int64) -> (() -> Void)? {
    while let first = heap.first, first.time <= now {
      removeFirst()
      if let work = first.timer.work.take() { return work }
      cancelledCount -= 1
    }
    return nil
  }

  private mutating func removeFirst() {
    let last = heap.removeLast()
    guard !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
