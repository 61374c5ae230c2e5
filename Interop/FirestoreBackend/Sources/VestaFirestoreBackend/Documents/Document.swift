/// A document: its name, its fields, and when it was made and changed.
public struct Document: Sendable, Hashable {
  /// The full resource name, `projects/{p}/databases/{d}/documents/{path}`.
  public var name: String

  /// The fields.
  public var fields: MapValue

  /// The time at which the document was created; kept by updates, new after a deletion.
  ///
  /// Ignored in writes.
  public var createTime: Timestamp?

  /// The commit time of the last change; writes that change nothing keep it.
  ///
  /// Ignored in writes.
  public var updateTime: Timestamp?

  /// A document.
  public init(name: String, fields: MapValue = [:], createTime: Timestamp? = nil, updateTime: Timestamp? = nil) {
    self.name = name
    self.fields = fields
    self.createTime = createTime
    self.updateTime = updateTime
  }

  /// Whether the two are the same message; names go by bytes.
  public static func == (left: Document, right: Document) -> Bool {
    UTF8Order.equal(left.name, right.name) && left.fields == right.fields && left.createTime == right.createTime
      && left.updateTime == right.updateTime
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(name, into: &hasher)
    hasher.combine(fields)
    hasher.combine(createTime)
    hasher.combine(updateTime)
  }
}

/// A selection of the fields of a document.
public struct DocumentMask: Sendable, Hashable {
  /// Field paths as the wire writes them: names joined by dots, such as `address.city`; a name that is not simple
  /// is quoted with backticks.
  ///
  /// Order does not matter.
  public var fieldPaths: [String]

  /// A mask of field paths.
  public init(fieldPaths: [String]) { self.fieldPaths = fieldPaths }
}

/// A condition on a document, without which a write fails.
public enum Precondition: Sendable, Hashable {
  /// The document is there, or is not.
  ///
  /// Its failure is `NOT_FOUND` for `true` and `ALREADY_EXISTS` for `false`.
  case exists(Bool)
  /// The document is there, and was last changed at exactly this time; else `FAILED_PRECONDITION`.
  case updateTime(Timestamp)
}
