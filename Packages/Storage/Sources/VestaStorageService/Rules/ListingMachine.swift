import VestaStorageBackend

/// Decides what a page of a listing holds, name by name; pure.
///
/// With the prefix `a/` and the delimiter `/`, the names `a/1`, `a/b/2`, `a/b/3`, `a/c` make the page with the items
/// `a/1` and `a/c` and the prefix `a/b/`: after `a/b/2` the listing continues after all names that begin with `a/b/`.
struct ListingMachine: Sendable, Equatable {
  /// The next step after a name.
  enum Step: Sendable, Equatable {
    /// The name is an item; the next name follows.
    case item
    /// The name is in a prefix; the listing continues after all names with it.
    case skip(prefix: String)
    /// The page is full, and the next one begins with this name.
    case full(next: String)
  }

  private let prefix: String
  private let delimiter: String?
  private var left: Int
  private(set) var prefixes: [String] = []

  init(_ request: ListRequest) {
    prefix = request.prefix
    delimiter = request.delimiter.flatMap { $0.isEmpty ? nil : $0 }
    left = request.maximumResults
  }

  /// The next name of the bucket that begins with the prefix.
  mutating func visit(_ name: String) -> Step {
    guard left > 0 else { return .full(next: name) }
    left -= 1
    guard let common = commonPrefix(of: name) else { return .item }
    prefixes.append(common)
    return .skip(prefix: common)
  }

  /// The name up to and with the first delimiter after the prefix; `nil` when there is none.
  private func commonPrefix(of name: String) -> String? {
    guard let delimiter else { return nil }
    let bytes = Array(name.utf8), mark = Array(delimiter.utf8)
    var index = prefix.utf8.count
    while index + mark.count <= bytes.count {
      if bytes[index] == mark[0], bytes[index..<index + mark.count].elementsEqual(mark) {
        return String(decoding: bytes[..<(index + mark.count)], as: UTF8.self)
      }
      index += 1
    }
    return nil
  }
}
