/// The actions that the parts of a client ask for during an event, in order.
///
/// One object for all parts: calls of listeners and messages of streams happen in the order in which they were
/// asked for, whichever part has asked.
final class ClientActions {
  private var list: [ClientAction] = []

  init() {}

  func emit(_ action: ClientAction) { list.append(action) }

  func emit(_ events: [EventMachine.Event]) { for event in events { list.append(.event(event)) } }

  /// Takes the actions since the last call.
  func take() -> [ClientAction] {
    defer { list = [] }
    return list
  }
}
