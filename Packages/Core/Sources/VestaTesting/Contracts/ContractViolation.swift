/// A promise that an implementation did not keep.
public struct ContractViolation: Error, CustomStringConvertible {
  /// The expected and the actual value.
  public let message: String

  /// The file of the check, as `#fileID`.
  public let file: String

  /// The line of the check.
  public let line: Int

  /// A violation at the given source location.
  ///
  /// - Parameters:
  ///   - message: The expected and the actual value.
  ///   - file: The file of the check; the caller's by default.
  ///   - line: The line of the check; the caller's by default.
  public init(_ message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.file = file
    self.line = line
  }

  /// The message and where it was found.
  public var description: String { "\(message) (\(file):\(line))" }
}

/// Expects a condition to hold.
///
/// - Parameters:
///   - condition: The condition.
///   - message: The message when it is false.
///   - file: The file of the check; the caller's by default.
///   - line: The line of the check; the caller's by default.
/// - Throws: `ContractViolation` when the condition is false.
public func expect(
  _ condition: Bool,
  _ message: @autoclosure () -> String,
  file: String = #fileID,
  line: Int = #line
) throws {
  guard condition else { throw ContractViolation(message(), file: file, line: line) }
}

/// Expects two values to be equal.
///
/// - Parameters:
///   - actual: The value from the implementation.
///   - expected: The promised value.
///   - what: The name of the value, for the message.
///   - file: The file of the check; the caller's by default.
///   - line: The line of the check; the caller's by default.
/// - Throws: `ContractViolation` with both values when they differ.
public func expect<Value: Equatable>(
  _ actual: Value,
  equals expected: Value,
  _ what: @autoclosure () -> String,
  file: String = #fileID,
  line: Int = #line
) throws {
  guard actual == expected else {
    throw ContractViolation("\(what()): expected \(expected), found \(actual)", file: file, line: line)
  }
}

/// Expects a value to be there.
///
/// - Parameters:
///   - value: The value from the implementation.
///   - what: The name of the value, for the message.
///   - file: The file of the check; the caller's by default.
///   - line: The line of the check; the caller's by default.
/// - Returns: The value.
/// - Throws: `ContractViolation` when there is none.
public func expectValue<Value>(
  _ value: Value?,
  _ what: @autoclosure () -> String,
  file: String = #fileID,
  line: Int = #line
) throws -> Value {
  guard let value else { throw ContractViolation("\(what()): nothing there", file: file, line: line) }
  return value
}

/// Expects an operation to throw an error of one type.
///
/// - Parameters:
///   - type: The error's type.
///   - what: The name of the operation, for the message.
///   - file: The file of the check; the caller's by default.
///   - line: The line of the check; the caller's by default.
///   - operation: The operation, which must throw.
/// - Returns: The error that was thrown.
/// - Throws: `ContractViolation` when nothing or something else was thrown.
@discardableResult
public func expectThrows<Failure: Error, Value>(
  _ type: Failure.Type,
  _ what: @autoclosure () -> String,
  file: String = #fileID,
  line: Int = #line,
  _ operation: () async throws -> Value
) async throws -> Failure {
  do {
    _ = try await operation()
  } catch let error as Failure {
    return error
  } catch {
    throw ContractViolation("\(what()): expected \(type), but \(error) was thrown", file: file, line: line)
  }
  throw ContractViolation("\(what()): expected \(type), but nothing was thrown", file: file, line: line)
}
