import VestaBytes

/// Reads templates from JSON, and notes down everything that does not fit.
struct TemplateReader {
  private(set) var violations: [TemplateViolation] = []

  mutating func template(_ object: JSONObject) -> ConfigTemplate {
    allow(["conditions", "parameters", "parameterGroups", "version", "etag"], in: object, at: "template")
    var template = ConfigTemplate()
    template.conditions = array(object["conditions"], at: "conditions").enumerated().compactMap { index, value in
      condition(value, at: "conditions[\(index)]")
    }
    template.parameters = parameters(object["parameters"], at: "parameters")
    for member in members(object["parameterGroups"], at: "parameterGroups") {
      let path = "parameterGroups.\(member.name)"
      guard case .object(let group) = member.value else { refuse(path, "Expected an object."); continue }
      allow(["description", "parameters"], in: group, at: path)
      template.parameterGroups[member.name] = ConfigParameterGroup(
        description: string(group["description"], at: "\(path).description"),
        parameters: parameters(group["parameters"], at: "\(path).parameters"))
    }
    switch object["version"] {
    case .object(let object): template.version = version(object, at: "version")
    case nil, .null: break
    default: refuse("version", "Expected an object.")
    }
    return template
  }

  private mutating func condition(_ value: JSONValue, at path: String) -> ConfigCondition? {
    guard case .object(let object) = value else { refuse(path, "Expected an object."); return nil }
    allow(["name", "expression", "condition", "tagColor", "description"], in: object, at: path)
    let structure = structure(object["condition"], at: "\(path).condition")
    let expression = string(object["expression"], at: "\(path).expression")
    guard let name = string(object["name"], at: "\(path).name"), (expression == nil) != (structure == nil) else {
      refuse(path, "A condition has a name and an expression, or in a template for servers a condition.")
      return nil
    }
    var condition = ConfigCondition(
      name: name, expression: expression ?? "", tagColor: string(object["tagColor"], at: "\(path).tagColor"),
      description: string(object["description"], at: "\(path).description"))
    condition.structure = structure
    return condition
  }

  private mutating func structure(_ value: JSONValue?, at path: String) -> JSONObject? {
    switch value {
    case nil, .null: return nil
    case .object(let object): return object
    default: refuse(path, "Expected an object."); return nil
    }
  }

  private mutating func parameters(_ value: JSONValue?, at path: String) -> [String: ConfigParameter] {
    var parameters: [String: ConfigParameter] = [:]
    for member in members(value, at: path) {
      parameters[member.name] = parameter(member.value, at: "\(path).\(member.name)")
    }
    return parameters
  }

  private mutating func parameter(_ value: JSONValue, at path: String) -> ConfigParameter? {
    guard case .object(let object) = value else { refuse(path, "Expected an object."); return nil }
    allow(["defaultValue", "conditionalValues", "description", "valueType"], in: object, at: path)
    var parameter = ConfigParameter()
    if let value = object["defaultValue"], value != .null {
      parameter.defaultValue = self.value(value, at: "\(path).defaultValue")
    }
    for member in members(object["conditionalValues"], at: "\(path).conditionalValues") {
      let place = "\(path).conditionalValues.\(member.name)"
      parameter.conditionalValues[member.name] = self.value(member.value, at: place)
    }
    parameter.description = string(object["description"], at: "\(path).description")
    guard let type = string(object["valueType"], at: "\(path).valueType") else { return parameter }
    if let valueType = ConfigValueType(rawValue: type) {
      parameter.valueType = valueType
    } else if type != "PARAMETER_VALUE_TYPE_UNSPECIFIED" {
      refuse("\(path).valueType", "\"\(type)\" is not one of STRING, BOOLEAN, NUMBER and JSON.")
    }
    return parameter
  }

