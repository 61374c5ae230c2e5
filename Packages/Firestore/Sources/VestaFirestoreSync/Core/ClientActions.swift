/// The actions that the parts of a client ask for during an event, in order.
///
/// One object for all parts: what a listener is told and what a stream is sent happen in the order in which they were
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
