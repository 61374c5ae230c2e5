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
    guard let range = try Self.range(of: request) else { return ListPage() }
    return try await read(expecting: .scan(range, order: .ascending, limit: nil)) {
      try await Self.page(request, range, $0)
    }
  }

  /// The keys of a page and of all pages after it; `nil` for none.
  private static func range(of request: ListRequest) throws(StorageServiceError) -> KeyRange? {
    func key(_ name: String) -> [UInt8] { Keys.firstObject(in: request.bucket, from: name) }
    let all = Keys.objects(in: request.bucket, prefix: request.prefix)
    let page = try request.pageToken.map { (token) throws(StorageServiceError) in
      key(try ListToken.name(token, of: request))
    }
    let starts = [all.lower, request.startOffset.map(key), page].compactMap(\.self)
    let ends = [all.upper, request.endOffset.map(key)].compactMap(\.self)
    func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
    let range = KeyRange(from: starts.max(by: precedes) ?? [], to: ends.min(by: precedes))
    return range.isEmpty ? nil : range
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
        .map { KeyRange(from: $0, to: range.upper) }.flatMap { $0.isEmpty ? nil : $0 }
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
