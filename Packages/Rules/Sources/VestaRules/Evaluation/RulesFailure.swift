/// The reason why an expression has no value.
public enum RulesFailure: Sendable, Hashable {
  /// A member that an object does not have.
  case undefinedProperty(String)
  /// A member or a method of null, or a name that means nothing.
  case nullValue
  /// A division by zero.
  case divideByZero
  /// The result of an operation on integers does not fit 64 bits.
  case overflow
  /// A function or method that does not exist.
  case functionNotFound(String)
  /// A function or operator that does not exist for values of these types.
  case unsupportedOperation(received: String, expected: [String])
  /// A value of another type than the place needs.
  case typeMismatch(received: String, expected: String)
  /// An index outside of a string, list or path.
  case indexOutOfBounds(index: Int64, size: Int)
  /// A call with a wrong number of arguments.
  case incorrectArguments(String)
  /// A value that cannot be converted.
  case conversion
  /// A lookup that failed, with the name of the function and the path.
  case serviceCall(function: String, path: RulesPath)
  /// A geo point outside of the ranges.
  case coordinates(latitude: Double, longitude: Double)
  /// An argument outside of the range of a function.
  case invalidArgument(String)
  /// A regular expression that cannot be read.
  case invalidPattern(String)
  /// The request has evaluated as many expressions as it may.
  case expressionLimit(Int)
  /// The values of the request became too large.
  case sizeLimit
  /// A value that a query does not fix.
  case unknown
  /// A lookup whose document has not been read yet; the decision is made again when it has.
  case notYetRead
}

extension RulesFailure: CustomStringConvertible {
  /// The message, as the production service writes it where it is known.
  public var description: String {
    switch self {
    case .undefinedProperty(let name): "Property \(name) is undefined on object."
    case .nullValue: "Null value error."
    case .divideByZero: "Divide by zero error."
    case .overflow: "Integer overflow error."
    case .functionNotFound(let name): "Function not found error: Name: [\(name)]."
    case .unsupportedOperation(let received, let expected):
      "Unsupported operation error. Received: \(received). Expected: \(expected.joined(separator: ", "))."
    case .typeMismatch(let received, let expected): "Type error. Received: [\(received)] Expected: [\(expected)]."
    case .indexOutOfBounds(let index, let size): "Index out of bound error. Index: [\(index)] , size: [\(size)]."
    case .incorrectArguments(let name): "Incorrect number of arguments supplied to function: \(name)."
    case .conversion: "Type conversion error."
    case .serviceCall(let function, let path):
      "Service call error. Function: [\(function)], Argument: [\(RulesFailure.argument(path))]."
    case .coordinates(let latitude, let longitude):
      "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. latitude: "
        + "\(JavaNumbers.text(latitude)), longitude: \(JavaNumbers.text(longitude))."
    case .invalidArgument(let text): text
    case .invalidPattern(let reason): "Invalid regular expression: \(reason)."
    case .expressionLimit(let limit): "maximum of \(limit) expressions to evaluate has been reached"
    case .sizeLimit: "maximum size of values has been reached"
    case .unknown: "The query does not fix the value."
    case .notYetRead: "The document has not been read yet."
    }
  }

  /// A path in the form in which production writes the argument of a lookup.
  private static func argument(_ path: RulesPath) -> String {
    let segments = path.segments.map { "  segments {\n    simple: \"\($0)\"\n  }\n" }.joined()
    return "path_value {\n\(segments)}\n"
  }

  /// Whether no other operand makes up for it: it ends the whole decision.
  var isFinal: Bool {
    switch self {
    case .expressionLimit, .sizeLimit, .notYetRead: true
    default: false
    }
  }
}
