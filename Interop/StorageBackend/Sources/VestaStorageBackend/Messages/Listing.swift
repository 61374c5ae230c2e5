/// A request to list objects.
public struct ListRequest: Sendable, Hashable {
  /// The bucket.
  public var bucket: String

  /// The prefix of the names; empty for all.
  public var prefix: String

  /// The delimiter: names that have it after the prefix are reported once, as a prefix; `nil` lists everything.
  public var delimiter: String?

  /// The first name: names before it, by their UTF-8 bytes, are left out; `nil` for no bound.
  public var startOffset: String?

  /// The first name that is left out, with all after it; `nil` for no bound.
  public var endOffset: String?

  /// The largest number of items and prefixes of a page, 1 to 1000.
  public var maximumResults: Int

  /// The token of the page; `nil` for the first page.
  public var pageToken: String?

  /// A request.
  public init(
    bucket: String, prefix: String = "", delimiter: String? = nil, startOffset: String? = nil, endOffset: String? = nil,
    maximumResults: Int = 1000, pageToken: String? = nil
  ) {
    self.bucket = bucket
    self.prefix = prefix
    self.delimiter = delimiter
    self.startOffset = startOffset
    self.endOffset = endOffset
    self.maximumResults = maximumResults
    self.pageToken = pageToken
  }
}

/// A page of a listing.
public struct ListPage: Sendable, Hashable {
  /// The objects, in the order of their names' UTF-8 bytes.
  public var items: [StorageObject]

  /// The common prefixes, each ending with the delimiter.
  public var prefixes: [String]

  /// The token of the next page; `nil` on the last page.
  public var nextPageToken: String?

  /// A page.
  public init(items: [StorageObject] = [], prefixes: [String] = [], nextPageToken: String? = nil) {
    self.items = items
    self.prefixes = prefixes
    self.nextPageToken = nextPageToken
  }
}
