/// The difference between two templates.
public struct TemplateDifference: Sendable, Hashable {
  /// The change of one parameter, condition or group.
  public enum Change<Value: Sendable & Hashable>: Sendable, Hashable {
    /// It is new.
    case added(Value)
    /// It was removed.
    case removed(Value)
    /// It has another value.
    case changed(from: Value, to: Value)
  }

  /// The parameters that changed, by key, including parameters that moved between groups.
  public var parameters: [String: Change<Placed>]

  /// The conditions that changed, by name.
  public var conditions: [String: Change<ConfigCondition>]

  /// Whether conditions that are in both templates have another order.
  public var isConditionOrderChanged: Bool

  /// The descriptions of groups that changed, by the name of the group.
  public var groups: [String: Change<String?>]

  /// A parameter and the group it is in.
  public struct Placed: Sendable, Hashable {
    /// The parameter.
    public var parameter: ConfigParameter
    /// The name of its group; `nil` outside of groups.
    public var group: String?
  }

  /// Whether nothing changed.
  public var isEmpty: Bool { parameters.isEmpty && conditions.isEmpty && groups.isEmpty && !isConditionOrderChanged }

  /// The difference between two templates; their versions are not compared.
  ///
  /// - Parameters:
  ///   - old: The earlier template.
  ///   - new: The later template.
  public init(from old: ConfigTemplate, to new: ConfigTemplate) {
    parameters = Self.changes(from: Self.placed(old), to: Self.placed(new))
    conditions = Self.changes(from: Self.byName(old.conditions), to: Self.byName(new.conditions))
    groups = Self.changes(
      from: old.parameterGroups.mapValues(\.description), to: new.parameterGroups.mapValues(\.description))
    let (oldNames, newNames) = (Set(old.conditions.map(\.name)), Set(new.conditions.map(\.name)))
    isConditionOrderChanged =
      old.conditions.map(\.name).filter(newNames.contains) != new.conditions.map(\.name).filter(oldNames.contains)
  }

  private static func byName(_ conditions: [ConfigCondition]) -> [String: ConfigCondition] {
    Dictionary(conditions.map { ($0.name, $0) }) { first, _ in first }
  }

  private static func placed(_ template: ConfigTemplate) -> [String: Placed] {
    var placed = template.parameters.mapValues { Placed(parameter: $0, group: nil) }
    for (name, group) in template.parameterGroups {
      for (key, parameter) in group.parameters { placed[key] = Placed(parameter: parameter, group: name) }
    }
    return placed
  }

  private static func changes<Value>(from old: [String: Value], to new: [String: Value]) -> [String: Change<Value>] {
    var changes: [String: Change<Value>] = [:]
    for (key, value) in old {
      guard let other = new[key] else { changes[key] = .removed(value); continue }
      if other != value { changes[key] = .changed(from: value, to: other) }
    }
    for (key, value) in new where old[key] == nil { changes[key] = .added(value) }
    return changes
  }
}
