internal import VestaFirestoreBackend

// One pair of functions for each operator: the field as a string with dots between names, or as a path.

extension Filter {
  /// Matches documents whose field equals the value.
  public static func whereField(_ field: String, isEqualTo value: Any) -> Filter { make(field, .equal, value) }

  /// Matches documents whose field equals the value.
  public static func whereField(_ path: FieldPath, isEqualTo value: Any) -> Filter { make(path, .equal, value) }

  /// Matches documents whose field exists and does not equal the value.
  public static func whereField(_ field: String, isNotEqualTo value: Any) -> Filter { make(field, .notEqual, value) }

  /// Matches documents whose field exists and does not equal the value.
  public static func whereField(_ path: FieldPath, isNotEqualTo value: Any) -> Filter { make(path, .notEqual, value) }

  /// Matches documents whose field is less than the value.
  public static func whereField(_ field: String, isLessThan value: Any) -> Filter { make(field, .lessThan, value) }

  /// Matches documents whose field is less than the value.
  public static func whereField(_ path: FieldPath, isLessThan value: Any) -> Filter { make(path, .lessThan, value) }

  /// Matches documents whose field is less than or equal to the value.
  public static func whereField(_ field: String, isLessThanOrEqualTo value: Any) -> Filter {
    make(field, .lessThanOrEqual, value)
  }

  /// Matches documents whose field is less than or equal to the value.
  public static func whereField(_ path: FieldPath, isLessThanOrEqualTo value: Any) -> Filter {
    make(path, .lessThanOrEqual, value)
  }

  /// Matches documents whose field is greater than the value.
  public static func whereField(_ field: String, isGreaterThan value: Any) -> Filter {
    make(field, .greaterThan, value)
  }

  /// Matches documents whose field is greater than the value.
  public static func whereField(_ path: FieldPath, isGreaterThan value: Any) -> Filter {
    make(path, .greaterThan, value)
  }

  /// Matches documents whose field is greater than or equal to the value.
  public static func whereField(_ field: String, isGreaterOrEqualTo value: Any) -> Filter {
    make(field, .greaterThanOrEqual, value)
  }

  /// Matches documents whose field is greater than or equal to the value.
  public static func whereField(_ path: FieldPath, isGreaterOrEqualTo value: Any) -> Filter {
    make(path, .greaterThanOrEqual, value)
  }

  /// Matches documents whose field is an array that contains the value.
  public static func whereField(_ field: String, arrayContains value: Any) -> Filter {
    make(field, .arrayContains, value)
  }

  /// Matches documents whose field is an array that contains the value.
  public static func whereField(_ path: FieldPath, arrayContains value: Any) -> Filter {
    make(path, .arrayContains, value)
  }

  /// Matches documents whose field is an array that contains one of the values.
  public static func whereField(_ field: String, arrayContainsAny values: [Any]) -> Filter {
    make(field, .arrayContainsAny, values)
  }

  /// Matches documents whose field is an array that contains one of the values.
  public static func whereField(_ path: FieldPath, arrayContainsAny values: [Any]) -> Filter {
    make(path, .arrayContainsAny, values)
  }

  /// Matches documents whose field equals one of the values.
  public static func whereField(_ field: String, in values: [Any]) -> Filter { make(field, .`in`, values) }

  /// Matches documents whose field equals one of the values.
  public static func whereField(_ path: FieldPath, in values: [Any]) -> Filter { make(path, .`in`, values) }

  /// Matches documents whose field exists and equals none of the values.
  public static func whereField(_ field: String, notIn values: [Any]) -> Filter { make(field, .notIn, values) }

  /// Matches documents whose field exists and equals none of the values.
  public static func whereField(_ path: FieldPath, notIn values: [Any]) -> Filter { make(path, .notIn, values) }
}
