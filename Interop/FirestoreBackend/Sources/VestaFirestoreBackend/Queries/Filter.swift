/// A condition that documents must match.
public indirect enum Filter: Sendable, Hashable {
  /// Several filters joined.
  case composite(CompositeOperator, [Filter])
  /// A field compared with a value. Null and NaN are asked for by `unary`.
  case field(path: String, FieldOperator, Value)
  /// A question about a field alone.
  case unary(path: String, UnaryOperator)

  /// The operators that join filters.
  public enum CompositeOperator: Sendable, Hashable {
    /// All of them match.
    case and
    /// At least one of them matches.
    case or
  }

  /// The operators that compare a field with a value.
  public enum FieldOperator: String, Sendable, Hashable, CaseIterable {
    /// Below the value, and of its type.
    case lessThan = "LESS_THAN"
    /// Below or equal to the value, and of its type.
    case lessThanOrEqual = "LESS_THAN_OR_EQUAL"
    /// Above the value, and of its type.
    case greaterThan = "GREATER_THAN"
    /// Above or equal to the value, and of its type.
    case greaterThanOrEqual = "GREATER_THAN_OR_EQUAL"
    /// Equal to the value.
    case equal = "EQUAL"
    /// There, not null, and not equal to the value.
    case notEqual = "NOT_EQUAL"
    /// An array that contains the value.
    case arrayContains = "ARRAY_CONTAINS"
    /// Equal to one of an array of values.
    case `in` = "IN"
    /// An array that contains one of an array of values.
    case arrayContainsAny = "ARRAY_CONTAINS_ANY"
    /// The field exists, is not null, and equals none of an array of values.
    case notIn = "NOT_IN"
  }

  /// A condition on a field without an operand.
  public enum UnaryOperator: String, Sendable, Hashable, CaseIterable {
    /// The field is NaN.
    case isNaN = "IS_NAN"
    /// The field is null.
    case isNull = "IS_NULL"
    /// The field is there, not null, and not NaN.
    case isNotNaN = "IS_NOT_NAN"
    /// The field is there and not null.
    case isNotNull = "IS_NOT_NULL"
  }
}
