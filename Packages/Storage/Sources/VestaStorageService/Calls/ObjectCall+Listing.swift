import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

extension ObjectCall {
  func list(_ request: ListRequest) async throws -> ListPage {
    try await ask(.list(bucket: request.bucket, prefix: request.prefix))
    try ObjectNameRules.check(bucket: request.bucket)
    guard (1...1000).contains(request.maximumResults) else {
      throw StorageServiceError(.invalidArgument, "A page has 1 to 1000 results, not \(request.maximumResults).")
    }
    let all = Self.names(request)
    var start = all.lower
    if let token = request.pageToken {
      start = Keys.firstObject(in: request.bucket, from: try ListToken.name(token, of: request))
    }
    let range = KeyRange(from: start, to: all.upper)
    return try await read(expecting: .scan(range, order: .ascending, limit: nil)) {
      try await Self.page(request, range, $0)
    }
  }

  /// The keys of the names that a listing may have: they begin with the prefix and are within the bounds.
  private static func names(_ request: ListRequest) -> KeyRange {
    var range = Keys.objects(in: request.bucket, prefix: request.prefix)
    if !request.startOffset.isEmpty {
      let start = Keys.firstObject(in: request.bucket, from: request.startOffset)
      if range.lower.lexicographicallyPrecedes(start) { range = KeyRange(from: start, to: range.upper) }
    }
    if !request.endOffset.isEmpty {
      let end = Keys.firstObject(in: request.bucket, from: request.endOffset)
      if range.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true { range = KeyRange(from: range.lower, to: end) }
    }
    return range
  }

  private static func page(
    _ request: ListRequest, _ range: KeyRange, _ reader: any StoreReader
  ) async throws -> ListPage {
    var machine = ListingMachine(request)
    var page = ListPage()
    var rest: KeyRange? = range
    while let range = rest {
      let skipped = try await fill(&page, &machine, request, range, reader)
      rest = skipped.flatMap { Keys.firstObject(in: request.bucket, after: $0) }
        .map { KeyRange(from: $0, to: range.upper) }
    }
    page.prefixes = machine.prefixes
    return page
  }

  /// Reads objects into a page until it is full, or until a prefix is to be skipped.
  ///
  /// - Returns: The prefix to skip; `nil` at the end of the page.
  private static func fill(
    _ page: inout ListPage, _ machine: inout ListingMachine, _ request: ListRequest, _ range: KeyRange,
    _ reader: any StoreReader
  ) async throws -> String? {
    var skipped: String?
    _ = try await reader.scan(range, order: .ascending, limit: nil) { key, value in
      let name = try Keys.objectName(key.bytes)
      switch machine.visit(name.name) {
      case .item:
        page.items.append(try ObjectRecord.row(value.bytes, of: "object \(name)").object(named: name))
        return .next
      case .skip(let prefix): skipped = prefix
      case .full(let next): page.nextPageToken = ListToken.token(from: next, of: request)
      }
      return .stop
    }
    return skipped
  }
}
