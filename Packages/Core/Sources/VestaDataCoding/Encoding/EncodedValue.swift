import Foundation

/// A part of the result while it is built.
///
/// Containers are objects, because a container that was handed out is filled while its parent is filled too.
enum EncodedValue {
  case leaf(Any)
  case array(EncodedArray)
  case dictionary(EncodedDictionary)
  /// The place for the value of an encoder that was handed out, such as that of a superclass.
  case pending(EncodedSlot)

  /// The finished value.
  ///
  /// A place into which nothing was encoded is an empty dictionary.
  var value: Any {
    switch self {
    case .leaf(let value): value
    case .array(let array): array.elements.map(\.value)
    case .dictionary(let dictionary): dictionary.members.mapValues(\.value)
    case .pending(let slot): slot.content?.value ?? [String: Any]()
    }
  }
}

final class EncodedArray {
  var elements: [EncodedValue] = []
}

final class EncodedDictionary {
  var members: [String: EncodedValue] = [:]
}

/// A place for one value, and the first mistake made while it was filled.
final class EncodedSlot {
  var content: EncodedValue?
  /// Two kinds of container were asked for at one place; container calls cannot throw, so the error is thrown later.
  var failure: EncodingError?
}
