import VestaBytes

extension ConfigTemplate {
  /// Reads a template in the JSON format of Firebase's REST API and tools.
  ///
  /// - Parameter json: UTF-8.
  /// - Throws: ``RemoteConfigServiceError`` with `invalidArgument`; each violation has the path to what does not fit.
  public init(json: [UInt8]) throws(RemoteConfigServiceError) {
    let object: JSONObject
    do {
      object = try JSONObject(json: json, limits: JSONLimits(maximumDepth: 64, maximumSize: 1 << 24))
    } catch {
      throw .invalidTemplate([TemplateViolation(path: "template", message: "\(error)")])
    }
    var reader = TemplateReader()
    self = reader.template(object)
    guard reader.violations.isEmpty else { throw .invalidTemplate(reader.violations) }
  }

  /// The template in the JSON format of Firebase's REST API and tools; members are ordered by name.
  public var json: [UInt8] {
    // Only a number that is not finite cannot be written, and a template that has one is refused before.
    (try? jsonObject.json()) ?? Array("{}".utf8)
  }

  var jsonObject: JSONObject {
    var object = JSONObject()
    if !conditions.isEmpty { object["conditions"] = .array(conditions.map { .object($0.jsonObject) }) }
    if !parameters.isEmpty { object["parameters"] = .object(Self.jsonObject(parameters)) }
    if !parameterGroups.isEmpty {
      var groups = JSONObject()
      for (name, group) in parameterGroups.sorted(by: { $0.key < $1.key }) { groups[name] = .object(group.jsonObject) }
      object["parameterGroups"] = .object(groups)
    }
    if let version { object["version"] = .object(version.jsonObject) }
    return object
  }

  fileprivate static func jsonObject(_ parameters: [String: ConfigParameter]) -> JSONObject {
    var object = JSONObject()
    for (key, parameter) in parameters.sorted(by: { $0.key < $1.key }) { object[key] = .object(parameter.jsonObject) }
    return object
  }
}

extension ConfigCondition {
  fileprivate var jsonObject: JSONObject {
    var object = JSONObject()
    object["name"] = .string(name)
    if let structure { object["condition"] = .object(structure) } else { object["expression"] = .string(expression) }
    object["tagColor"] = tagColor.map(JSONValue.string)
    object["description"] = description.map(JSONValue.string)
    return object
  }
}

extension ConfigParameter {
  fileprivate var jsonObject: JSONObject {
    var object = JSONObject()
    object["defaultValue"] = (defaultValue?.jsonObject).map(JSONValue.object)
    if !conditionalValues.isEmpty {
      var values = JSONObject()
      for (name, value) in conditionalValues.sorted(by: { $0.key < $1.key }) {
        values[name] = .object(value.jsonObject)
      }
      object["conditionalValues"] = .object(values)
    }
    object["description"] = description.map(JSONValue.string)
    object["valueType"] = .string(valueType.rawValue)
    return object
  }
}

extension ConfigParameterValue {
  fileprivate var jsonObject: JSONObject {
    var object = JSONObject()
    switch self {
    case .value(let text): object["value"] = .string(text)
    case .inAppDefault: object["useInAppDefault"] = .bool(true)
    case .rollout(let id, let value, let percent):
      var rollout = JSONObject()
      rollout["rolloutId"] = .string(id)
      rollout["value"] = .string(value)
      rollout["percent"] = .number(percent)
      object["rolloutValue"] = .object(rollout)
    case .personalization(let id):
      var personalization = JSONObject()
      personalization["personalizationId"] = .string(id)
      object["personalizationValue"] = .object(personalization)
    }
    return object
  }
}

extension ConfigParameterGroup {
  fileprivate var jsonObject: JSONObject {
    var object = JSONObject()
    object["description"] = description.map(JSONValue.string)
    object["parameters"] = .object(ConfigTemplate.jsonObject(parameters))
    return object
  }
}

extension ConfigVersion {
  var jsonObject: JSONObject {
    var object = JSONObject()
    object["versionNumber"] = versionNumber.map { .string("\($0)") }
    object["updateTime"] = updateTime.map { .string(RFC3339.text(microseconds: $0, digits: 6)) }
    object["updateOrigin"] = updateOrigin.map { .string($0.rawValue) }
    object["updateType"] = updateType.map { .string($0.rawValue) }
    if let updateUser {
      var user = JSONObject()
      user["email"] = updateUser.email.map(JSONValue.string)
      user["name"] = updateUser.name.map(JSONValue.string)
      user["imageUrl"] = updateUser.imageURL.map(JSONValue.string)
      object["updateUser"] = .object(user)
    }
    object["description"] = description.map(JSONValue.string)
    object["rollbackSource"] = rollbackSource.map { .string("\($0)") }
    return object
  }

  /// Reads the JSON of one version, as a template contains it.
  ///
  /// - Parameter json: UTF-8.
  /// - Throws: ``RemoteConfigServiceError`` with `invalidArgument`.
  public init(json: [UInt8]) throws(RemoteConfigServiceError) {
    guard let object = try? JSONObject(json: json) else {
      throw .invalidTemplate([TemplateViolation(path: "version", message: "This is not a JSON object.")])
    }
    var reader = TemplateReader()
    self = reader.version(object, at: "version")
    guard reader.violations.isEmpty else { throw .invalidTemplate(reader.violations) }
  }

  /// The version as JSON, as a template contains it.
  public var json: [UInt8] { (try? jsonObject.json()) ?? Array("{}".utf8) }
}
