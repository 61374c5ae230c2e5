import VestaBytes

/// The names and types of the fields of a message.
///
/// One table for reading and checking: an unknown field, a value of another type, a wrong duration or color is an error
/// with the path to it. Checked objects have their names in snake case.
indirect enum MessageSchema: Sendable {
  case string
  case bool
  case integer
  case number
  /// A number of seconds with an `s`, such as `3.5s`, within bounds.
  case duration(maximum: Double)
  /// `#rrggbb`.
  case color
  /// A point in time in the format of RFC 3339.
  case timestamp
  case oneOf([String])
  case list(MessageSchema)
  /// An object with string values and any names.
  case strings
  /// Any JSON object.
  case anything
  case fields([String: MessageSchema])

  func checked(_ object: JSONObject, at path: String) throws(MessagingServiceError) -> JSONObject {
    guard case .fields(let fields) = self else { return object }
    var result = JSONObject()
    for member in object.members {
      let name = Self.snakeCase(member.name)
      guard let schema = fields[name] else { throw .invalid("\(path).\(member.name)", "There is no such field.") }
      guard result[name] == nil else { throw .invalid("\(path).\(member.name)", "The field occurs twice.") }
      if member.value == .null { continue }
      result[name] = try schema.checked(member.value, at: "\(path).\(name)")
    }
    return result
  }

  private func checked(_ value: JSONValue, at path: String) throws(MessagingServiceError) -> JSONValue {
    switch (self, value) {
    case (.string, .string), (.bool, .bool), (.integer, .integer), (.number, .integer): return value
    case (.number, .number(let number)):
      guard number.isFinite else { throw .invalid(path, "A number must be finite.") }
    case (.anything, .object): try Self.checkContents(of: value, at: path, depth: 0)
    case (.integer, .string(let text)) where Int64(text) != nil: return .integer(Int64(text) ?? 0)
    case (.duration(let maximum), .string(let text)):
      guard let seconds = Self.seconds(text), (0...maximum).contains(seconds) else {
        throw .invalid(path, "Expected a duration in seconds from 0s to \(Int(maximum))s, such as \"3.5s\".")
      }
    case (.color, .string(let text)):
      guard Self.isColor(text) else { throw .invalid(path, "Expected a color such as \"#1a2b3c\".") }
    case (.timestamp, .string(let text)):
      guard RFC3339.parse(text) != nil else {
        throw .invalid(path, "Expected a point in time such as \"2026-01-31T09:30:00Z\".")
      }
    case (.oneOf(let names), .string(let text)):
      guard names.contains(text) else { throw .invalid(path, "Expected one of \(names.joined(separator: ", ")).") }
    case (.list(let schema), .array(let elements)):
      var checked: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        checked.append(try schema.checked(element, at: "\(path)[\(index)]"))
      }
      return .array(checked)
    case (.strings, .object(let object)):
      for member in object.members where member.value.string == nil {
        throw .invalid("\(path).\(member.name)", "Values must be strings.")
      }
    case (.fields, .object(let object)): return .object(try checked(object, at: path))
    default: throw .invalid(path, "Expected \(expectation).")
    }
    return value
  }

  /// The deepest nesting of what any JSON object may be: the service has to be able to read again what it stores.
  private static let maximumDepth = 20

  private static func checkContents(
    of value: JSONValue, at path: String, depth: Int
  ) throws(MessagingServiceError) {
    guard depth <= maximumDepth else { throw .invalid(path, "It is nested deeper than \(maximumDepth) levels.") }
    switch value {
    case .array(let elements):
      for element in elements { try checkContents(of: element, at: path, depth: depth + 1) }
    case .object(let object):
      for member in object.members { try checkContents(of: member.value, at: path, depth: depth + 1) }
    case .number(let number):
      guard number.isFinite else { throw .invalid(path, "A number must be finite.") }
    default: break
    }
  }

  private var expectation: String {
    switch self {
    case .string, .oneOf: "a string"
    case .bool: "true or false"
    case .integer: "an integer"
    case .number: "a number"
    case .duration: "a duration such as \"3.5s\""
    case .color: "a color such as \"#1a2b3c\""
    case .timestamp: "a point in time as a string"
    case .list: "an array"
    case .strings: "an object of strings"
    case .anything, .fields: "an object"
    }
  }

  static func seconds(_ text: String) -> Double? {
    guard text.hasSuffix("s"), let value = Double(text.dropLast()), value.isFinite,
      text.dropLast().utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return value
  }

  private static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#") && text.dropFirst().allSatisfy(\.isHexDigit)
  }

  /// `collapseKey` as `collapse_key`.
  private static func snakeCase(_ name: String) -> String {
    guard name.utf8.contains(where: { (65...90).contains($0) }) else { return name }
    return name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
  }

  // MARK: The v1 API

  static let message = MessageSchema.fields([
    "name": .string, "token": .string, "topic": .string, "condition": .string, "fid": .string, "data": .strings,
    "notification": .fields(["title": .string, "body": .string, "image": .string]),
    "android": android, "webpush": webpush, "apns": apns, "fcm_options": .fields(["analytics_label": .string]),
  ])

  private static let maximumTTL = 2_419_200.0

  private static let android = MessageSchema.fields([
    "collapse_key": .string, "priority": .oneOf(["NORMAL", "HIGH", "normal", "high"]),
    "ttl": .duration(maximum: maximumTTL), "restricted_package_name": .string, "data": .strings,
    "notification": androidNotification, "fcm_options": .fields(["analytics_label": .string]), "direct_boot_ok": .bool,
    "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
  ])

  private static let androidNotification = MessageSchema.fields([
    "title": .string, "body": .string, "icon": .string, "color": .color, "sound": .string, "tag": .string,
    "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
    "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .bool,
    "event_time": .timestamp, "local_only": .bool,
    "notification_priority": .oneOf([
      "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
    ]),
    "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
    "vibrate_timings": .list(.duration(maximum: 3600)),
    "visibility": .oneOf(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]), "notification_count": .integer,
    "light_settings": .fields([
      "color": .fields(["red": .number, "green": .number, "blue": .number, "alpha": .number]),
      "light_on_duration": .duration(maximum: 3600), "light_off_duration": .duration(maximum: 3600),
    ]),
    "image": .string, "proxy": .oneOf(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    "bypass_proxy_notification": .bool,
  ])

  private static let webpush = MessageSchema.fields([
    "headers": .strings, "data": .strings, "notification": .anything,
    "fcm_options": .fields(["link": .string, "analytics_label": .string]),
  ])

  private static let apns = MessageSchema.fields([
    "headers": .strings, "payload": .anything, "live_activity_token": .string,
    "fcm_options": .fields(["analytics_label": .string, "image": .string]),
  ])
}
