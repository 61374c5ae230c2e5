import VestaFirestoreIndexes

/// The entries of many documents, handed out in the order of their keys; sorted a page at a time.
///
/// Sorting all of a run at once would keep a thread from all others for a tenth of a second. Each page is sorted
/// when it is read, and the pages are merged while entries are taken: a heap has the page of the smallest key in front.
///
/// Example: pages `[b, d]`, `[a, c]`. The heap has the second page in front (`a`), then the first (`b`), and so on.
struct SortedEntries: Sendable {
  typealias Entry = (key: [UInt8], value: [UInt8], pathKey: PathKey)

  private struct Page: Sendable {
    let entries: [Entry]
    var position = 0

    var key: [UInt8] { entries[position].key }
  }

  /// A heap: the first key of no page is below that of the page above it.
  private var pages: [Page] = []

  /// The number of entries that were added and not taken.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Adds entries in any order.
  mutating func add(_ entries: [Entry]) {
    if entries.isEmpty { return }
    count += entries.count
    pages.append(Page(entries: entries.sorted { SortedEntries.isBefore($0.key, $1.key) }))
    var child = pages.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      pages.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes the entry with the smallest key.
  mutating func next() -> Entry? {
    guard let page = pages.first else { return nil }
    count -= 1
    if page.position + 1 < page.entries.count {
      pages[0].position += 1
    } else {
      pages.swapAt(0, pages.count - 1)
      pages.removeLast()
    }
    sink()
    return page.entries[page.position]
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < pages.count && isBefore(child, smallest) {
        smallest = child
      }
      if smallest == parent { return }
      pages.swapAt(parent, smallest)
      parent = smallest
    }
  }

  private func isBefore(_ page: Int, _ other: Int) -> Bool { SortedEntries.isBefore(pages[page].key, pages[other].key) }

  private static func isBefore(_ key: [UInt8], _ other: [UInt8]) -> Bool { key.lexicographicallyPrecedes(other) }
}
