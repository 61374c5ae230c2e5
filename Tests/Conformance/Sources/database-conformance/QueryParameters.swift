import Foundation
import VestaDatabaseBackend
import VestaDatabaseModel

/// Reads the parameters of a query.
enum QueryParameters {
  static func spec(_ fields: [String: Any]) throws -> DatabaseQuerySpec {
    var spec = DatabaseQuerySpec()
    if fields["orderByKey"] as? Bool == true { spec.index = .key }
    if let order = fields["orderBy"] as? String { spec.index = .child(DatabasePath(order)) }
    if let bound = fields["startAt"] as? [String: Any] { spec.start = try self.bound(bound, spec.index) }
    if let bound = fields["startAfter"] as? [String: Any] {
      spec.start = try self.bound(bound, spec.index, isInclusive: false)
    }
    if let bound = fields["endAt"] as? [String: Any] { spec.end = try self.bound(bound, spec.index) }
    if let bound = fields["endBefore"] as? [String: Any] {
      spec.end = try self.bound(bound, spec.index, isInclusive: false)
    }
    if let bound = fields["equalTo"] as? [String: Any] {
      spec.start = try self.bound(bound, spec.index)
      spec.end = spec.start
    }
    if let count = fields["limitToFirst"] as? Int { spec.limit = .init(count, .first) }
    if let count = fields["limitToLast"] as? Int { spec.limit = .init(count, .last) }
    return spec
  }

  private static func bound(
    _ fields: [String: Any], _ index: DatabaseIndex, isInclusive: Bool = true
  ) throws -> DatabaseQuerySpec.Bound {
    let value = try NodeImport(at: .root).node(fields["index"])
    return .init(value, key: (fields["name"] as? String).map { DatabaseKey($0) }, isInclusive: isInclusive)
  }
}
