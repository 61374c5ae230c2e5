extension DatabaseReference {
  /// Completion form of ``onDisconnectSetValue(_:)->_``, without a completion.
  public func onDisconnectSetValue(_ value: Any?) {
    onDisconnectSet(value, priority: nil, "onDisconnectSetValue:") { _ in }
  }

  /// Completion form of ``onDisconnectSetValue(_:)->_``.
  @preconcurrency
  public func onDisconnectSetValue(
    _ value: Any?, withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnectSet(value, priority: nil, "onDisconnectSetValue:withCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``onDisconnectSetValue(_:andPriority:)->_``, without a completion.
  public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any) {
    onDisconnectSet(value, priority: priority, "onDisconnectSetValue:andPriority:") { _ in }
  }

  /// Completion form of ``onDisconnectSetValue(_:andPriority:)->_``.
  @preconcurrency
  public func onDisconnectSetValue(
    _ value: Any?, andPriority priority: Any?,
    withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnectSet(value, priority: priority, "onDisconnectSetValue:andPriority:withCompletionBlock:") {
      block($0, self)
    }
  }

  /// Completion form of ``onDisconnectRemoveValue()->_``, without a completion.
  public func onDisconnectRemoveValue() { onDisconnectSet(nil, priority: nil, "onDisconnectRemoveValue:") { _ in } }

  /// Completion form of ``onDisconnectRemoveValue()->_``.
  @preconcurrency
  public func onDisconnectRemoveValue(
    completionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnectSet(nil, priority: nil, "onDisconnectRemoveValueWithCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``onDisconnectUpdateChildValues(_:)->_``, without a completion.
  public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) {
    onDisconnectUpdate(values, "onDisconnectUpdateChildValues:") { _ in }
  }

  /// Completion form of ``onDisconnectUpdateChildValues(_:)->_``.
  @preconcurrency
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: @escaping @Sendable ((any Error)?, DatabaseReference) -> Void
  ) {
    onDisconnectUpdate(values, "onDisconnectUpdateChildValues:withCompletionBlock:") { block($0, self) }
  }

  /// Completion form of ``cancelDisconnectOperations()->_``, without a completion.
  public func cancelDisconnectOperations() { onDisconnectCancel { _ in } }

  /// Completion form of ``cancelDisconnectOperations()->_``.
  @preconcurrency
  public func cancelDisconnectOperations(
    completionBlock block: (@Sendable ((any Error)?, DatabaseReference) -> Void)?
  ) {
    onDisconnectCancel { block?($0, self) }
  }
}
