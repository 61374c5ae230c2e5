public import VestaBytes
public import VestaServiceInterop

/// A request that names one resource, such as `google.firestore.admin.v1.GetIndexRequest`.
public struct NamedRequest: Sendable, Hashable {
  /// The resource name.
  public var name = ""
  /// The checksum that the resource must have; empty for any.
  public var etag = ""

  /// No fields.
  public init() {}
}

/// The statement of the requests that name one resource.
///
/// A deletion of a database has a checksum as well.
public enum NamedRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: NamedRequest { NamedRequest() }

  /// Visits the fields.
  public static func visit(_ request: inout NamedRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &request.name, ProtobufString.self)
    try visitor.field(3, "etag", &request.etag, ProtobufString.self)
  }
}

/// A request for a page of resources, such as `google.firestore.admin.v1.ListIndexesRequest`.
public struct PageRequest: Sendable, Hashable {
  /// The resource name of the parent.
  public var parent = ""
  /// The condition on the resources; empty for all.
  public var filter = ""
  /// The largest number of resources; 0 for the default.
  public var pageSize: Int32 = 0
  /// The token of the page before; empty for the first page.
  public var pageToken = ""

  /// No fields.
  public init() {}
}

/// The statement of `ListIndexesRequest` and `ListFieldsRequest`.
public enum PageRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: PageRequest { PageRequest() }

  /// Visits the fields.
  public static func visit(_ request: inout PageRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "filter", &request.filter, ProtobufString.self)
    try visitor.field(3, "pageSize", &request.pageSize, ProtobufInt32.self)
    try visitor.field(4, "pageToken", &request.pageToken, ProtobufString.self)
  }
}

/// The statement of `google.longrunning.ListOperationsRequest`.
public enum ListOperationsRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: PageRequest { PageRequest() }

  /// Visits the fields.
  public static func visit(_ request: inout PageRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "filter", &request.filter, ProtobufString.self)
    try visitor.field(2, "pageSize", &request.pageSize, ProtobufInt32.self)
    try visitor.field(3, "pageToken", &request.pageToken, ProtobufString.self)
    try visitor.field(4, "name", &request.parent, ProtobufString.self)
  }
}

/// The statement of `google.firestore.admin.v1.ListIndexesResponse`.
public enum ListIndexesResponseWire: ProtobufSchema {
  /// No indexes.
  public static var empty: Page<AdminIndex> { Page([]) }

  /// Visits the fields.
  public static func visit(_ page: inout Page<AdminIndex>, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "indexes", &page.items, ProtobufMessage<IndexWire>.self)
    try visitor.nextPageToken(&page.nextPageToken)
  }
}

/// The statement of `google.firestore.admin.v1.ListFieldsResponse`.
public enum ListFieldsResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: Page<AdminField> { Page([]) }

  /// Visits the fields.
  public static func visit(_ page: inout Page<AdminField>, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "fields", &page.items, ProtobufMessage<FieldWire>.self)
    try visitor.nextPageToken(&page.nextPageToken)
  }
}

/// The statement of `google.longrunning.ListOperationsResponse`.
public enum ListOperationsResponseWire: ProtobufSchema {
  /// No operations.
  public static var empty: Page<AdminOperation> { Page([]) }

  /// Visits the fields.
  public static func visit(
    _ page: inout Page<AdminOperation>, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "operations", &page.items, ProtobufMessage<OperationWire>.self)
    try visitor.nextPageToken(&page.nextPageToken)
  }
}

/// The fields of `google.firestore.admin.v1.CreateIndexRequest`.
public struct CreateIndexRequest: Sendable, Hashable {
  /// The resource name of the collection group.
  public var parent = ""
  /// The index.
  public var index = AdminIndex()

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.CreateIndexRequest`.
public enum CreateIndexRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: CreateIndexRequest { CreateIndexRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout CreateIndexRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "index", &request.index, ProtobufMessage<IndexWire>.self)
  }
}

/// The fields of `google.firestore.admin.v1.UpdateFieldRequest`.
public struct UpdateFieldRequest: Sendable, Hashable {
  /// The field as it is to be.
  public var field = AdminField()
  /// The paths that change; `nil` for all that are given.
  public var mask: [String]?

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.UpdateFieldRequest`.
public enum UpdateFieldRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: UpdateFieldRequest { UpdateFieldRequest() }

  /// Visits the fields.
  public static func visit(
    _ request: inout UpdateFieldRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "field", &request.field, ProtobufMessage<FieldWire>.self)
    try visitor.optional(2, "updateMask", &request.mask, FieldMaskWire.self)
  }
}

extension ProtobufVisitor {
  /// Visits the token of the next page, which is empty on the wire for the last page.
  fileprivate mutating func nextPageToken(_ token: inout String?) throws(BytesError) {
    var text = token ?? ""
    try field(2, "nextPageToken", &text, ProtobufString.self)
    token = text.isEmpty ? nil : text
  }
}
