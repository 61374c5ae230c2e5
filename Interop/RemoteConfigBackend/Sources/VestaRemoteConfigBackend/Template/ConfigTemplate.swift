public import VestaBytes

/// A template: the parameters of a project, and the conditions under which they have other values.
///
/// Conditions are ordered by priority: of the conditions for which a parameter has a value, the first that holds
/// decides. Parameters can be sorted into groups, which changes nothing for the apps.
public struct ConfigTemplate: Sendable, Hashable {
  /// The conditions, the most important first.
  public var conditions: [ConfigCondition]

  /// The parameters outside of groups, by key.
  public var parameters: [String: ConfigParameter]

  /// The groups, by name.
  public var parameterGroups: [String: ConfigParameterGroup]

  /// The version that the service stored the template under; `nil` for one that is not stored.
  public var version: ConfigVersion?

  /// A template.
  ///
  /// - Parameters:
  ///   - conditions: The conditions, the most important first.
  ///   - parameters: The parameters outside of groups, by key.
  ///   - parameterGroups: The groups, by name.
  ///   - version: The record of the template; the service reads its description only.
  public init(
    conditions: [ConfigCondition] = [], parameters: [String: ConfigParameter] = [:],
    parameterGroups: [String: ConfigParameterGroup] = [:], version: ConfigVersion? = nil
  ) {
    self.conditions = conditions
    self.parameters = parameters
    self.parameterGroups = parameterGroups
    self.version = version
  }

  /// The parameters inside and outside of groups, by key.
  public var allParameters: [String: ConfigParameter] {
    parameterGroups.values.reduce(into: parameters) { all, group in
      all.merge(group.parameters) { outside, _ in outside }
    }
  }
}

/// A condition.
public struct ConfigCondition: Sendable, Hashable {
  /// The name by which parameters refer to it.
  public var name: String

  /// The expression, such as `device.os == 'ios' && percent <= 10`; empty for a structured condition.
  public var expression: String

  /// The structured form in a template for servers, such as `{"percent": …}`, as it was written; `nil` for an
  /// expression.
  ///
  /// Server SDKs evaluate it themselves.
  public var structure: JSONObject?

  /// The color of its tag in the console, such as `BLUE`.
  public var tagColor: String?

  /// The purpose of the condition.
  public var description: String?

  /// A condition.
  public init(name: String, expression: String, tagColor: String? = nil, description: String? = nil) {
    self.name = name
    self.expression = expression
    self.tagColor = tagColor
    self.description = description
  }

  /// A structured condition of a template for servers.
  public init(name: String, structure: JSONObject, tagColor: String? = nil, description: String? = nil) {
    self.init(name: name, expression: "", tagColor: tagColor, description: description)
    self.structure = structure
  }
}

/// A parameter.
public struct ConfigParameter: Sendable, Hashable {
  /// The value when no condition decides; `nil` means none.
  public var defaultValue: ConfigParameterValue?

  /// The values by the name of the condition.
  public var conditionalValues: [String: ConfigParameterValue]

  /// The purpose of the parameter.
  public var description: String?

  /// The type of its values.
  public var valueType: ConfigValueType

  /// A parameter.
  public init(
    defaultValue: ConfigParameterValue? = nil, conditionalValues: [String: ConfigParameterValue] = [:],
    description: String? = nil, valueType: ConfigValueType = .string
  ) {
    self.defaultValue = defaultValue
    self.conditionalValues = conditionalValues
    self.description = description
    self.valueType = valueType
  }
}

/// A value of a parameter.
public enum ConfigParameterValue: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The value itself.
  case value(String)
  /// The app uses its own default.
  case inAppDefault
  /// A share of the instances gets a value that is being rolled out; the others continue with the next condition.
  case rollout(id: String, value: String, percent: Double)
  /// A value that Google's personalization chooses: it is kept, and no instance gets one, but the default value of the
  /// parameter; where that is a personalization too, the app uses its own default.
  case personalization(id: String)

  /// The value itself.
  public init(stringLiteral value: String) { self = .value(value) }
}

/// The type of the values of a parameter.
public enum ConfigValueType: String, Sendable, Hashable, CaseIterable {
  /// Any string.
  case string = "STRING"
  /// `true` or `false`.
  case boolean = "BOOLEAN"
  /// A number.
  case number = "NUMBER"
  /// A JSON value.
  case json = "JSON"
}

/// A group of parameters.
public struct ConfigParameterGroup: Sendable, Hashable {
  /// The purpose of the group.
  public var description: String?

  /// The parameters, by key.
  public var parameters: [String: ConfigParameter]

  /// A group.
  public init(description: String? = nil, parameters: [String: ConfigParameter] = [:]) {
    self.description = description
    self.parameters = parameters
  }
}
