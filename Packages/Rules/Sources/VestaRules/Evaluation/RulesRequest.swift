/// An operation that is to be allowed or denied: the variables `request` and `resource` as plain values.
///
/// Nil is absent, which is not null: reading an absent member is an error, and comparing it with null too. The live
/// services always give ``auth`` and ``existing``, null where there is nothing.
public struct RulesRequest: Sendable {
  /// The operation.
  public var method: RulesMethod
  /// The path of the document or object, from its root: `/databases/(default)/documents/…`, `/b/<bucket>/o/…`.
  public var path: RulesPath
  /// The variable `request.auth`: null, or a map with `uid` and `token`.
  public var auth: RulesValue?
  /// The variable `request.resource`: the document or object after the write.
  public var resource: RulesValue?
  /// The variable `request.query`.
  public var query: RulesValue?
  /// The variable `request.time`.
  public var time: RulesValue?
  /// The variable `resource`: the document or object before the operation.
  public var existing: RulesValue?

  /// An operation.
  public init(
    _ method: RulesMethod, _ path: RulesPath, auth: RulesValue? = .null, resource: RulesValue? = nil,
    query: RulesValue? = nil, time: RulesValue? = nil, existing: RulesValue? = .null
  ) {
    self.method = method
    self.path = path
    self.auth = auth
    self.resource = resource
    self.query = query
    self.time = time
    self.existing = existing
  }
}

extension RulesRequest {
  /// The value of a member of `request`.
  func value(of field: RequestField, dialect: RulesDialect, service: RulesService) -> RulesValue? {
    switch field {
    case .auth: auth
    case .method: dialect.hasMethod(service) ? .some(.string(method.rawValue)) : .none
    case .path: .path(path)
    case .query: query
    case .resource: resource
    case .time: time
    }
  }

  /// The variable `request` as one map.
  func map(dialect: RulesDialect, service: RulesService) -> RulesMap {
    RulesMap(
      RequestField.allCases.compactMap { field in
        value(of: field, dialect: dialect, service: service).map { RulesMap.Member(field.name, $0) }
      })
  }
}
