import VestaConcurrency

// The app of a container, which components ask for, and its end.
extension ComponentContainer {
  /// The app; `nil` after its deletion.
  public var app: VestaApp? { state.withLock { $0.owner } as? VestaApp }

  func attach(_ app: VestaApp) { state.withLock { $0.owner = app } }

  /// Ends all instances, the one created last first; called once.
  func tearDown(_ app: VestaApp) async {
    await gate.close()
    let created = state.withLock { $0.created }
    for slot in created.reversed() {
      await (slot.cachedInstance as? any ComponentLifecycleMaintainer)?.appWillBeDeleted(app)
    }
    forgetAll()
  }
}
