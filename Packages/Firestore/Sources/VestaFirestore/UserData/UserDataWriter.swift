internal import Foundation
internal import VestaCore
internal import VestaFirestoreBackend
internal import VestaFirestoreModel

/// Turns stored values into what applications get as `Any`: `NSNumber`, `String`, `Timestamp`, `Data`, `NSNull`, ...
struct UserDataWriter: Sendable {
  /// How server timestamps are shown that the backend has not set yet.
  let behavior: ServerTimestampBehavior
  /// Makes the reference to a document from its resource name.
  let reference: @Sendable (String) -> DocumentReference?

  /// Called with a name that `dictionary(_:)` has to leave out.
  var leftOut: @Sendable (String) -> Void = UserDataWriter.warn

  init(behavior: ServerTimestampBehavior, reference: @escaping @Sendable (String) -> DocumentReference?) {
    self.behavior = behavior
    self.reference = reference
  }

  @Sendable private static func warn(_ name: String) {
    log.warning(
      "I-FST000005",
      "The field \(name) is left out: another field has an equal name in another normal form, which a Swift dictionary "
        + "cannot hold beside it. Read such fields with get(FieldPath), and write them with updateData.")
  }

  /// All fields of a document.
  ///
  /// Names that differ in their normal form alone (`é` as one scalar or as two) are different fields, and equal keys
  /// of a dictionary: the first one in the order of bytes is in, with its own value.
  func dictionary(_ fields: MapValue) -> [String: Any] {
    var result: [String: Any] = [:]
    result.reserveCapacity(fields.count)
    for (name, value) in fields { result[name] = any(value) }
    return result.count == fields.count ? result : distinct(fields)
  }

  private func distinct(_ fields: MapValue) -> [String: Any] {
    var result: [String: Any] = [:]
    for (name, value) in fields {
      if result[name] == nil { result[name] = any(value) } else { leftOut(name) }
    }
    return result
  }

  /// One value.
  func any(_ value: Value) -> Any {
    switch value {
    case .null: NSNull()
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .timestamp(let value): Timestamp(clamping: value)
    case .string(let value): value
    case .bytes(let value): Data(value)
    case .reference(let name): reference(name) as Any? ?? NSNull()
    case .geoPoint(let value): GeoPoint(value)
    case .array(let elements): elements.map(any)
    case .map(let fields): map(fields)
    }
  }

  private func map(_ fields: MapValue) -> Any {
    switch special(fields) {
    case .shown(let value)?: any(value)
    case .vector(let vector)?: vector
    case nil: dictionary(fields)
    }
  }

  /// A map that stands for something else.
  enum Special {
    /// A server timestamp that the backend has not set, and what is shown in its place.
    case shown(Value)
    case vector(VectorValue)
  }

  /// The meaning of a map that stands for another value; `nil` for a plain map.
  func special(_ fields: MapValue) -> Special? {
    if let shown = ServerTimestampView(behavior: behavior).resolved(.map(fields)) { return .shown(shown) }
    return VectorValue(stored: fields).map(Special.vector)
  }
}

/// The value in place of a server timestamp that the backend has not set yet.
struct ServerTimestampView: Sendable {
  let behavior: ServerTimestampBehavior

  /// The value to show; `nil` if the value is no pending server timestamp and is shown as it is.
  func resolved(_ value: Value) -> Value? {
    guard let time = value.pendingWriteTime else { return nil }
    switch behavior {
    case .none: return .null
    case .estimate: return .timestamp(time)
    case .previous: return value.pendingPreviousValue.map { resolved($0) ?? $0 } ?? .null
    }
  }
}

extension VectorValue {
  /// The vector that a map encodes; `nil` for every other map.
  convenience init?(stored fields: MapValue) {
    guard fields.isVector, let elements = Value.map(fields).vectorElements else { return nil }
    var numbers: [Double] = []
    numbers.reserveCapacity(elements.count)
    for element in elements {
      switch element {
      case .double(let number): numbers.append(number)
      case .integer(let number): numbers.append(Double(number))
      default: return nil
      }
    }
    self.init(numbers)
  }
}

private let log = Logger(service: "VestaFirestore")
