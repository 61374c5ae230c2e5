internal import VestaFirestoreBackend

// One pair of functions for each operator: the field as a string with dots between names, or as a path.

extension Query {
  /// The query for documents whose field also equals the value.
  public func whereField(_ field: String, isEqualTo value: Any) -> Query { whereFilter(.make(field, .equal, value)) }

  /// The query for documents whose field also equals the value.
  public func whereField(_ path: FieldPath, isEqualTo value: Any) -> Query { whereFilter(.make(path, .equal, value)) }

  /// The query for documents whose field also exists and does not equal the value.
  public func whereField(_ field: String, isNotEqualTo value: Any) -> Query {
    whereFilter(.make(field, .notEqual, value))
  }

  /// The query for documents whose field also exists and does not equal the value.
  public func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Query {
    whereFilter(.make(path, .notEqual, value))
  }

  /// The query for documents whose field also is less than the value.
  public func whereField(_ field: String, isLessThan value: Any) -> Query {
    whereFilter(.make(field, .lessThan, value))
  }

  /// The query for documents whose field also is less than the value.
  public func whereField(_ path: FieldPath, isLessThan value: Any) -> Query {
    whereFilter(.make(path, .lessThan, value))
  }

  /// The query for documents whose field also is less than or equal to the value.
  public func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Query {
    whereFilter(.make(field, .lessThanOrEqual, value))
  }

  /// The query for documents whose field also is less than or equal to the value.
  public func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Query {
    whereFilter(.make(path, .lessThanOrEqual, value))
  }

  /// The query for documents whose field also is greater than the value.
  public func whereField(_ field: String, isGreaterThan value: Any) -> Query {
    whereFilter(.make(field, .greaterThan, value))
  }

  /// The query for documents whose field also is greater than the value.
  public func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Query {
    whereFilter(.make(path, .greaterThan, value))
  }

  /// The query for documents whose field also is greater than or equal to the value.
  public func whereField(_ field: String, isGreaterThanOrEqualTo value: Any) -> Query {
    whereFilter(.make(field, .greaterThanOrEqual, value))
  }

  /// The query for documents whose field also is greater than or equal to the value.
  public func whereField(_ path: FieldPath, isGreaterThanOrEqualTo value: Any) -> Query {
    whereFilter(.make(path, .greaterThanOrEqual, value))
  }

  /// The query for documents whose field also is an array that contains the value.
  public func whereField(_ field: String, arrayContains value: Any) -> Query {
    whereFilter(.make(field, .arrayContains, value))
  }

  /// The query for documents whose field also is an array that contains the value.
  public func whereField(_ path: FieldPath, arrayContains value: Any) -> Query {
    whereFilter(.make(path, .arrayContains, value))
  }

  /// The query for documents whose field also is an array that contains one of the values.
  public func whereField(_ field: String, arrayContainsAny values: [Any]) -> Query {
    whereFilter(.make(field, .arrayContainsAny, values))
  }

  /// The query for documents whose field also is an array that contains one of the values.
  public func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Query {
    whereFilter(.make(path, .arrayContainsAny, values))
  }

  /// The query for documents whose field also equals one of the values.
  public func whereField(_ field: String, in values: [Any]) -> Query { whereFilter(.make(field, .`in`, values)) }

  /// The query for documents whose field also equals one of the values.
  public func whereField(_ path: FieldPath, in values: [Any]) -> Query { whereFilter(.make(path, .`in`, values)) }

  /// The query for documents whose field also exists and equals none of the values.
  public func whereField(_ field: String, notIn values: [Any]) -> Query { whereFilter(.make(field, .notIn, values)) }

  /// The query for documents whose field also exists and equals none of the values.
  public func whereField(_ path: FieldPath, notIn values: [Any]) -> Query { whereFilter(.make(path, .notIn, values)) }
}
