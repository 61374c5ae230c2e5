import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// An index over one field of the documents of one collection of the cache.
///
/// An entry is the encoded value and the document, in the order of both. An index of elements has an entry for each
/// element of an array.
package struct CacheIndex: Sendable {
  /// The field of an index, and whether the elements of arrays are its values.
  package struct ID: Sendable, Hashable {
    /// The field.
    package let path: FieldPath
    /// Whether the elements of arrays are the values.
    package let isOfElements: Bool
  }

  fileprivate struct Entry: Sendable {
    let bytes: [UInt8]
    let key: DocumentKey

    func compare(_ other: [UInt8]) -> Int { UTF8Order.compare(bytes: bytes, other) }
  }

  package let id: ID
  private var entries = SortedChunks<Entry>()

  /// An index of documents.
  package init(_ id: ID, _ documents: some Sequence<CachedDocument>) {
    self.id = id
    var all: [Entry] = []
    for document in documents {
      for bytes in CacheIndex.bytes(of: document, id) { all.append(Entry(bytes: bytes, key: document.path)) }
    }
    all.sort { CacheIndex.compare($0, $1) < 0 }
    entries = SortedChunks(sorted: all)
  }

  private static func compare(_ left: Entry, _ right: Entry) -> Int {
    let order = left.compare(right.bytes)
    return order != 0 ? order : left.key.compare(right.key)
  }

  /// The entries of a document, without its key.
  static func bytes(of document: CachedDocument, _ id: ID) -> [[UInt8]] {
    guard document.isFound, let value = document.value(at: id.path) else { return [] }
    guard id.isOfElements else { return [IndexEncoder.encode(value)] }
    guard case .array(let elements) = value else { return [] }
    return Array(Set(elements.map(IndexEncoder.encode)))
  }

  mutating func replace(_ old: CachedDocument?, by new: CachedDocument?) {
    let (gone, come) = (old.map { CacheIndex.bytes(of: $0, id) } ?? [], new.map { CacheIndex.bytes(of: $0, id) } ?? [])
    if gone == come { return }
    if let old { for bytes in gone { remove(Entry(bytes: bytes, key: old.path)) } }
    if let new { for bytes in come { insert(Entry(bytes: bytes, key: new.path)) } }
  }

  private mutating func remove(_ entry: Entry) {
    let position = entries.position { CacheIndex.compare($0, entry) }
    if position.isFound { entries.remove(at: position) }
  }

  private mutating func insert(_ entry: Entry) {
    entries.put(entry, at: entries.position { CacheIndex.compare($0, entry) })
  }

  /// Calls an action with each entry, in order.
  package func forEach(_ action: (_ bytes: [UInt8], _ key: DocumentKey) -> Void) {
    for entry in entries { action(entry.bytes, entry.key) }
  }

  // MARK: Ranges

  /// Neighbouring entries.
  struct Run {
    fileprivate let entries: SortedChunks<Entry>.Run
    let count: Int
  }

  /// The entries within bounds.
  func run(_ bounds: Bounds) -> Run { run(entryRun(bounds)) }

  /// The entries within all of several bounds.
  func run(_ bounds: [Bounds]) -> Run {
    run(bounds.reduce(entries.wholeRun) { $0.clamped(to: entryRun($1)) })
  }

  private func run(_ found: SortedChunks<Entry>.Run) -> Run { Run(entries: found, count: entries.count(of: found)) }

  private func entryRun(_ bounds: Bounds) -> SortedChunks<Entry>.Run {
    let start = entries.position { $0.compare(bounds.lower) < 0 ? -1 : 1 }
    guard let upper = bounds.upper else { return .init(from: start, to: entries.wholeRun.end) }
    return .init(from: start, to: entries.position { $0.compare(upper) < 0 ? -1 : 1 })
  }

  /// Calls an action with entries in their order, until it returns `false`.
  func forEach(in run: Run, isReversed: Bool = false, _ action: (_ bytes: [UInt8], _ key: DocumentKey) -> Bool) {
    entries.forEach(in: run.entries, isReversed: isReversed) { action($0.bytes, $0.key) }
  }

  /// Bounds of encoded values: from the lower one on, up to and without the upper one.
  struct Bounds: Sendable {
    var lower: [UInt8] = []
    var upper: [UInt8]?

    static let all = Bounds()

    /// The values that a predicate may accept.
    init(_ test: Predicate.Test) {
      switch test {
      case .equal(let value), .contains(let value):
        lower = IndexEncoder.encode(value)
        upper = Bounds.next(lower)
      case .notIn: break
      case .compare(let relation, let value):
        let bytes = IndexEncoder.encode(value)
        // The tags of the classes of values are multiples of eight.
        let tag = (bytes.first ?? 0) & 0xF8
        lower = [tag]
        upper = [tag + 8]
        switch relation {
        case .greater, .greaterOrEqual: lower = bytes
        case .less, .lessOrEqual: upper = Bounds.next(bytes)
        }
      }
    }

    fileprivate init() {}

    /// The smallest bytes after all that begin with these; no encoded value ends with nothing but the largest byte.
    fileprivate static func next(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }
  }
}

extension CacheIndex.Bounds {
  /// The values within all of several bounds.
  init(all bounds: [CacheIndex.Bounds]) {
    self = .all
    for other in bounds {
      if UTF8Order.compare(bytes: lower, other.lower) < 0 { lower = other.lower }
      guard let end = other.upper else { continue }
      if upper.map({ UTF8Order.compare(bytes: end, $0) < 0 }) ?? true { upper = end }
    }
  }

  /// From a value on.
  init(from bytes: [UInt8]) {
    self = .all
    lower = bytes
  }

  /// Up to a value, and with it.
  init(through bytes: [UInt8]) {
    self = .all
    upper = CacheIndex.Bounds.next(bytes)
  }
}
