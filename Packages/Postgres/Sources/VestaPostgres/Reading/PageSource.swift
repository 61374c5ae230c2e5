import VestaStoreInterop

/// One of the two tables of entries, read a page at a time in the order of a scan.
struct PageSource {
  private let isLong: Bool
  /// The range that has not been asked for; `nil` at the end.
  private var rest: KeyRange?
  private var size: PageSize
  private var entries: ArraySlice<StoreEntry> = []

  init(of range: KeyRange?, isLong: Bool, _ size: PageSize) {
    self.isLong = isLong
    self.size = size
    rest = range
  }

  /// The next entry; `nil` at the end, and where a page is to be fetched first.
  var next: StoreEntry? { entries.first }

  /// Whether the next entry, if there is one, has not been asked for.
  var isMissing: Bool { entries.isEmpty && rest != nil }

  mutating func dropNext() { entries.removeFirst() }

  /// Asks for the next page.
  ///
  /// - Parameter limit: How many entries are taken at most.
  mutating func fetch(from snapshot: PostgresSnapshot, _ order: ScanOrder, limit: Int) async throws {
    guard let range = rest else { return }
    let page = try await snapshot.page(of: range, order, size.upTo(limit), isLong: isLong)
    size = size.next
    entries = page.entries[...]
    guard page.hasMore, let last = page.entries.last else {
      rest = nil
      return
    }
    let behind = order == .ascending ? range.after(last.key) : range.before(last.key)
    rest = behind.isEmpty ? nil : behind
  }
}
