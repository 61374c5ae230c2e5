public import Foundation

/// Names the types that encoding and decoding leave as they are.
///
/// A product that has special leaf values (timestamps, document references) provides one:
/// ```swift
/// enum LeafValues: StructureCodingPassthroughTypeResolver {
///   static func isPassthroughType<T>(_ value: T) -> Bool { value is Timestamp || value is DocumentReference }
/// }
/// ```
public protocol StructureCodingPassthroughTypeResolver {
  /// Whether a value is put into the structure, and taken from it, without being encoded.
  static func isPassthroughType<T>(_ value: T) -> Bool
}

/// The resolver of encoders and decoders that have no special leaf types.
public enum NoPassthroughTypes: StructureCodingPassthroughTypeResolver {
  /// Encodes every value.
  public static func isPassthroughType<T>(_ value: T) -> Bool { false }
}

/// A property that is not written into its container, such as the identifier of the document it sits in.
///
/// A keyed container leaves out the key of such a value, and decodes the value from the decoder of the container
/// itself, whether the key is there or not. In other containers it is encoded and decoded as usual.
public protocol StructureCodingUncodedUnkeyed {}

/// A configuration value that converts itself when it is decoded: one string that is read as a number, a boolean or
/// JSON.
public protocol FirebaseRemoteConfigValueDecoding {
  /// The value as a number.
  func numberValue() -> NSNumber
  /// The value as a boolean.
  func boolValue() -> Bool
  /// The value as a string.
  func stringValue() -> String
  /// The value as bytes.
  func dataValue() -> Data
  /// The value as an array, when it is one in JSON.
  func arrayValue() -> [AnyHashable]?
  /// The value as a dictionary, when it is one in JSON.
  func dictionaryValue() -> [String: AnyHashable]?
}