  private mutating func value(_ value: JSONValue, at path: String) -> ConfigParameterValue? {
    guard case .object(let object) = value else { refuse(path, "Expected an object."); return nil }
    guard object.count == 1, let member = object.members.first else {
      refuse(path, "Expected one of value, useInAppDefault, rolloutValue and personalizationValue.")
      return nil
    }
    switch (member.name, member.value) {
    case ("value", .string(let text)): return .value(text)
    case ("useInAppDefault", .bool(true)): return .inAppDefault
    case ("rolloutValue", .object(let rollout)): return self.rollout(rollout, at: "\(path).rolloutValue")
    case ("personalizationValue", .object(let object)):
      return string(object["personalizationId"], at: "\(path).personalizationValue.personalizationId").map {
        .personalization(id: $0)
      }
    case ("value", _): refuse(path, "Expected a string: every value is written as one, such as \"true\" or \"5\".")
    default: refuse(path, "Expected one of value, useInAppDefault, rolloutValue and personalizationValue.")
    }
    return nil
  }

  private mutating func rollout(_ object: JSONObject, at path: String) -> ConfigParameterValue? {
    let percent: Double? =
      switch object["percent"] {
      case .integer(let value): Double(value)
      case .number(let value): value
      default: nil
      }
    guard let id = string(object["rolloutId"], at: "\(path).rolloutId"),
      let value = string(object["value"], at: "\(path).value"), let percent
    else {
      refuse(path, "A rollout has rolloutId, value and percent.")
      return nil
    }
    return .rollout(id: id, value: value, percent: percent)
  }

  mutating func version(_ object: JSONObject, at path: String) -> ConfigVersion {
    var version = ConfigVersion()
    version.versionNumber = integer(object["versionNumber"], at: "\(path).versionNumber")
    version.updateTime = string(object["updateTime"], at: "\(path).updateTime").flatMap(RFC3339.microseconds)
    version.updateOrigin = string(object["updateOrigin"], at: "\(path).updateOrigin").flatMap {
      ConfigVersion.Origin(rawValue: $0)
    }
    version.updateType = string(object["updateType"], at: "\(path).updateType").flatMap {
      ConfigVersion.UpdateType(rawValue: $0)
    }
    if case .object(let user) = object["updateUser"] {
      version.updateUser = ConfigVersion.User(
        email: string(user["email"], at: path), name: string(user["name"], at: path),
        imageURL: string(user["imageUrl"], at: path))
    }
    version.description = string(object["description"], at: "\(path).description")
    version.rollbackSource = integer(object["rollbackSource"], at: "\(path).rollbackSource")
    return version
  }

  // MARK: Pieces

  private mutating func refuse(_ path: String, _ message: String) {
    guard violations.count < 1000 else { return }
    violations.append(TemplateViolation(path: path, message: message))
  }

  private mutating func allow(_ names: Set<String>, in object: JSONObject, at path: String) {
    for name in object.names where !names.contains(name) { refuse(path, "There is no member \"\(name)\".") }
  }

  private mutating func array(_ value: JSONValue?, at path: String) -> [JSONValue] {
    switch value {
    case nil, .null: return []
    case .array(let elements): return elements
    default: refuse(path, "Expected an array."); return []
    }
  }

  private mutating func members(_ value: JSONValue?, at path: String) -> [JSONObject.Member] {
    switch value {
    case nil, .null: return []
    case .object(let object): return object.members
    default: refuse(path, "Expected an object."); return []
    }
  }

  private mutating func string(_ value: JSONValue?, at path: String) -> String? {
    switch value {
    case nil, .null: return nil
    case .string(let text): return text
    default: refuse(path, "Expected a string."); return nil
    }
  }

  private mutating func integer(_ value: JSONValue?, at path: String) -> Int64? {
    switch value {
    case nil, .null: return nil
    case .integer(let number): return number
    case .string(let text) where Int64(text) != nil: return Int64(text)
    default: refuse(path, "Expected an integer."); return nil
    }
  }
}
