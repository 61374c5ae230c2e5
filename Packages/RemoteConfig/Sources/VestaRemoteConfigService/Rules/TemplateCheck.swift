import VestaBytes
import VestaRemoteConfigBackend
import VestaStoreInterop

/// The rules that a template keeps before it is published.
enum TemplateCheck {
  static let tagColors: Set<String> = [
    "CONDITION_DISPLAY_COLOR_UNSPECIFIED", "BLUE", "BROWN", "CYAN", "DEEP_ORANGE", "GREEN", "INDIGO", "LIME", "ORANGE",
    "PINK", "PURPLE", "TEAL",
  ]

  /// Returns all violations in a template; none for one that can be published.
  static func violations(
    in template: ConfigTemplate, namespace: String = "firebase",
    _ tuning: RemoteConfigServiceTuning = RemoteConfigServiceTuning()
  ) -> [TemplateViolation] {
    var check = Checker(template: template, isForServers: namespace == ConfigNamespace.servers, tuning: tuning)
    check.conditions()
    check.groups()
    check.parameters()
    check.version()
    if check.violations.isEmpty { check.size() }
    return check.violations
  }

  /// Returns all violations in the description of a publisher.
  static func violations(
    in user: ConfigVersion.User?, _ tuning: RemoteConfigServiceTuning = RemoteConfigServiceTuning()
  ) -> [TemplateViolation] {
    [("email", user?.email), ("name", user?.name), ("imageUrl", user?.imageURL)].compactMap { name, text in
      guard let text, text.utf16.count > tuning.maximumVersionTextLength else { return nil }
      return TemplateViolation(
        path: "version.updateUser.\(name)", message: "A text has at most \(tuning.maximumVersionTextLength) characters."
      )
    }
  }

  /// The parsed conditions of a template, in its order; a structured one, which servers evaluate, holds for no client.
  ///
  /// - Throws: ``RemoteConfigServiceError`` with the violations, when expressions cannot be parsed.
  static func conditions(of template: ConfigTemplate) throws(RemoteConfigServiceError) -> [ConditionExpression] {
    var expressions: [ConditionExpression] = []
    var violations: [TemplateViolation] = []
    for (index, condition) in template.conditions.enumerated() {
      guard condition.structure == nil else {
        expressions.append(ConditionExpression(tests: [.constant(false)]))
        continue
      }
      do {
        expressions.append(try ConditionParser.parse(condition.expression, .stored))
      } catch {
        violations.append(violation(error, in: condition.expression, at: index))
      }
    }
    guard violations.isEmpty else { throw .invalidTemplate(violations) }
    return expressions
  }

  private static func violation(
    _ error: ConditionSyntaxError, in expression: String, at index: Int
  ) -> TemplateViolation {
    TemplateViolation(
      path: "conditions[\(index)].expression", column: error.column(in: expression), message: error.message)
  }

  private struct Checker {
    let template: ConfigTemplate
    let isForServers: Bool
    let tuning: RemoteConfigServiceTuning
    var violations: [TemplateViolation] = []
    var conditionNames: Set<String> = []
    var totalLength = 0
    /// The most work of the conditions so far, for one instance.
    var work = 0

    mutating func refuse(_ path: String, _ message: String) {
      violations.append(TemplateViolation(path: path, message: message))
    }

    mutating func conditions() {
      if template.conditions.count > tuning.maximumConditions {
        refuse(
          "conditions",
          "There are \(template.conditions.count) conditions; at most \(tuning.maximumConditions) are allowed.")
      }
      for (index, condition) in template.conditions.enumerated() {
        let path = "conditions[\(index)]"
        checkNames(of: condition, at: path)
        describe(condition.description, at: path)
        if condition.structure == nil {
          parse(condition.expression, at: index)
        } else if !isForServers {
          refuse("\(path).condition", "Only templates in the namespace \(ConfigNamespace.servers) have it.")
        }
      }
    }

    /// Parses an expression, unless those before it are too much work already.
    private mutating func parse(_ text: String, at index: Int) {
      guard work <= tuning.maximumWork else { return }
      do {
        let expression = try ConditionParser.parse(text, tuning.patterns)
        work += ConditionWork.units(of: expression, longest: InstanceCheck.maximumValueLength)
      } catch {
        violations.append(violation(error, in: text, at: index))
      }
      if work > tuning.maximumWork { refuseWork(at: "conditions[\(index)]") }
    }

    private mutating func checkNames(of condition: ConfigCondition, at path: String) {
      if condition.name.isEmpty || condition.name.utf16.count > tuning.maximumConditionNameLength {
        refuse("\(path).name", "A name has 1 to \(tuning.maximumConditionNameLength) characters.")
      }
      if !conditionNames.insert(condition.name).inserted {
        refuse("\(path).name", "There are two conditions with the name \"\(condition.name)\".")
      }
      if let color = condition.tagColor, !tagColors.contains(color) {
        refuse("\(path).tagColor", "\"\(color)\" is not a color of tags, such as BLUE.")
      }
    }

