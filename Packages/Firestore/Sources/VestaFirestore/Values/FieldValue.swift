internal import VestaFirestoreBackend

/// A value that the database computes when it stores a document: the time, a sum, a change of an array.
///
/// ```swift
/// try await room.updateData(["visits": FieldValue.increment(Int64(1)), "seen": FieldValue.serverTimestamp()])
/// ```
public final class FieldValue: Sendable, Hashable, CustomStringConvertible {
  /// The operation on the field.
  enum Operation: Sendable, Hashable {
    case delete
    case serverTimestamp
    case arrayUnion([UserValue])
    case arrayRemove([UserValue])
    case increment(Value)
    case minimum(Value)
    case maximum(Value)
  }

  /// The operation on the field.
  let operation: Operation

  init(_ operation: Operation) { self.operation = operation }

  /// Deletes the field; for `updateData` and `setData` with `merge: true`.
  public static func delete() -> FieldValue { FieldValue(.delete) }

  /// Sets the field to the time of the commit.
  public static func serverTimestamp() -> FieldValue { FieldValue(.serverTimestamp) }

  /// Appends the elements that an array does not contain yet.
  ///
  /// A field that is no array is replaced by one.
  public static func arrayUnion(_ elements: [Any]) -> FieldValue {
    FieldValue(.arrayUnion(elements.map(UserValue.init(any:))))
  }

  /// Removes all occurrences of the elements from an array.
  ///
  /// A field that is no array is replaced by an empty one.
  public static func arrayRemove(_ elements: [Any]) -> FieldValue {
    FieldValue(.arrayRemove(elements.map(UserValue.init(any:))))
  }

  /// Adds a number to the field.
  ///
  /// A field that is no number becomes the operand.
  public static func increment(_ d: Double) -> FieldValue { FieldValue(.increment(.double(d))) }

  /// Adds an integer to the field; the sum stops at the ends of the range.
  ///
  /// A field that is no number becomes the operand.
  public static func increment(_ l: Int64) -> FieldValue { FieldValue(.increment(.integer(l))) }

  /// Sets the field to the smaller of its value and the operand.
  ///
  /// A field that is no number becomes the operand.
  public static func minimum(_ d: Double) -> FieldValue { FieldValue(.minimum(.double(d))) }

  /// Sets the field to the smaller of its value and the operand.
  ///
  /// A field that is no number becomes the operand.
  public static func minimum(_ l: Int64) -> FieldValue { FieldValue(.minimum(.integer(l))) }

  /// Sets the field to the larger of its value and the operand.
  ///
  /// A field that is no number becomes the operand.
  public static func maximum(_ d: Double) -> FieldValue { FieldValue(.maximum(.double(d))) }

  /// Sets the field to the larger of its value and the operand.
  ///
  /// A field that is no number becomes the operand.
  public static func maximum(_ l: Int64) -> FieldValue { FieldValue(.maximum(.integer(l))) }

  /// Creates a vector of doubles.
  public static func vector(_ array: [Double]) -> VectorValue { VectorValue(array) }

  /// Creates a vector of floats.
  public static func vector(_ array: [Float]) -> VectorValue { VectorValue(array) }

  /// Whether two field values do the same.
  public static func == (left: FieldValue, right: FieldValue) -> Bool { left.operation == right.operation }

  /// Hashes the operation.
  public func hash(into hasher: inout Hasher) { hasher.combine(operation) }

  /// The call that makes this value, such as `FieldValue.increment()`; errors quote it.
  public var description: String { name + "()" }

  /// The name of the function that makes this value.
  var name: String {
    switch operation {
    case .delete: "FieldValue.delete"
    case .serverTimestamp: "FieldValue.serverTimestamp"
    case .arrayUnion: "FieldValue.arrayUnion"
    case .arrayRemove: "FieldValue.arrayRemove"
    case .increment: "FieldValue.increment"
    case .minimum: "FieldValue.minimum"
    case .maximum: "FieldValue.maximum"
    }
  }
}

/// Lets models hold field values: ``Firestore/Encoder`` keeps them, every other encoder refuses them.
extension FieldValue: Encodable {
  /// Refuses to encode.
  ///
  /// - Throws: ``FirestoreEncodingError/encodingIsNotSupported(_:)``; a ``Firestore/Encoder`` never calls this.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported("FieldValue values can only be encoded with Firestore.Encoder")
  }
}
