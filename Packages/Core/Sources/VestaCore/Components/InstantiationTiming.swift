/// The time at which a component's instance is created.
public enum InstantiationTiming: Int, Sendable {
  /// When it is first asked for.
  case lazy = 0

  /// While any app is being configured.
  case alwaysEager = 1

  /// While the default app is being configured; in other apps when it is first asked for.
  case eagerInDefaultApp = 2
}
