public import Foundation
import VestaBytes
import VestaDataCoding
import VestaFunctionsValues

/// An account of an event.
public struct EventUser: Sendable {
  /// The id of the user.
  public let uid: String
  /// The e-mail address.
  public let email: String?
  /// Whether the address was verified.
  public let emailVerified: Bool
  /// The name to show.
  public let displayName: String?
  /// The URL of the photo.
  public let photoURL: String?
  /// The phone number.
  public let phoneNumber: String?
  /// Whether the account is disabled.
  public let disabled: Bool
  /// The tenant; `nil` for the project itself.
  public let tenantID: String?
  /// The time of the creation.
  public let creationTime: Date?
  /// The time of the last sign-in.
  public let lastSignInTime: Date?
  /// The ids of the linked providers.
  public let providerIDs: [String]

  init(json: JSONObject) {
    uid = json["uid"]?.string ?? ""
    email = json["email"]?.string
    emailVerified = json["emailVerified"]?.bool ?? false
    displayName = json["displayName"]?.string
    photoURL = json["photoURL"]?.string
    phoneNumber = json["phoneNumber"]?.string
    disabled = json["disabled"]?.bool ?? false
    tenantID = json["tenantId"]?.string
    let metadata = json["metadata"]?.object
    creationTime = metadata?["createdAt"]?.string.flatMap { WireTime.date($0) }
    lastSignInTime = metadata?["lastSignedInAt"]?.string.flatMap { WireTime.date($0) }
    providerIDs = json["providerData"]?.array?.compactMap { $0.object?["providerId"]?.string } ?? []
  }
}

/// An object of an event.
public struct EventObject: Sendable {
  /// The bucket.
  public let bucket: String
  /// The path within the bucket.
  public let name: String
  /// The generation of the content.
  public let generation: Int64
  /// The generation of the metadata.
  public let metageneration: Int64
  /// The number of bytes.
  public let size: Int64
  /// The media type.
  public let contentType: String?
  /// The MD5 digest of the content, in Base64.
  public let md5Hash: String?
  /// The metadata that the app has set.
  public let metadata: [String: String]
  /// The time of the last change.
  public let updated: Date?

  init(json: JSONObject) {
    func number(_ name: String) -> Int64 { json[name]?.string.flatMap { Int64($0) } ?? json[name]?.integer ?? 0 }
    bucket = json["bucket"]?.string ?? ""
    name = json["name"]?.string ?? ""
    generation = number("generation")
    metageneration = number("metageneration")
    size = number("size")
    contentType = json["contentType"]?.string
    md5Hash = json["md5Hash"]?.string
    updated = json["updated"]?.string.flatMap { WireTime.date($0) }
    let members = json["metadata"]?.object?.members ?? []
    metadata = Dictionary(members.map { ($0.name, $0.value.string ?? "") }, uniquingKeysWith: { $1 })
  }
}

/// A value of the tree in an event.
public struct EventValue: Sendable {
  /// The key: the last segment of the path; `nil` for the root.
  public let key: String?

  let json: JSONValue

  /// The value: `NSNull` where it is larger than 8 MiB, which an event does not carry, `NSNumber` for numbers and
  /// booleans, `String`, `[Any]` or `[String: Any]`.
  public var value: Any { decoded(.foundation) }

  private func decoded(_ numbers: CallableValue.Numbers) -> Any {
    (try? CallableValue.decode(json, numbers: numbers)) ?? NSNull()
  }

  /// The value as a value of a type.
  ///
  /// - Throws: `DecodingError` when it has another shape.
  public func value<Value: Decodable>(as type: Value.Type) throws -> Value {
    try SharedCoders().decoder.decode(type, from: decoded(.swift))
  }
}

/// A published template of Remote Config in an event.
public struct EventConfig: Sendable {
  /// The number of the version.
  public let versionNumber: Int64
  /// The description of the version.
  public let description: String?
  /// The origin of the update.
  public let updateOrigin: String?
  /// The kind of the update.
  public let updateType: String?

  init(json: JSONObject) {
    versionNumber = json["versionNumber"]?.string.flatMap { Int64($0) } ?? json["versionNumber"]?.integer ?? 0
    description = json["description"]?.string
    updateOrigin = json["updateOrigin"]?.string
    updateType = json["updateType"]?.string
  }
}

/// A run of a schedule.
public struct ScheduledRun: Sendable {
  /// The time at which the run was due.
  public let scheduleTime: Date

  /// The schedule as it was registered.
  public let schedule: String
}
