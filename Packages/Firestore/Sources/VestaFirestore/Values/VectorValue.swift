internal import VestaFirestoreBackend

/// A vector of numbers, as nearest-neighbour queries compare them.
///
/// ```swift
/// try await document.setData(["embedding": FieldValue.vector([0.1, 0.7, 0.2])])
/// ```
public final class VectorValue: Sendable, Hashable, CustomStringConvertible {
  /// The coordinates.
  public let array: [Double]

  /// Creates a vector of doubles.
  public init(_ array: [Double]) { self.array = array }

  /// Creates a vector of floats.
  public convenience init(_ array: [Float]) { self.init(array.map(Double.init)) }

  /// The vector as the backend stores it.
  var wire: Value { .vector(array) }

  /// Whether two vectors have the same coordinates.
  public static func == (left: VectorValue, right: VectorValue) -> Bool { left.array == right.array }

  /// Hashes the coordinates.
  public func hash(into hasher: inout Hasher) { hasher.combine(array) }

  /// The coordinates for a log.
  public var description: String { "<FIRVectorValue: (\(array))>" }
}

/// Codes a vector as a map of `array`; ``Firestore/Encoder`` keeps it as a vector.
extension VectorValue: Codable {
  private enum CodingKeys: String, CodingKey { case array }

  /// Reads `array`.
  public convenience init(from decoder: any Swift.Decoder) throws {
    self.init(try decoder.container(keyedBy: CodingKeys.self).decode([Double].self, forKey: .array))
  }

  /// Writes `array`.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(array, forKey: .array)
  }
}