    private mutating func refuseWork(at path: String) {
      refuse(
        "\(path).expression",
        "The conditions up to this one are too much work for a fetch. Use fewer or shorter regular expressions.")
    }

    mutating func groups() {
      if template.parameterGroups.count > tuning.maximumGroups {
        refuse("parameterGroups", "There are more than \(tuning.maximumGroups) groups.")
      }
      for (name, group) in template.parameterGroups.sorted(by: { $0.key < $1.key }) {
        let path = "parameterGroups.\(name)"
        if name.isEmpty || name.utf16.count > tuning.maximumKeyLength {
          refuse(path, "The name of a group has 1 to \(tuning.maximumKeyLength) characters.")
        }
        describe(group.description, at: path)
      }
    }

    mutating func parameters() {
      var places: [String: String] = [:]
      var count = 0
      for (path, parameters) in allPlaces() {
        for (key, parameter) in parameters.sorted(by: { $0.key < $1.key }) {
          count += 1
          if let other = places.updateValue(path, forKey: key) {
            refuse("\(path).\(key)", "There is a parameter with the key \"\(key)\" in \(other) too.")
          }
          check(key: key, at: "\(path).\(key)")
          check(parameter, at: "\(path).\(key)")
        }
      }
      checkTotals(ofParameters: count)
    }

    private mutating func checkTotals(ofParameters count: Int) {
      if count > tuning.maximumParameters {
        refuse("parameters", "There are \(count) parameters; at most \(tuning.maximumParameters) are allowed.")
      }
      if totalLength > tuning.maximumValueLength {
        refuse(
          "parameters", "All values together have \(totalLength) characters; \(tuning.maximumValueLength) are allowed.")
      }
    }

    mutating func version() {
      guard let text = template.version?.description, text.utf16.count > tuning.maximumVersionTextLength else { return }
      refuse("version.description", "A description has at most \(tuning.maximumVersionTextLength) characters.")
    }

    mutating func size() {
      let size = template.json.count
      guard size > tuning.maximumSize else { return }
      refuse("template", "The template has \(size) bytes in JSON; \(tuning.maximumSize) are allowed.")
    }

    private func allPlaces() -> [(String, [String: ConfigParameter])] {
      [("parameters", template.parameters)]
        + template.parameterGroups.sorted { $0.key < $1.key }.map {
          ("parameterGroups.\($0).parameters", $1.parameters)
        }
    }

    private mutating func check(key: String, at path: String) {
      let isWord = key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
      let beginsWithDigit = key.utf8.first.map { (48...57).contains($0) } ?? true
      guard isWord, !beginsWithDigit, key.utf8.count <= tuning.maximumKeyLength else {
        return refuse(
          path,
          "A key has 1 to \(tuning.maximumKeyLength) letters, digits and underscores, and does not begin with a digit.")
      }
    }

    private mutating func check(_ parameter: ConfigParameter, at path: String) {
      describe(parameter.description, at: path)
      if let value = parameter.defaultValue { check(value, parameter.valueType, at: "\(path).defaultValue") }
      for (name, value) in parameter.conditionalValues.sorted(by: { $0.key < $1.key }) {
        if !conditionNames.contains(name) {
          refuse("\(path).conditionalValues", "There is no condition with the name \"\(name)\".")
        }
        check(value, parameter.valueType, at: "\(path).conditionalValues.\(name)")
      }
    }

    private mutating func check(_ value: ConfigParameterValue, _ type: ConfigValueType, at path: String) {
      switch value {
      case .inAppDefault: break
      case .personalization(let id):
        if id.isEmpty { refuse(path, "The id of a personalization is not empty.") }
      case .value(let text): check(text, type, at: path)
      case .rollout(let id, let text, let percent):
        if id.isEmpty { refuse(path, "The id of a rollout is not empty.") }
        if !(percent >= 0 && percent <= 100) { refuse(path, "The percentage of a rollout is between 0 and 100.") }
        check(text, type, at: path)
      }
    }

    private mutating func check(_ text: String, _ type: ConfigValueType, at path: String) {
      totalLength += text.utf16.count
      switch type {
      case .string: break
      case .boolean: if text != "true" && text != "false" { refuse(path, "A BOOLEAN is \"true\" or \"false\".") }
      case .number:
        if !(Double(text).map(\.isFinite) ?? false) { refuse(path, "\"\(text.prefix(40))\" is not a NUMBER.") }
      case .json:
        do {
          _ = try JSONValue(json: text, limits: JSONLimits(maximumDepth: 100))
        } catch {
          refuse(path, "This is not JSON: \(error)")
        }
      }
    }

    private mutating func describe(_ description: String?, at path: String) {
      if let description, description.utf16.count > tuning.maximumDescriptionLength {
        refuse("\(path).description", "A description has at most \(tuning.maximumDescriptionLength) characters.")
      }
    }
  }
}
