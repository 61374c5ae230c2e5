/// Decides who creates what: the pure half of `CreationGate`.
///
/// Every item is created by one thread at a time. A thread that needs an item which another thread is creating waits
/// for it, unless that other thread waits, directly or through others, for something the first one is creating: then
/// no thread could ever continue, and the ledger says so with the path.
struct CreationLedger<Item: Hashable, Thread: Hashable> {
  enum Decision: Equatable {
    /// The asking thread creates the item now and calls `finish` afterwards.
    case create
    /// Another thread is creating it; ask again when that has finished.
    case wait
    /// Waiting would never end: each item of the path is being created and needs the next one.
    case cycle(path: [Item])
  }

  private var owner: [Item: Thread] = [:]
  private var stack: [Thread: [Item]] = [:]
  private var awaited: [Thread: Item] = [:]

  /// Whether nothing is being created.
  var isEmpty: Bool { owner.isEmpty }

  /// A thread needs an item that does not exist yet.
  mutating func request(_ item: Item, by thread: Thread) -> Decision {
    awaited[thread] = nil
    guard owner[item] != nil else {
      owner[item] = thread
      stack[thread, default: []].append(item)
      return .create
    }
    if let path = cycle(from: item, to: thread) { return .cycle(path: path) }
    awaited[thread] = item
    return .wait
  }

  /// A thread has finished what it was creating last.
  mutating func finish(_ item: Item, by thread: Thread) {
    owner[item] = nil
    awaited = awaited.filter { $0.value != item }
    stack[thread]?.removeLast()
    if stack[thread]?.isEmpty == true { stack[thread] = nil }
  }

  /// Follows the chain of waiting threads; returns a path only if it leads back to the asking thread.
  private func cycle(from item: Item, to thread: Thread) -> [Item]? {
    var path: [Item] = []
    var current = item
    while let creator = owner[current] {
      path += (stack[creator] ?? []).drop { $0 != current }
      if creator == thread { return path + [item] }
      guard let next = awaited[creator] else { return nil }
      current = next
    }
    return nil
  }
}
