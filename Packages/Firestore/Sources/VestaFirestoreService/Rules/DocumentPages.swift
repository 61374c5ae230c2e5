import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInterop

/// The tokens of the pages of one request: the position in its order, and a checksum of what it asks for.
struct DocumentPages {
  private let scope: [UInt8]

  /// The pages of a collection, or of all collections below a parent.
  init(_ request: ListDocumentsRequest) {
    self.init([
      "documents", request.parent, request.collectionID, request.orderBy, request.showMissing ? "missing" : "",
    ])
  }

  /// The pages of the ids of collections.
  init(_ request: ListCollectionIDsRequest) { self.init(["collections", request.parent]) }

  /// The pages of the cursors of a query, which has nothing but a collection.
  init(_ request: PartitionQueryRequest) {
    let collection = request.query.from.first?.collectionID ?? ""
    self.init(["partitions", request.parent, collection, "\(request.partitionCount)"])
  }

  private init(_ parts: [String]) { scope = Array(parts.joined(separator: "\u{0}").utf8) }

  /// The token of the page after an id.
  func token(after id: String) -> String { PageToken(position: Array(id.utf8), of: scope).text }

  /// The token of the page after a result, by the values that it is ordered by.
  func token(after values: [Value]) -> String {
    var writer = RowWriter()
    writer.write(value: .array(values))
    return PageToken(position: writer.bytes, of: scope).text
  }

  /// The id that a page begins after; `nil` for the first page, whose token is empty.
  ///
  /// - Throws: `INVALID_ARGUMENT` for the token of another request, and for a string that is no token.
  func id(_ token: String) throws(FirestoreServiceError) -> String? {
    guard let position = try position(token) else { return nil }
    return String(decoding: position, as: UTF8.self)
  }

  /// The values that a page begins after; `nil` for the first page, whose token is empty.
  ///
  /// - Throws: `INVALID_ARGUMENT` for the token of another request, and for a string that is no token.
  func values(_ token: String) throws(FirestoreServiceError) -> [Value]? {
    guard let position = try position(token) else { return nil }
    var reader = RowReader(position)
    guard case .array(let values)? = try? reader.value(), reader.isAtEnd else { throw Self.invalid }
    return values
  }

  private func position(_ token: String) throws(FirestoreServiceError) -> [UInt8]? {
    if token.isEmpty { return nil }
    do { return try PageToken(token, of: scope).position } catch { throw Self.invalid }
  }

  static let invalid = FirestoreServiceError(
    .invalidArgument,
    "The page token is not of this request. Pass the token of the page before, with the same arguments.")
}
