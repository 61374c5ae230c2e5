extension DatabaseReference {
  /// Completion form of ``setValue(_:)->_``, without a completion.
  public func setValue(_ value: Any?) { set(value, priority: nil, "setValue:") { _ in } }

  /// Completion form of ``setValue(_:)->_``.
  @preconcurrency
  public func setValue(
    _ value: Any?, withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    set(value, priority: nil, "setValue:withCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``setValue(_:andPriority:)->_``, without a completion.
  public func setValue(_ value: Any?, andPriority priority: Any?) {
    set(value, priority: priority, "setValue:andPriority:") { _ in }
  }

  /// Completion form of ``setValue(_:andPriority:)->_``.
  @preconcurrency
  public func setValue(
    _ value: Any?, andPriority priority: Any?,
    withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    set(value, priority: priority, "setValue:andPriority:withCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``removeValue()->_``, without a completion.
  public func removeValue() { set(nil, priority: nil, "removeValue:") { _ in } }

  /// Completion form of ``removeValue()->_``.
  @preconcurrency
  public func removeValue(completionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void) {
    set(nil, priority: nil, "removeValueWithCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``setPriority(_:)->_``, without a completion.
  public func setPriority(_ priority: Any?) { setPriority(priority, "setPriority:") { _ in } }

  /// Completion form of ``setPriority(_:)->_``.
  @preconcurrency
  public func setPriority(
    _ priority: Any?, withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    setPriority(priority, "setPriority:withCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``updateChildValues(_:)->_``, without a completion.
  public func updateChildValues(_ values: [AnyHashable: Any]) { update(values, "updateChildValues:") { _ in } }

  /// Completion form of ``updateChildValues(_:)->_``.
  @preconcurrency
  public func updateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    update(values, "updateChildValues:withCompletionBlock:") { block($0, self) }
  }
}
